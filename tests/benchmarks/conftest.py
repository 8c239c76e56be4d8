"""Makes the folders of benchmarks/ importable, as its scripts do, and runs the commands that stand there."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from textveil_cli.console import run as run_command
from textveil_training import cli

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """Run ``fairness/run.py``, ``bounds/run.py`` (grid) or ``textveil-train``; return code, output and messages."""
    from bounds.run import app as grid
    from fairness.run import app as fairness

    def command(name: str, *arguments: object) -> tuple[int, str, str]:
        scripts = {"fairness": fairness, "grid": grid}
        words = list(map(str, arguments))
        code = (
            run_command(scripts[name], name, words) if name in scripts else run_command(cli.app, name, [name, *words])
        )
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return command
