"""Where the default encoder is: beside this code in a checkout of the repository. No package carries it."""

from pathlib import Path

from textveil.errors import BundleNotFound

DEFAULT_ENCODER = "ag-topics-v1"


def default_encoder() -> Path:
    """The folder of the default encoder.

    Raises:
        BundleNotFound: This package was installed without the repository around it.
    """
    folders = Path(__file__).resolve().parents
    path = folders[min(3, len(folders) - 1)] / "artifacts" / DEFAULT_ENCODER
    if not path.is_dir():
        raise BundleNotFound(
            "encoders are not part of this package: give the folder of one "
            f"(--bundle; the repository has artifacts/{DEFAULT_ENCODER})"
        )
    return path
