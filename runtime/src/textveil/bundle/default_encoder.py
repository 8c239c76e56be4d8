"""Where the default encoder is: beside this code in a checkout of the repository, and the identity it must have.

No package carries it.
"""

from pathlib import Path

from textveil.errors import BundleNotFound

DEFAULT_ENCODER = "ag-topics-v1"
DEFAULT_IDENTITY = "cd872b6529c6b9c188a33afc8535486f8cda4715084614eb82fcc4a6f9343efc"
_PLACE = ("runtime", "src", "textveil")


def default_encoder() -> Path:
    """The folder of the default encoder.

    Raises:
        BundleNotFound: This package was installed without the repository around it.
    """
    here = Path(__file__).resolve().parent
    repository = here.parents[2] if here.parts[-3:] == _PLACE else here
    path = repository / "artifacts" / DEFAULT_ENCODER
    if not path.is_dir():
        raise BundleNotFound(
            "encoders are not part of this package: give the folder of one "
            f"(--bundle; the repository has artifacts/{DEFAULT_ENCODER})"
        )
    return path
