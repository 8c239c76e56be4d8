"""The bundles used where none is named, and the identities they must have.

The English text bundle ships inside this package. No package carries an encoder: the default one lies in a checkout of
the repository.
"""

from pathlib import Path

from textveil.errors import BundleNotFound

DEFAULT_BUNDLE = Path(__file__).parent / "builtin" / "english-v3"
DEFAULT_BUNDLE_ID = "a868bb24803a6b2bcdb9e7a044484bf5ebd64046221a8eb0e4ebc5c09ee3b4eb"
DEFAULT_ENCODER = "ag-static"
DEFAULT_ENCODER_ID = "b4df594a0688de707e94b377438ebd145436833a16953c530d0dd7aaab0bafdd"
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
