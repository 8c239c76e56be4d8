"""No canary in cells, keys and names of tables is in any message or remaining file."""

import gzip
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import textveil_cli.files.workers as workers_module
from canaries import SECRET, hidden
from textveil import Sanitizer
from textveil_cli.errors import WorkerFailed

posix = pytest.mark.skipif(os.name != "posix", reason="processes as POSIX counts them")


BAD_CSV = [
    f"id,note\n1,{SECRET}\n2,{SECRET},{SECRET}\n".encode(),
    f'id,note\n1,"{SECRET}\n2,{SECRET}\n'.encode(),
    f'id,note\n1,"{SECRET}"{SECRET}\n'.encode(),
    f"id,note\n1,{SECRET}".encode() + b"\xff\n",
    f"{SECRET},{SECRET}\n".encode(),
    f"id,note\n1,{SECRET * 200}\n".encode(),
]
BAD_JSON = [
    f'{{"note": "{SECRET}", "note": "{SECRET}"}}\n'.encode(),
    f'{{"note": ["{SECRET}"]}}\n'.encode(),
    f'{{"note": "{SECRET}"\n'.encode(),
    f'{{"{SECRET}": "{SECRET}"}}\n'.encode(),
    f'{{"note": "{SECRET * 200}"}}\n'.encode(),
]


@pytest.mark.parametrize(
    ("arguments", "content"),
    [
        *((["--csv", "--column", "note"], content) for content in BAD_CSV),
        *((["--jsonl", "--key", "note"], content) for content in BAD_JSON),
        ([], BAD_CSV[0]),
        ([], BAD_JSON[0]),
    ],
)
def test_errors_do_not_tell(cli: Callable, tmp_path: Path, arguments: list[str], content: bytes) -> None:
    path, out = tmp_path / "t.txt", tmp_path / "out"
    path.write_bytes(content)
    ran = cli(*arguments, *(["--max-field-bytes", "1k"] if arguments else []), path, "-o", out)
    assert ran.code == 1
    assert ran.message.count("\n") == 1
    assert hidden(ran.text + ran.message)
    assert sorted(left.name for left in tmp_path.iterdir()) == ["t.txt"]


def test_names_on_the_command_line_are_not_said(cli: Callable, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b"id,note\n1,the\n")
    for arguments in (
        ["--csv", "--column", SECRET, path],
        ["--jsonl", "--key", f"{SECRET}[0]", path],
        ["--csv", "--column", "note", SECRET],
        ["--csv", "--column", "note", f"{SECRET}*.csv", "-o", tmp_path / "out"],
        ["--csv", "--column", "note", path, "--max-field-bytes", SECRET],
        ["--csv", "--column", "note", path, "--encoding", SECRET],
        ["--csv", "--column", "note", path, "--delimiter", SECRET],
        ["--csv", "--column", "note", path, "--rejected-rows", f"{SECRET}/x"],
        ["--csv", "--column", "note", path, "--document", SECRET],
        ["--csv", "--column", "note", path, "--consistent", "--document-key", SECRET],
    ):
        ran = cli(*arguments)
        assert ran.code in (1, 2)
        assert hidden(ran.text + ran.message)


def test_a_folder_run_leaves_nothing_but_outputs(
    here: Callable, flat_bundle: Path, nearest: None, tmp_path: Path
) -> None:
    top, out = tmp_path / "in", tmp_path / "out"
    top.mkdir()
    (top / "a.csv").write_bytes(f"id,note\n1,{SECRET}\n".encode())
    (top / "b.csv.gz").write_bytes(gzip.compress(f"id,note\n1,{SECRET}\n".encode()))
    deny = tmp_path / "deny.txt"
    deny.write_text(f"{SECRET.split()[0]}\n", "utf-8")
    command = ("sanitize", "--bundle", flat_bundle, "--csv", "-c", "note", top, "-o", out, "--json")
    ran = here(*command, "--deny", deny, "--sanitize-punctuation")
    assert ran.code == 0
    left = "".join(
        (gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()).decode()
        for path in out.rglob("*")
    )
    assert "note" in left
    assert hidden(ran.text + ran.message + left)


def test_what_a_worker_meets_does_not_tell(tiny: Sanitizer, monkeypatch: pytest.MonkeyPatch) -> None:
    """If an internal error contains the text, only its type and place are reported."""

    def fail(*arguments: Any) -> None:
        raise ValueError(SECRET) from KeyError(SECRET)

    monkeypatch.setattr(workers_module, "_sanitizers", [tiny])
    monkeypatch.setattr(workers_module, "_jobs", [(None, "", {})])
    monkeypatch.setattr(workers_module, "sanitize_block", fail)
    met = workers_module._sanitize_in_worker([SECRET], [1])
    assert isinstance(met, WorkerFailed)
    assert str(met).startswith("internal error: ValueError in test_canary.py line ")
    assert hidden(repr((met, met.args, met.__cause__, met.__context__)))


#: Runs a command from a small process and prints its peak memory: a child's peak begins at what its parent had.
_MEASURED = """
import os, subprocess, sys
child = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL)
_, status, usage = os.wait4(child.pid, 0)
print(usage.ru_maxrss)
sys.exit(os.waitstatus_to_exitcode(status))
"""


@posix
@pytest.mark.slow
def test_a_gigabyte_of_one_field_takes_little_memory(tiny_path: Path) -> None:
    """It is refused before it is read whole, and the command needs no more memory for it than for a sentence."""
    command = (
        "-m",
        "textveil",
        "sanitize",
        "--bundle",
        tiny_path,
        "--csv",
        "-c",
        "note",
        "--max-field-bytes",
        "4M",
        "-",
    )
    pipe = subprocess.PIPE
    with subprocess.Popen(
        [sys.executable, "-c", _MEASURED, sys.executable, *map(str, command)], stdin=pipe, stdout=pipe, stderr=pipe
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        sent = 0
        try:
            process.stdin.write(b"id,note\n1,")
            for _ in range(1000):
                process.stdin.write(b"x" * 1_000_000)
                sent += 1
            process.stdin.close()
        except BrokenPipeError:
            pass
        said, most = process.stderr.read().decode(), int(process.stdout.read())
        process.stdin = None  # it is closed at the other end
    assert process.returncode == 1
    assert (
        said == "textveil: field-too-long: standard input: a line exceeds --max-field-bytes "
        "(raise --max-field-bytes, or correct the file)\n"
    )
    assert sent < 30
    assert most / (1024 if sys.platform != "darwin" else 1 << 20) < 250
