"""``textveil-train`` shares the console of `textveil`, with commands of its own."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from textveil import __version__
from textveil_training.data import FORMATS

Write = Callable[..., Path]
Run = Callable[..., tuple[int, str, str]]

SST2 = "sentence\tlabel\na fine film\t1\nno\t0\n"
COMMAND = "sanitize-corpus"


@pytest.mark.parametrize("arguments", [["--help"], ["attack", "--help"], [COMMAND, "--help"]])
def test_help(run: Run, arguments: list[str]) -> None:
    code, out, err = run(*arguments)
    assert (code, err) == (0, "")
    assert "textveil-train" in out
    if COMMAND in arguments:
        assert all(name in "".join(out.split()) for name in FORMATS)


def test_the_version(run: Run) -> None:
    assert run("--version") == (0, f"textveil-train {__version__}\n", "")
    assert "--version" in run("--help")[1]


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["CANARY"], ""),
        (["attack", "CANARY"], ""),
        ([COMMAND, "--CANARY of words"], ""),
        ([COMMAND, "-o", "out", "--format", "sst2"], "INPUT"),
        ([COMMAND, "CANARY", "-o", "out"], "--format"),
        ([COMMAND, "CANARY", "-o", "out", "--format", "CANARY"], "--format"),
    ],
)
def test_a_usage_error_repeats_no_argument(
    refused: Callable[..., str], canary: str, arguments: list[str], named: str
) -> None:
    given = (argument.replace("CANARY", canary) for argument in arguments)
    assert refused(*given, code=2).startswith(f"usage: {named}")


@pytest.mark.parametrize(("kind", "code"), [(ZeroDivisionError, 1), (KeyboardInterrupt, 130)])
def test_nothing_ends_in_a_traceback(
    write: Write, run: Run, canary: str, monkeypatch: pytest.MonkeyPatch, kind: type[BaseException], code: int
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise kind(canary)

    monkeypatch.setattr("textveil_training.corpus.sanitize_corpus", broken)
    ended, out, err = run(COMMAND, write(SST2), "--format", "sst2", "-o", "nowhere")
    assert (ended, out) == (code, "")
    assert canary not in err


def process(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "textveil_training", *map(str, arguments)]


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}


@pytest.mark.slow
def test_the_module_runs_and_passes_its_exit_code_on(write: Write, tmp_path: Path) -> None:
    given = (COMMAND, write(SST2), "--format", "sst2", "-o", tmp_path / "out", "--quiet")
    done = subprocess.run(process(*given), capture_output=True, text=True, check=False, env=environment())
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("file ")
    failed = subprocess.run(process("attack"), capture_output=True, text=True, check=False, env=environment())
    assert (failed.returncode, failed.stdout, failed.stderr.count("\n")) == (2, "", 1)


def test_the_command_line_loads_no_training_library() -> None:
    script = "import sys, textveil_training.cli; print({'torch', 'transformers'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, env=environment())
    assert done.stdout.strip() == "set()"
