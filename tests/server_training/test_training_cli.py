"""The command ``textveil-train``."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import textveil
from textveil_cli import console
from textveil_training import cli
from textveil_training.data import FORMATS

Write = Callable[..., Path]
Capture = pytest.CaptureFixture[str]

SST2 = "sentence\tlabel\na fine film\t1\nno\t0\n"


@pytest.fixture(autouse=True)
def _signals_as_they_were() -> Iterator[None]:  # pyright: ignore[reportUnusedFunction]
    """A command takes the default action on a closed pipe; the process of the tests must not."""
    number = getattr(signal, "SIGPIPE", None)
    before = None if number is None else signal.getsignal(number)
    yield
    if number is not None:
        signal.signal(number, before)


def run(capsys: Capture, *arguments: str) -> tuple[int, str, str]:
    code = console.run(cli.app, "textveil-train", list(arguments))
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_a_table(write: Write, capsys: Capture) -> None:
    code, out, err = run(capsys, "data", "inspect", str(write(SST2)), "--format", "sst2")
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        "split  part     examples  mean tokens",
        "all    all             2          2.0",
        "all    label 0         1",
        "all    label 1         1",
    ]


def test_one_line_of_json(write: Write, capsys: Capture) -> None:
    code, out, err = run(capsys, "data", "inspect", "--json", "--format", "sst2", str(write(SST2)))
    assert (code, err, out.count("\n")) == (0, "", 1)
    assert json.loads(out)["splits"]["all"]["labels"] == {"0": 1, "1": 1}


def test_options_reach_the_library(write: Write, capsys: Capture) -> None:
    path = str(write('{"body": "b", "class": 3}\n'))
    options = ["--format", "jsonl", "--text-key", "body", "--label-key", "class", "--json"]
    code, out, _ = run(capsys, "data", "inspect", path, *options)
    assert (code, json.loads(out)["splits"]["all"]["labels"]) == (0, {"3": 1})
    path = str(write(" = A = \n b \n"))
    code, out, _ = run(capsys, "data", "inspect", path, "--format", "wikitext", "--skip-headings", "--json")
    assert (code, json.loads(out)["splits"]["all"]["examples"]) == (0, 1)
    path = str(write(("0\ta\t0\n" + "=" * 20 + "\n") * 3))
    code, out, _ = run(capsys, "data", "inspect", path, "--format", "ag-entities", "--split", "dev", "--json")
    assert (code, list(json.loads(out)["splits"])) == (0, ["dev"])


@pytest.mark.parametrize("arguments", [["--help"], ["data", "--help"], ["data", "inspect", "--help"]])
def test_help(capsys: Capture, arguments: list[str]) -> None:
    code, out, err = run(capsys, *arguments)
    assert (code, err) == (0, "")
    assert "textveil-train" in out
    if "inspect" in arguments:
        assert all(name in "".join(out.split()) for name in FORMATS)


@pytest.mark.parametrize("arguments", [["--version"], ["--version", "CANARY"], ["--version", "data", "inspect"]])
def test_the_version(capsys: Capture, arguments: list[str]) -> None:
    assert run(capsys, *arguments) == (0, f"textveil-train {textveil.__version__}\n", "")
    assert "--version" in run(capsys, "--help")[1]


def test_a_malformed_row_is_one_line_and_code_1(write: Write, capsys: Capture, canary: str) -> None:
    path = str(write(f"{SST2}{canary}\t7\n"))
    code, out, err = run(capsys, "data", "inspect", path, "--format", "sst2")
    assert (code, out) == (1, "")
    reason = "the label is not one of the 2 expected ones"
    assert err == f"textveil-train: data-label: rows.txt, line 4: {reason}\n"


def test_a_file_that_is_not_there_is_not_named(capsys: Capture, canary: str) -> None:
    code, out, err = run(capsys, "data", "inspect", canary, "--format", "sst2")
    assert (code, out) == (1, "")
    assert err == f"textveil-train: data-file: the file cannot be opened ({os.strerror(2)})\n"


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ([], ""),
        (["data"], ""),
        (["CANARY"], ""),
        (["data", "CANARY"], ""),
        (["data", "CANARY", "--format", "sst2"], ""),
        (["--CANARY"], ""),
        (["--version=CANARY"], ""),
        (["-C"], ""),
        (["data", "inspect", "--CANARY"], ""),
        (["data", "inspect", "--fromat", "CANARY"], ""),
        (["data", "inspect", "CANARY", "--format"], ""),
        (["data", "inspect", "--json=CANARY"], ""),
        (["data", "inspect", "--format", "sst2"], "FILE"),
        (["data", "inspect", "CANARY"], "--format"),
        (["data", "inspect", "CANARY", "--format", "CANARY"], "--format"),
        (["data", "inspect", "CANARY", "--format="], "--format"),
        (["data", "inspect", "x", "CANARY", "--format", "sst2"], ""),
    ],
)
def test_a_usage_error_repeats_no_argument(
    capsys: Capture,
    canary: str,
    arguments: list[str],
    named: str,
) -> None:
    code, out, err = run(capsys, *(argument.replace("CANARY", canary) for argument in arguments))
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith(f"textveil-train: usage: {named}")
    assert canary not in err


@pytest.mark.parametrize("options", [["--split", "CANARY"], ["--skip-headings"], ["--text-key", "CANARY"]])
def test_an_option_the_format_does_not_take_is_a_named_error(
    write: Write,
    capsys: Capture,
    canary: str,
    options: list[str],
) -> None:
    arguments = [option.replace("CANARY", canary) for option in options]
    code, out, err = run(capsys, "data", "inspect", str(write(SST2)), "--format", "sst2", *arguments)
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert err.startswith("textveil-train: data-option: ")
    assert canary not in err


@pytest.mark.parametrize(("kind", "code"), [(ZeroDivisionError, 1), (KeyboardInterrupt, 130)])
def test_nothing_ends_in_a_traceback(
    write: Write,
    capsys: Capture,
    canary: str,
    monkeypatch: pytest.MonkeyPatch,
    kind: type[BaseException],
    code: int,
) -> None:
    def broken(*_: object) -> None:
        raise kind(canary)

    monkeypatch.setattr("textveil_training.cli.data.summarize", broken)
    ended, out, err = run(capsys, "data", "inspect", str(write(SST2)), "--format", "sst2")
    assert (ended, out) == (code, "")
    assert canary not in err


def process(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "textveil_training", *arguments]


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}


@pytest.mark.slow
def test_the_module_runs_and_passes_its_exit_code_on(write: Write) -> None:
    arguments = process("data", "inspect", str(write(SST2)), "--format", "sst2", "--json")
    done = subprocess.run(arguments, capture_output=True, text=True, check=False, env=environment())
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["format"] == "sst2"
    failed = subprocess.run(process("data"), capture_output=True, text=True, check=False, env=environment())
    assert (failed.returncode, failed.stdout, failed.stderr.count("\n")) == (2, "", 1)


def test_the_command_line_loads_no_training_library() -> None:
    script = "import sys, textveil_training.cli; print({'torch', 'transformers'} & set(sys.modules))"
    arguments = [sys.executable, "-c", script]
    done = subprocess.run(arguments, capture_output=True, text=True, check=True, env=environment())
    assert done.stdout.strip() == "set()"


@pytest.mark.skipif(os.name == "nt", reason="a closed pipe is another error there")
def test_a_closed_pipe_is_no_traceback(write: Write) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        process("data", "inspect", str(write(SST2)), "--format", "sst2"),
        stdout=writing,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
        env=environment() | {"PYTHONUNBUFFERED": ""},
    )
    os.close(writing)
    assert (done.returncode != 0, done.stderr) == (True, "")
