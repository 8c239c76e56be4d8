"""What tests of the command share."""

from collections.abc import Callable
from pathlib import Path

import pytest
from small_index import write_index
from small_staircase import small_staircase


@pytest.fixture(scope="session")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a small bundle with a staircase alone."""
    return small_staircase(tmp_path_factory.mktemp("small"))


@pytest.fixture
def index_bundle(tmp_path: Path) -> Path:
    """The folder of a small bundle of indices."""
    return write_index(tmp_path / "bundle")


@pytest.fixture
def run(here: Callable) -> Callable[..., tuple[int, str, str]]:
    """Runs ``textveil``; gives exit code, standard output and standard error."""

    def start(*arguments: object) -> tuple[int, str, str]:
        ran = here(*map(str, arguments))
        return ran.code, ran.out.decode(), ran.err.decode()

    return start
