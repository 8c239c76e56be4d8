"""``textveil-export --version``."""

import pytest
import textveil
from textveil_cli.console import run
from textveil_export.cli import app


def test_the_version_and_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(app, "textveil-export", ["--version"]) == 0
    assert capsys.readouterr().out == f"textveil-export {textveil.__version__}\n"
    assert run(app, "textveil-export", []) == 2
    assert "Usage" in capsys.readouterr().err
