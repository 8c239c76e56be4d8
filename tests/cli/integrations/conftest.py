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
    """Run a script of the examples in an empty folder that is also its home; return its output."""

    def run(name: str) -> str:
        home = {**os.environ, "HOME": str(tmp_path), "HF_HOME": str(tmp_path / "hf")}
        return printed(ROOT / "examples" / name, cwd=tmp_path, env=home)

    return run


@pytest.fixture
def tracer() -> Any:
    """Return a LangChain handler like that of a tracing service."""
    from tracers import Tracer

    return Tracer()
