"""Default bundles (folders with word lists, tables or a model) and their expected content hashes.

This package contains the English text bundle. All other bundles are in ``artifacts`` of a clone of the repository.
"""

from pathlib import Path

from textveil.errors import BundleNotFound

DEFAULT_BUNDLE = Path(__file__).parent / "builtin" / "english-v4"
DEFAULT_BUNDLE_ID = "3035258fdf182fdff2fe9f9af9ab71c7daebe004280554246aae6d28ce509010"
DEFAULT_ENCODER = "ag-static"
DEFAULT_ENCODER_ID = "fc94e8ad9143461a58e5ae291f24e812f7f6f70220ff72e8f6fba4acbbdcf5ad"
_PACKAGE_PARTS = ("runtime", "src", "textveil", "bundle")


def find_artifact(name: str) -> Path:
    """Return a bundle (folder with word lists, tables or a model) of the repository by its name.

    Args:
        name: Name of the folder in ``artifacts``.

    Raises:
        BundleNotFound: The package is installed without the repository, or the repository lacks this bundle.

    Example:
        >>> find_artifact("ag-static").name
        'ag-static'
    """
    here = Path(__file__).resolve().parent
    repository = here.parents[len(_PACKAGE_PARTS) - 1] if here.parts[-len(_PACKAGE_PARTS) :] == _PACKAGE_PARTS else here
    path = repository / "artifacts" / name
    if not path.is_dir():
        raise BundleNotFound(
            f"{name} is not part of this package: install from a clone (pip install -e ./runtime), or give the folder "
            f"of a bundle (--bundle; the repository has artifacts/{name})"
        )
    return path


def find_default_encoder() -> Path:
    """Return the folder of the default encoder (model for noisy vectors of texts) in the repository.

    Raises:
        BundleNotFound: The package is installed without the repository.
    """
    return find_artifact(DEFAULT_ENCODER)
