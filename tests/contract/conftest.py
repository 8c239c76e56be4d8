"""Makes the second reader importable, and gives it the classes of characters."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(scope="session", autouse=True)
def characters() -> None:
    """Open a bundle first: the second reader uses the character classes opened last, which all bundles share."""
    import reference_reader

    reference_reader.open_bundle(Path(__file__).parents[2] / "docs" / "golden" / "words")
