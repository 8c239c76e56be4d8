"""``textveil`` as a process handles pipes, signals, closed streams and full disks."""

import os
import re
import select
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import textveil
from processes import TIMEOUT, answer, start, writes_below
from small_encoders import LINE, pinned
from textveil.bundle import find_artifact

posix = pytest.mark.skipif(os.name != "posix", reason="signals and pipes as POSIX has them")
full_device = pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")


# --- data in, data out, as processes -------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_sentence_with_the_built_in_bundle(command: Callable) -> None:
    ran = command("sanitize", "--protect", "words", "--text", "My doctor in Boston said the biopsy was clean.")
    assert ran.code == 0
    assert len(ran.text.split()) == 9
    assert ran.text.endswith(".\n")
    assert re.fullmatch(
        r"textveil: Kept: function words\. Replaced at random: listed names, numbers\. Randomized: 4 other "
        r"words, epsilon 10 per word, possibly unchanged\. The text as a whole is not protected\.\n",
        ran.message,
    )
    ran = command(
        "sanitize",
        "--bundle",
        find_artifact("english-santext"),
        "--text",
        "My doctor in Boston said the biopsy was clean.",
    )
    assert re.fullmatch(
        r"textveil: Kept: punctuation, common words chosen at random\. Randomized: 9 tokens, epsilon [\d.]+ d \+ "
        r"1\.204 per token \(certified metric DP, certificate not recomputed; d is the distance of two words\)\. "
        r"The text as a whole is not protected\.\n",
        ran.message,
    )


def test_standard_input_to_standard_output(command: Callable, tiny_path: Path) -> None:
    ran = command("sanitize", "--bundle", tiny_path, stdin=b"The doctor,\r\n\r\n  zzz\tof the\nlast line")
    assert ran.code == 0
    assert re.fullmatch(rb"\S+ \S+,\r\n\r\n  \S+\t\S+ \S+\n\S+ \S+", ran.out)
    assert ran.message.startswith("textveil: standard input: 4 documents. Kept: punctuation, ")
    assert "Randomized: 7 tokens," in ran.message


@pytest.mark.slow
def test_the_module_and_the_script_are_one(command: Callable) -> None:
    script = Path(sys.executable).with_name("textveil")
    if not script.exists():
        pytest.skip("the textveil script is not beside this Python")
    done = subprocess.run([script, "--version"], capture_output=True, timeout=TIMEOUT, check=True)
    assert done.stdout == command("--version").out == f"textveil {textveil.__version__}\n".encode()


@pytest.fixture(params=["sanitize", "encode"])
def releasing(request: pytest.FixtureRequest, tiny_path: Path) -> tuple[list[str | Path], bytes]:
    """Return a command that releases text, and the output for its line of two words."""
    if request.param == "sanitize":
        return ["sanitize", "--bundle", tiny_path], rb"\S+ \S+\n"
    return ["encode", *pinned(request.getfixturevalue("tiny_encoder"))], LINE


@pytest.mark.slow
@posix
def test_every_line_is_answered_before_the_next_is_read(tiny_path: Path, tiny_encoder: Path) -> None:
    for command, answers in (
        (("sanitize", "--bundle", tiny_path), (rb"\S+ \S+\n", rb"\n", rb"\S+, \S+!\r\n")),
        (("encode", *pinned(tiny_encoder)), (LINE, LINE, LINE)),
    ):
        with start(*command) as process:
            assert process.stdin is not None
            for line, expected in zip((b"the doctor\n", b"\n", b"zzz, of!\r\n"), answers, strict=True):
                process.stdin.write(line)
                process.stdin.flush()
                assert re.fullmatch(expected, answer(process))
            process.stdin.close()
            assert process.wait(TIMEOUT) == 0


@pytest.mark.slow
@posix
def test_a_closed_pipe_ends_quietly(releasing: tuple[list[str | Path], bytes], tmp_path: Path) -> None:
    """The command is ``textveil sanitize FILE | head -1``."""
    command, line = releasing
    path = tmp_path / "long.txt"
    path.write_bytes(b"the doctor\n" * (400_000 if command[0] == "sanitize" else 20_000))
    with start(*command, path, stdin=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert re.fullmatch(line, process.stdout.readline())
        process.stdout.close()
        assert process.wait(TIMEOUT) in (-signal.SIGPIPE, 1)
        assert process.stderr.read() == b""


@pytest.mark.slow
@posix
@pytest.mark.parametrize("to_file", [False, True])
def test_an_interrupt_ends_quietly(releasing: tuple[list[str | Path], bytes], tmp_path: Path, to_file: bool) -> None:
    """Ctrl-C: exit code 130, no traceback, and no half of a file."""
    command, _ = releasing
    with start(*command, *(["-o", tmp_path / "out.txt"] if to_file else [])) as process:
        assert process.stdin is not None
        assert process.stderr is not None
        process.stdin.write(b"the doctor\n" * (4000 if to_file else 1))
        process.stdin.flush()
        if to_file:
            for _ in range(TIMEOUT * 100):  # until something is in the partial file: the signal falls into the work
                if writes_below(process, tmp_path):
                    break
                select.select([], [], [], 0.01)
        else:
            answer(process)
        process.send_signal(signal.SIGINT)
        assert process.wait(TIMEOUT) == 130
        kept = b"nothing was written to out.txt" if to_file else b"output printed so far remains valid"
        assert process.stderr.read() == b"textveil: interrupted: " + kept + b"\n"
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
def test_a_full_disk_under_standard_output(forked: Callable, arguments: list[str], tiny_path: Path) -> None:
    if arguments[0] in ("sanitize", "info", "inspect"):
        arguments = [arguments[0], "--bundle", str(tiny_path), *arguments[1:]]
    with open("/dev/full", "wb") as full:
        ran = forked(*arguments, stdout=full)
    assert ran.code == 1
    assert ran.message == "textveil: output: cannot write to standard output: No space left on device\n"


@pytest.mark.slow
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
    """Nobody reads standard error: the file is complete nevertheless, and alone."""
    target = tmp_path / "out.txt"
    receiver, sender = os.pipe()
    os.close(receiver)
    with start("sanitize", "--bundle", tiny_path, note, "-o", target, stderr=sender) as process:
        os.close(sender)
        process.wait(TIMEOUT)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["note.txt", "out.txt"]
    assert target.read_bytes().count(b"\n") == 3
