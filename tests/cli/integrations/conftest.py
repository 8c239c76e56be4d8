"""What the tests of integrations share: the example of each runs, and somebody who traces."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[3]


@pytest.fixture
def example(tmp_path: Path) -> Callable[[str], str]:
    """Runs a script of the examples in an empty folder that is its home too; gives what it printed."""

    def run(name: str) -> str:
        done = subprocess.run(
            [sys.executable, "-B", ROOT / "examples" / name],
            cwd=tmp_path,
            env={**os.environ, "HOME": str(tmp_path), "HF_HOME": str(tmp_path / "hf")},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


@pytest.fixture
def tracer() -> Any:
    """A handler of LangChain, as a tracing service has one."""
    from tracers import Tracer

    return Tracer()
