"""The bundles used where none is named, and the identities they must have.

The English text bundle ships inside this package. All others lie in a checkout of the repository, in ``artifacts``.
"""

from pathlib import Path

from textveil.errors import BundleNotFound

DEFAULT_BUNDLE = Path(__file__).parent / "builtin" / "english-v4"
DEFAULT_BUNDLE_ID = "4d0d8215e5ca0bca130ef5cf7ad4701d97f404dc25f59d0f8b12fd5fff6271bd"
DEFAULT_ENCODER = "ag-static"
DEFAULT_ENCODER_ID = "682b3e1cc9ae6cd73e354197d85834ddf9834f253e343003788192fa1d3d4803"
_PLACE = ("runtime", "src", "textveil", "bundle")


def artifact(name: str) -> Path:
    """Returns the folder of a bundle of the repository.

    Raises:
        BundleNotFound: This package was installed without the repository around it.
    """
    here = Path(__file__).resolve().parent
    repository = here.parents[len(_PLACE) - 1] if here.parts[-len(_PLACE) :] == _PLACE else here
    path = repository / "artifacts" / name
    if not path.is_dir():
        raise BundleNotFound(
            f"{name} is not part of this package: install from a clone (pip install -e ./runtime), or give the folder "
            f"of a bundle (--bundle; the repository has artifacts/{name})"
        )
    return path


def default_encoder() -> Path:
    """Returns the folder of the default encoder; ``BundleNotFound`` where there is no repository."""
    return artifact(DEFAULT_ENCODER)
