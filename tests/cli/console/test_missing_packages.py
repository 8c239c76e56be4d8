"""A missing package or an old Python ends every command with one line that states what to do."""

import subprocess
import sys

import pytest
from textveil_cli import __main__
from textveil_cli.console.missing_packages import describe_missing_package

#: Runs a command as if a package were not installed.
WITHOUT_PACKAGE = """
import sys
package, *sys.argv = sys.argv[1:]
sys.modules[package] = None
from textveil_cli.__main__ import main
main()
"""


@pytest.mark.slow
@pytest.mark.parametrize("command", ["doctor", "sanitize"])
@pytest.mark.parametrize("package", ["numpy", "regex", "typer"])
def test_a_missing_package_is_one_line(command: str, package: str) -> None:
    arguments = [sys.executable, "-c", WITHOUT_PACKAGE, package, "textveil", command]
    ran = subprocess.run(arguments, input="Ask Zqxwvina.", capture_output=True, text=True, timeout=60)
    assert ran.returncode == 1
    advice = f"pip install --force-reinstall {package}"
    if command == "doctor" and package == "regex":  # the other checks run without it
        assert "Failed: regex" in ran.stdout
        assert advice in ran.stdout.replace("'", "")
        return
    assert ran.stderr == f"textveil: install: the package {package} cannot be imported: {advice}\n"


def test_a_python_that_is_too_old_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(__main__, "_MIN_PYTHON", (99, 0))
    with pytest.raises(SystemExit) as ended:
        __main__.main()
    assert ended.value.code == "textveil: install: this Python is older than 3.11: install Python 3.11 or newer"


@pytest.mark.parametrize(
    ("name", "package"),
    [("regex._regex", "regex"), ("numpy", "numpy"), ("textveil.text", None), ("textveil_cli.main", None), (None, None)],
)
def test_a_fault_of_textveil_is_no_missing_package(name: str | None, package: str | None) -> None:
    described = describe_missing_package(ImportError("a message", name=name))
    assert described is None if package is None else f"--force-reinstall {package}" in str(described)
