"""The bundles used where none is named, and the identities they must have.

The English text bundle ships inside this package. No package carries an encoder: the default one lies in a checkout of
the repository.
"""

from pathlib import Path

from textveil.errors import BundleNotFound

DEFAULT_BUNDLE = Path(__file__).parent / "builtin" / "english-v3"
DEFAULT_BUNDLE_ID = "ab476a7baceb6bcaa5835d8f08936cade5ed0c0fcd172db189c01f0f9c2979fe"
DEFAULT_ENCODER = "ag-topics-v1"
DEFAULT_ENCODER_ID = "cd872b6529c6b9c188a33afc8535486f8cda4715084614eb82fcc4a6f9343efc"
_PLACE = ("runtime", "src", "textveil", "bundle")


def default_encoder() -> Path:
    """Returns the folder of the default encoder.

    Raises:
        BundleNotFound: This package was installed without the repository around it.
    """
    here = Path(__file__).resolve().parent
    repository = here.parents[len(_PLACE) - 1] if here.parts[-len(_PLACE) :] == _PLACE else here
    path = repository / "artifacts" / DEFAULT_ENCODER
    if not path.is_dir():
        raise BundleNotFound(
            "encoders are not part of this package: give the folder of one "
            f"(--bundle; the repository has artifacts/{DEFAULT_ENCODER})"
        )
    return path
