"""``textveil encode`` as a process: lines that come one by one, a closed pipe, and an interrupt."""

import os
import re
import select
import signal
import subprocess
from pathlib import Path

import pytest
from processes import TIMEOUT, answer, start, writes_below
from small_encoders import LINE, WARNING

posix = pytest.mark.skipif(os.name != "posix", reason="signals and pipes as POSIX has them")


@posix
def test_every_line_is_answered_before_the_next_is_read(tiny_encoder: Path) -> None:
    with start("encode", "--bundle", tiny_encoder) as process:
        assert process.stdin is not None
        for line in (b"the doctor\n", b"\n", b"zzz\r\n"):
            process.stdin.write(line)
            process.stdin.flush()
            assert re.fullmatch(LINE, answer(process))
        process.stdin.close()
        assert process.wait(TIMEOUT) == 0


@posix
def test_a_closed_pipe_ends_quietly(tiny_encoder: Path, tmp_path: Path) -> None:
    """``textveil encode FILE | head -1``"""
    path = tmp_path / "long.txt"
    path.write_bytes(b"the doctor said\n" * 20_000)
    with start("encode", "--bundle", tiny_encoder, path, stdin=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert re.fullmatch(LINE, process.stdout.readline())
        process.stdout.close()
        assert process.wait(TIMEOUT) in (-signal.SIGPIPE, 1)
        assert process.stderr.read() == WARNING.encode()


@posix
def test_an_interrupt_leaves_no_half_of_a_file(tiny_encoder: Path, tmp_path: Path) -> None:
    with start("encode", "--bundle", tiny_encoder, "-o", tmp_path / "out.tsv") as process:
        assert process.stdin is not None
        assert process.stderr is not None
        process.stdin.write(b"the doctor\n" * 4000)
        process.stdin.flush()
        for _ in range(TIMEOUT * 100):  # until something is in the partial file: the signal falls into the work
            if writes_below(process, tmp_path):
                break
            select.select([], [], [], 0.01)
        process.send_signal(signal.SIGINT)
        assert process.wait(TIMEOUT) == 130
        assert process.stderr.read() == WARNING.encode()
    assert list(tmp_path.iterdir()) == []
