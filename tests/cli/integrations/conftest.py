"""What the tests of integrations share: the example of each runs, and somebody who traces."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from processes import printed

ROOT = Path(__file__).parents[3]


@pytest.fixture
def example(tmp_path: Path) -> Callable[[str], str]:
    """Runs a script of the examples in an empty folder that is its home too; gives what it printed."""

    def run(name: str) -> str:
        home = {**os.environ, "HOME": str(tmp_path), "HF_HOME": str(tmp_path / "hf")}
        return printed(ROOT / "examples" / name, cwd=tmp_path, env=home)

    return run


@pytest.fixture
def tracer() -> Any:
    """A handler of LangChain, as a tracing service has one."""
    from tracers import Tracer

    return Tracer()
