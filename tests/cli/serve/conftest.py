"""The command in a copy of this process."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from forked import run_forked


@dataclass(frozen=True)
class Ran:
    """What a command did."""

    code: int
    message: str


@pytest.fixture
def forked(tmp_path: Path) -> Callable[..., Ran]:
    """Runs the command line in a copy of this process, in an empty folder."""

    def start(*arguments: str) -> Ran:
        done = run_forked(list(arguments), cwd=tmp_path)
        return Ran(done.returncode, done.stderr.decode())

    return start
