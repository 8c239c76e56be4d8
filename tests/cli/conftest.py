"""What tests of the command share."""

from pathlib import Path

import pytest
from small_staircase import small_staircase


@pytest.fixture(scope="session")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a small bundle with a staircase alone."""
    return small_staircase(tmp_path_factory.mktemp("small"))
