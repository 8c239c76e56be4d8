"""The README of benchmarks/ lists every command in it."""

from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
COMMANDS = sorted(
    str(path.relative_to(BENCHMARKS)) for path in BENCHMARKS.rglob("*.py") if "__main__" in path.read_text("utf-8")
)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_has_a_line(command: str) -> None:
    assert f"`{command}" in (BENCHMARKS / "README.md").read_text("utf-8")
