"""The ``textveil`` command: what goes to which stream, what is written where, and how it ends."""

import errno
import io
import json
import os
import re
import select
import signal
import stat
import subprocess
import sys
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest
import textveil
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from textveil import Sanitizer
from textveil.cli.console import run
from textveil.cli.main import app

posix = pytest.mark.skipif(os.name != "posix", reason="signals and pipes as POSIX has them")
full_device = pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
TIMEOUT = 60


@pytest.fixture
def cli(here: Callable, tiny_path: Path) -> Callable:
    """``textveil sanitize`` over the tiny bundle, in this process."""
    return lambda *arguments: here("sanitize", "--bundle", tiny_path, *arguments)


@pytest.fixture
def note(tmp_path: Path) -> Path:
    path = tmp_path / "note.txt"
    path.write_bytes(b"The doctor, said.\n\nnurse zzz\n")
    return path


def start(*arguments: str | Path, **options: object) -> "subprocess.Popen[bytes]":
    pipe = subprocess.PIPE
    return subprocess.Popen(  # type: ignore[call-overload]
        [sys.executable, "-m", "textveil", *map(str, arguments)],
        **{"stdin": pipe, "stdout": pipe, "stderr": pipe, **options},
    )


def answer(process: "subprocess.Popen[bytes]") -> bytes:
    """What stands on standard output within a minute, without waiting for the end."""
    assert process.stdout is not None
    ready, _, _ = select.select([process.stdout], [], [], TIMEOUT)
    assert ready, "no answer"
    return os.read(process.stdout.fileno(), 1 << 16)


# --- data in, data out, as processes -------------------------------------------------------------------------------


def test_a_sentence_with_the_built_in_bundle(command: Callable) -> None:
    ran = command("sanitize", "--text", "My doctor in Boston said the biopsy was clean.")
    assert ran.code == 0
    assert len(ran.text.split()) == 9
    assert ran.text.endswith(".\n")
    assert re.fullmatch(
        r"textveil: 10 nats per drawn mention\. Visible as they are: function words, punctuation and white space, "
        r"case, kinds, .*\. Whole text: 10 x 4 drawn mentions = 40 nats: no protection of the text as a whole\.\n",
        ran.message,
    )
    ran = command("sanitize", "-m", "santext+", "--text", "My doctor in Boston said the biopsy was clean.")
    assert re.fullmatch(
        r"textveil: santext\+, level moderate, (exact|capped) tail: epsilon [\d.]+ d \+ 1\.204 per token "
        r"\(certified metric DP\); 9 tokens: [\d.]+ d \+ [\d.]+ in all"
        r"; common words that are kept reveal themselves\n",
        ran.message,
    )


def test_standard_input_to_standard_output(command: Callable, tiny_path: Path) -> None:
    ran = command("sanitize", "--bundle", tiny_path, stdin=b"The doctor,\r\n\r\n  zzz\tof the\nlast line")
    assert ran.code == 0
    assert re.fullmatch(rb"\S+ \S+,\r\n\r\n  \S+\t\S+ \S+\n\S+ \S+", ran.out)
    assert ran.message.startswith("textveil: standard input: 4 documents; santext+, level low, capped tail: ")
    assert "7 tokens" in ran.message


def test_the_module_and_the_script_are_one(command: Callable) -> None:
    script = Path(sys.executable).with_name("textveil")
    if not script.exists():
        pytest.skip("the textveil script is not beside this Python")
    done = subprocess.run([script, "--version"], capture_output=True, timeout=TIMEOUT, check=True)
    assert done.stdout == command("--version").out == f"textveil {textveil.__version__}\n".encode()


@posix
def test_every_line_is_answered_before_the_next_is_read(tiny_path: Path) -> None:
    with start("sanitize", "--bundle", tiny_path) as process:
        assert process.stdin is not None
        for line, expected in ((b"the doctor\n", rb"\S+ \S+\n"), (b"\n", rb"\n"), (b"zzz, of!\r\n", rb"\S+, \S+!\r\n")):
            process.stdin.write(line)
            process.stdin.flush()
            assert re.fullmatch(expected, answer(process))
        process.stdin.close()
        assert process.wait(TIMEOUT) == 0


@pytest.mark.slow
@posix
def test_a_closed_pipe_ends_quietly(tiny_path: Path, tmp_path: Path) -> None:
    """``textveil sanitize FILE | head -1``"""
    path = tmp_path / "long.txt"
    path.write_bytes(b"the doctor said\n" * 300_000)
    with start("sanitize", "--bundle", tiny_path, path, stdin=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline().count(b" ") == 2
        process.stdout.close()
        assert process.wait(TIMEOUT) in (-signal.SIGPIPE, 1)
        assert process.stderr.read() == b""


@posix
@pytest.mark.parametrize("to_file", [False, True])
def test_an_interrupt_ends_quietly(tiny_path: Path, tmp_path: Path, to_file: bool) -> None:
    """Ctrl-C: exit code 130, no traceback, and no half of a file."""
    target = tmp_path / "out.txt"
    with start("sanitize", "--bundle", tiny_path, *(["-o", target] if to_file else [])) as process:
        assert process.stdin is not None
        assert process.stderr is not None
        process.stdin.write(b"the doctor\n" * (4000 if to_file else 1))
        process.stdin.flush()
        if to_file:
            for _ in range(TIMEOUT * 100):  # until something is in the partial file: the signal falls into the work
                if [path for path in tmp_path.iterdir() if path.stat().st_size]:
                    break
                select.select([], [], [], 0.01)
        else:
            answer(process)
        process.send_signal(signal.SIGINT)
        assert process.wait(TIMEOUT) == 130
        assert process.stderr.read() == b""
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
@posix
@full_device
@pytest.mark.parametrize(
    "arguments",
    [["sanitize", "--text", "the"], ["sanitize", "--json", "--text", "the"], ["info"], ["info", "--json"],
     ["info", "--path"], ["inspect", "the"], ["--version"], ["--help"]],
    ids=" ".join,
)  # fmt: skip
def test_a_full_disk_under_standard_output(command: Callable, arguments: list[str], tiny_path: Path) -> None:
    if arguments[0] in ("sanitize", "info", "inspect"):
        arguments = [arguments[0], "--bundle", str(tiny_path), *arguments[1:]]
    with open("/dev/full", "wb") as full:
        ran = command(*arguments, stdout=full)
    assert ran.code == 1
    assert ran.message == "textveil: output: standard output cannot be written\n"


@posix
@pytest.mark.parametrize("stream", [0, 1, 2])
def test_a_closed_stream(tiny_path: Path, stream: int) -> None:
    """``<&-``, ``>&-`` and ``2>&-``: a named error, or silence; never a message among the data."""
    with start("sanitize", "--bundle", tiny_path, preexec_fn=lambda: os.close(stream)) as process:
        out, err = process.communicate(b"the doctor\n", TIMEOUT)
    assert b"textveil" not in out
    assert b"internal" not in err
    assert b"Traceback" not in err
    assert process.returncode == (0 if stream == 2 else 1)
    assert (out == b"") == (stream < 2)


@posix
def test_a_reader_of_messages_that_went_away(tiny_path: Path, tmp_path: Path, note: Path) -> None:
    """Nobody reads standard error: the file is there all the same, whole, and nothing else."""
    target = tmp_path / "out.txt"
    receiver, sender = os.pipe()
    os.close(receiver)
    with start("sanitize", "--bundle", tiny_path, note, "-o", target, stderr=sender) as process:
        os.close(sender)
        process.wait(TIMEOUT)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["note.txt", "out.txt"]
    assert target.read_bytes().count(b"\n") == 3


# --- inputs --------------------------------------------------------------------------------------------------------


def test_files(cli: Callable, note: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.txt"
    other.write_bytes(b"of the\n")
    ran = cli(note, other, note)
    assert ran.code == 0
    assert ran.out.count(b"\n") == 7
    assert re.fullmatch(rb"(\S+ \S+, \S+\.\n\n\S+ \S+\n)\S+ \S+\n(\S+ \S+, \S+\.\n\n\S+ \S+\n)", ran.out)
    said = ran.message.splitlines()
    assert [line.split(";")[0] for line in said] == [
        "textveil: input 1 of 3: 3 documents",
        "textveil: input 2 of 3: 1 document",
        "textveil: input 3 of 3: 3 documents",
    ]


def test_a_dash_is_standard_input(command: Callable, tiny_path: Path, note: Path) -> None:
    ran = command("sanitize", "--bundle", tiny_path, note, "-", stdin=b"of the\n")
    assert ran.code == 0
    assert ran.out.count(b"\n") == 4
    assert "standard input: 1 document" in ran.message
    assert "input 1 of 2: 3 documents" in ran.message


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        ("", rb"\n"),
        ("   ", rb"   \n"),
        ("The doctor.", rb"\S+ \S+\.\n"),
        ("two\nlines", rb"\S+\n\S+\n"),
        ("-", rb"-\n"),
        ("--help", rb"--\S+\n"),
        ("\ud800", rb"\S+\n"),
    ],
)
def test_a_text_is_one_document(cli: Callable, text: str, pattern: bytes) -> None:
    ran = cli(f"--text={text}")
    assert ran.code == 0
    assert re.fullmatch(pattern, ran.out)
    assert ran.message.count("\n") == 1


def test_empty_inputs(cli: Callable, tmp_path: Path) -> None:
    empty = tmp_path / "empty.txt"
    empty.write_bytes(b"")
    ran = cli(empty)
    assert (ran.code, ran.out, ran.message) == (0, b"", "textveil: input 1 of 1: no documents\n")


def test_quiet(cli: Callable, note: Path) -> None:
    ran = cli("--quiet", note)
    assert (ran.code, ran.err) == (0, b"")
    assert cli("-q", "--text", "the").err == b""


def test_byte_order_marks_and_line_ends(cli: Callable, tmp_path: Path) -> None:
    path = tmp_path / "dos.txt"
    path.write_bytes(b"\xef\xbb\xbfThe doctor\r\n\r\nnurse")
    ran = cli(path)
    assert re.fullmatch(rb"[A-Z]\S* \S+\r\n\r\n\S+", ran.out)


def test_bad_bytes_are_named_and_earlier_lines_stay(cli: Callable, tmp_path: Path) -> None:
    path = tmp_path / "bad.txt"
    path.write_bytes(b"the doctor\nnurse\nzzz \xff canary\nof\n")
    ran = cli(path)
    assert ran.code == 1
    assert re.fullmatch(rb"\S+ \S+\n\S+\n", ran.out)
    assert ran.message == "textveil: input: input 1 of 1: not UTF-8 at byte 21\n"
    ran = cli("--json", path)
    assert [json.loads(line)["statement"]["tokens"] for line in ran.text.splitlines()] == [2, 1]


@pytest.mark.parametrize("name", ["missing.txt", "drawer", "missing/x", "note.txt/x", "x" * 300, "new\nline"])
def test_inputs_that_cannot_be_read(cli: Callable, tmp_path: Path, note: Path, name: str) -> None:
    (tmp_path / "drawer").mkdir()
    ran = cli(note, tmp_path / name)
    assert ran.code == 1
    assert ran.out.count(b"\n") == 3
    said = "a folder; give the files that are in it" if name == "drawer" else "no readable file there"
    assert f"textveil: input: input 2 of 2: {said}" in ran.message
    assert name not in ran.message


@pytest.mark.slow
def test_a_line_of_five_megabytes(cli: Callable, tmp_path: Path) -> None:
    path = tmp_path / "long.txt"
    path.write_bytes(b"the doctor, " * 430_000 + b"\nnurse\n")
    ran = cli(path, "--mechanism", "random")
    assert ran.code == 0
    assert ran.out.count(b"\n") == 2
    assert "2 documents; random: every token is replaced by a uniform draw; 860,001 tokens" in ran.message


# --- JSON ----------------------------------------------------------------------------------------------------------


def test_json_lines(cli: Callable, tmp_path: Path, tiny: Sanitizer) -> None:
    path = tmp_path / "note.txt"
    path.write_bytes("The doctor\u2028“said”\n\nжук straße café\r\nlast".encode())
    ran = cli("--json", path)
    documents = [json.loads(line) for line in ran.text.removesuffix("\n").split("\n")]
    assert [document.keys() for document in documents] == [{"text", "statement"}] * 4
    assert [document["statement"]["tokens"] for document in documents] == [3, 0, 3, 1]
    assert documents[1]["text"] == ""
    assert documents[2]["text"].endswith("\r")
    assert "\u2028“" in documents[0]["text"]
    assert ran.out.endswith(b"}\n")
    for document in documents:
        statement = document["statement"]
        expected = dict(tiny.sanitize("").statement.to_dict())
        assert {**statement, "tokens": 0, "epsilon_document": 0, "epsilon_0_document": 0} == expected
        assert statement["epsilon_document"] == statement["tokens"] * statement["epsilon"]


def test_json_of_a_text(cli: Callable) -> None:
    ran = cli("--json", "--text", "two\nlines", "--mechanism", "krr", "--epsilon", "3.5", "--case", "drop")
    document = json.loads(ran.text)
    assert document["text"].count("\n") == 1
    statement = document["statement"]
    assert (statement["mechanism"], statement["level"], statement["epsilon"]) == ("krr", None, 3.5)
    assert (statement["epsilon_kind"], statement["case"], statement["tokens"]) == ("pure local DP", "drop", 2)


# --- options -------------------------------------------------------------------------------------------------------


def test_options_reach_the_library(cli: Callable, tmp_path: Path, tiny: Sanitizer) -> None:
    deny = tmp_path / "deny.txt"
    deny.write_bytes(b"\xef\xbb\xbfthe\r\n\r\n  And  \n")
    shared = ["--json", "--level", "high", "-p", "1e-18", "--text", "the and of"]
    kept = json.loads(cli(*shared).text)
    assert kept["text"] == "the and of"
    assert kept["statement"]["level"] == "high"
    denied = json.loads(cli(*shared, "--deny", deny).text)
    outputs = set(tiny.distribution("zzz").words)
    first, second, third = denied["text"].split()
    assert {first, second} <= outputs
    assert third == "of"
    strict = json.loads(cli("--sanitize-punctuation", "--json", "--epsilon", "16.0", "--text", "The\n , OF").text)
    assert strict["text"] == strict["text"].lower()
    assert strict["text"].count(" ") == 2
    assert (strict["statement"]["sanitize_punctuation"], strict["statement"]["epsilon"]) == (True, 16)
    assert cli("--case", "drop", "-p", "1e-18", "-q", "--text", "THE Of").text == "the of\n"


@pytest.mark.parametrize(
    ("arguments", "code", "expected"),
    [
        (
            ["--level", "canary"],
            "unknown-level",
            "santext+ with capped tail has the levels (epsilon) low (4), high (16)",
        ),
        (["--epsilon", "17"], "unknown-level", "low (4), high (16)"),
        (["--epsilon", "canary"], "option", "not a number"),
        (["--mechanism", "canary"], "unknown-mechanism", "there are staircase, santext, santext+, random, krr"),
        (["--mechanism", ""], "unknown-mechanism", "there are"),
        (["--mechanism", "krr"], "option", "epsilon"),
        (["--mechanism", "random", "--level", "low"], "option", "random has no levels"),
        (["--case", "canary"], "option", "carry, drop"),
        (["-p", "canary"], "option", "not a number"),
        (["-p", "0"], "option", "above 0"),
        (["-p", "1.1"], "option", "at most 1"),
        (["-p", ""], "option", "number"),
        (["--mechanism", "santext", "-p", "0.3"], "option", "santext+ alone"),
        (["--deny", "canary.txt"], "input", "--deny"),
        (["--expect-id", "canary"], "bundle-identity", "another identity: "),
        (["--bundle", "canary"], "bundle-not-found", "no bundle"),
        (["--bundle", "canary" * 1000], "bundle-not-found", "no bundle"),
    ],
)
def test_named_errors(cli: Callable, arguments: list[str], code: str, expected: str) -> None:
    """Exit code 1, one line with the stable code, the value not repeated, nothing on standard output."""
    for given_text in (["--text", "the doctor"], ["--text", ""]):
        ran = cli(*given_text, *arguments)
        assert ran.code == 1
        assert ran.out == b""
        assert ran.message.startswith(f"textveil: {code}: ")
        assert ran.message.count("\n") == 1
        assert expected in ran.message
        assert "canary" not in ran.message


def test_errors_come_before_input_is_read(cli: Callable, note: Path, tmp_path: Path) -> None:
    """An option that cannot be: not even an empty file is made."""
    target = tmp_path / "out.txt"
    empty = tmp_path / "empty.txt"
    empty.write_bytes(b"")
    for path in (note, empty):
        ran = cli(path, "-o", target, "--level", "none")
        assert ran.code == 1
        assert "unknown-level" in ran.message
        assert not target.exists()


# --- wrong usage ---------------------------------------------------------------------------------------------------


def usage(*arguments: str) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    handler = signal.getsignal(signal.SIGPIPE) if hasattr(signal, "SIGPIPE") else None
    try:
        with redirect_stdout(out), redirect_stderr(err):
            code = run(app, "textveil", list(arguments))
    finally:
        if handler is not None:
            signal.signal(signal.SIGPIPE, handler)
    return code, out.getvalue(), err.getvalue()


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["my secret"], "unknown command"),
        (["sanitze"], "unknown command"),
        (["--my-secret"], "unknown option"),
        (["-s"], "unknown option"),
        (["sanitize", "--my-secret"], "unknown option"),
        (["sanitize", "--text"], "no value"),
        (["sanitize", "--quiet=secret"], "an option has no value, or one too many"),
        (["inspect"], "something is missing"),
        (["inspect", "my", "secret"], "unexpected argument"),
        (["inspect", "the", "--count", "secret"], "--count"),
        (["inspect", "the", "--count", "0"], "--count"),
        (["inspect", "the", "-n", "-5"], "--count"),
        (["info", "secret"], "unexpected argument"),
    ],
)
def test_wrong_usage(arguments: list[str], expected: str) -> None:
    code, out, err = usage(*arguments)
    assert (code, out) == (2, "")
    assert err.startswith("textveil: usage: ")
    knows_where = arguments[0] in ("sanitize", "inspect", "info") and "no value" not in expected
    assert err.endswith(f"(see textveil {arguments[0]} --help)\n" if knows_where else "(see textveil --help)\n")
    assert err.count("\n") == 1
    assert expected in err
    assert "secret" not in err


def test_files_and_a_text_exclude_each_other(here: Callable) -> None:
    ran = here("sanitize", "--text", "my secret", "other secret")
    assert ran.code in (1, 2)
    assert "exclude each other" in ran.message
    assert "secret" not in ran.message


# A canary in any place a person may put a secret by mistake.
PLACES = [
    ["{}"],
    ["{}", "sanitize"],
    ["--{}"],
    ["-{}"],
    ["{}", "{}"],
    ["sanitize", "--{}"],
    ["sanitize", "--{}=x"],
    ["sanitize", "--quiet={}"],
    ["sanitize", "--nothing", "{}"],
    ["sanitize", "--text", "x", "--nothing", "{}"],
    ["inspect", "x", "{}"],
    ["inspect", "x", "--count", "{}"],
    ["inspect", "x", "--count={}"],
    ["info", "{}"],
    ["info", "--json={}"],
    ["info", "--path", "{}", "--nothing"],
]


@pytest.mark.slow
@settings(max_examples=300)
@given(st.sampled_from(PLACES), st.text(st.characters(), min_size=1, max_size=20))
@example(["{}"], "\ud800")
@example(["--{}"], "a\nb")
@example(["sanitize", "--{}"], "text\x1b[31m")
@example(["inspect", "x", "--count={}"], "\0")
@example(["{}"], "-")
def test_usage_errors_never_echo(place: list[str], secret: str) -> None:
    marked = f"Zq{secret}qZ"  # long enough to be recognized, and no option of ours
    assume(not marked.isdigit())
    code, out, err = usage(*(part.replace("{}", marked) for part in place))
    assert code == 2
    assert out == ""
    assert marked not in err
    assert "Zq" not in err
    assert err.count("\n") == 1
    assert err.startswith("textveil: usage: ")


def test_help(here: Callable) -> None:
    for arguments in (["--help"], ["sanitize", "--help"], ["inspect", "--help"], ["info", "--help"]):
        ran = here(*arguments)
        assert ran.code == 0
        assert b"Usage: textveil" in ran.out
        assert ran.err == b""
    text = here("--help").text
    assert all(name in text for name in ("sanitize", "inspect", "info", "--version"))


def test_without_arguments_there_is_help(here: Callable) -> None:
    ran = here()
    assert ran.code in (0, 2)
    assert b"Usage: textveil" in ran.out + ran.err
    assert b"unknown command" not in ran.err


# --- output files --------------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "outputs"
    path.mkdir()
    return path


def test_an_output_file(cli: Callable, note: Path, folder: Path) -> None:
    target = folder / "out.txt"
    ran = cli(note, "-o", target)
    assert (ran.code, ran.out) == (0, b"")
    assert "3 documents" in ran.message
    assert re.fullmatch(rb"\S+ \S+, \S+\.\n\n\S+ \S+\n", target.read_bytes())
    assert os.listdir(folder) == ["out.txt"]
    ran = cli("--json", "--text", "the", "--output", target)
    assert json.loads(target.read_text("utf-8"))["statement"]["tokens"] == 1
    assert os.listdir(folder) == ["out.txt"]


@posix
def test_permissions_of_an_output_file(cli: Callable, note: Path, folder: Path) -> None:
    target = folder / "out.txt"
    before = os.umask(0o027)
    try:
        cli(note, "-o", target)
        assert stat.S_IMODE(target.stat().st_mode) == 0o640
        target.chmod(0o604)
        cli(note, "-o", target)
        assert stat.S_IMODE(target.stat().st_mode) == 0o604
    finally:
        os.umask(before)


def test_a_file_that_exists_is_kept_on_any_error(cli: Callable, tmp_path: Path, folder: Path, note: Path) -> None:
    target = folder / "out.txt"
    target.write_bytes(b"precious")
    bad = tmp_path / "bad.txt"
    bad.write_bytes(b"the\n\xff")
    for arguments in (
        [bad],
        [note, bad],
        [note, tmp_path / "missing"],
        [note, "--level", "none"],
        [note, "--bundle", tmp_path],
        [note, "--expect-id", "0"],
        [note, "--text", "x"],
        [note, "--nothing"],
    ):
        ran = cli(*arguments, "-o", target)
        assert ran.code in (1, 2)
        assert ran.out == b""
        assert target.read_bytes() == b"precious"
        assert os.listdir(folder) == ["out.txt"]


@pytest.mark.parametrize("call", ["fsync", "replace", "chmod"])
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO, errno.EDQUOT])
def test_a_disk_that_fails(
    cli: Callable, note: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, call: str, number: int
) -> None:
    def fail(*arguments: object, **options: object) -> None:
        raise OSError(number, os.strerror(number), "canary.txt")

    target = folder / "out.txt"
    target.write_bytes(b"precious")
    monkeypatch.setattr(f"textveil.bundle.atomic.os.{call}", fail)
    ran = cli(note, "-o", target)
    assert ran.code == 1
    assert ran.message.splitlines()[-1] == f"textveil: output: the output file cannot be written: {os.strerror(number)}"
    assert "canary" not in ran.message
    assert target.read_bytes() == b"precious"
    assert os.listdir(folder) == ["out.txt"]


@pytest.mark.slow
@posix
def test_a_disk_that_is_full(tiny_path: Path, tmp_path: Path, folder: Path) -> None:
    """A limit on the size of files stands in for the disk: writes fail half-way."""
    resource = pytest.importorskip("resource")
    source = tmp_path / "long.txt"
    source.write_bytes(b"the doctor said\n" * 100_000)
    target = folder / "out.txt"
    target.write_bytes(b"precious")
    limit = (200_000, 200_000)
    with start(
        *("sanitize", "--bundle", tiny_path, source, "-o", target),
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limit),
    ) as process:
        out, err = process.communicate(timeout=TIMEOUT)
    assert process.returncode == 1
    assert out == b""
    assert err.decode() == f"textveil: output: the output file cannot be written: {os.strerror(errno.EFBIG)}\n"
    assert target.read_bytes() == b"precious"
    assert os.listdir(folder) == ["out.txt"]


@pytest.mark.parametrize("where", ["missing/out.txt", ".", "note.txt/out.txt", "x" * 300, ""])
def test_outputs_that_cannot_be(
    cli: Callable, note: Path, tmp_path: Path, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    before = sorted(os.listdir(tmp_path))
    ran = cli(note, "-o", where)
    assert ran.code == 1
    assert ran.out == b""
    assert "textveil: output: the output file cannot be written: " in ran.message
    assert sorted(os.listdir(tmp_path)) == before


def test_an_input_is_not_overwritten(cli: Callable, note: Path, tmp_path: Path) -> None:
    content = note.read_bytes()
    symlink, hard_link, folder_link = tmp_path / "symlink", tmp_path / "hard", tmp_path / "folder"
    symlink.symlink_to(note)
    os.link(note, hard_link)
    folder_link.symlink_to(tmp_path)
    other = tmp_path / "other.txt"
    other.write_bytes(b"of\n")
    outputs = [note, symlink, hard_link, folder_link / "note.txt", tmp_path / "x" / ".." / "note.txt"]
    (tmp_path / "x").mkdir()
    for output in outputs:
        for inputs in ([note], [other, note], [symlink], [hard_link, other]):
            ran = cli(*inputs, "-o", output)
            assert ran.code == 1
            assert ran.message == "textveil: output: the output is also an input; nothing was written\n"
            assert note.read_bytes() == content
    assert symlink.is_symlink()
    ran = cli("--text", "x", "-o", other)
    assert ran.code == 0


@posix
def test_standard_input_is_not_overwritten(command: Callable, note: Path, tiny_path: Path) -> None:
    """``textveil sanitize -o note.txt < note.txt``"""
    content = note.read_bytes()
    with note.open("rb") as file:
        ran = command("sanitize", "--bundle", tiny_path, "-o", note, stdin=file)
    assert ran.code == 1
    assert "the output is also an input" in ran.message
    assert note.read_bytes() == content


@posix
def test_what_is_no_file_is_not_replaced_by_one(cli: Callable, note: Path, folder: Path) -> None:
    """A device or a pipe given as output (``-o /dev/null``, ``-o /dev/stdout``) must still be one afterwards."""
    pipe = folder / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        cli(note, "-o", pipe)
        assert stat.S_ISFIFO(pipe.stat().st_mode)
    finally:
        os.close(reader)
    assert os.listdir(folder) == ["pipe"]


@posix
def test_a_pipe_without_a_path_is_written_to(cli: Callable, note: Path) -> None:
    """``-o /dev/stdout | cat``: the descriptor has a name of its own kind, under which no path leads to the pipe."""
    reader, writer = os.pipe()
    try:
        assert cli(note, "-o", f"/dev/fd/{writer}").code == 0
    finally:
        os.close(writer)
    with open(reader, "rb") as pipe:
        assert len(pipe.read().splitlines()) == len(note.read_bytes().splitlines())


@posix
def test_a_link_to_an_output_is_followed(cli: Callable, note: Path, folder: Path) -> None:
    """As with ``>``: the file that the link names is replaced, and the link stays."""
    target, link = folder / "out.txt", folder / "link"
    target.write_bytes(b"old")
    link.symlink_to(target)
    assert cli(note, "-o", link).code == 0
    assert link.is_symlink()
    assert target.read_bytes() != b"old"
