"""The message for a Python package that is missing or damaged. This module imports no package."""

#: Start of the names of this project's own modules: an import error in them is a fault of textveil.
_OWN_PREFIX = "textveil"


def describe_missing_package(error: ImportError) -> str | None:
    """Return what the user can do about a package that cannot be imported.

    Args:
        error: The error of the import.

    Returns:
        The message; ``None`` if the error does not name a package, or names a module of textveil.
    """
    package = (error.name or "").partition(".")[0]
    if not package or package.startswith(_OWN_PREFIX):
        return None
    return f"the package {package} cannot be imported: pip install --force-reinstall {package}"
