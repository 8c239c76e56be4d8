"""Makes the second reader importable, and gives it the classes of characters."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(scope="session", autouse=True)
def characters() -> None:
    """The second reader cuts text by the classes of the bundle that it opened last: all bundles have the same."""
    import reference_reader

    reference_reader.open_bundle(Path(__file__).parents[2] / "docs" / "golden" / "words")
