"""``textveil`` writes each output to its place, and changes no file after an error."""

import errno
import json
import os
import re
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from processes import TIMEOUT, start

posix = pytest.mark.skipif(os.name != "posix", reason="signals and pipes as POSIX has them")


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
    assert "--output out.txt: the name ends like plain text, but the output is JSON lines" in ran.message
    ran = cli("--json", "--text", "the", "--output", folder / "out.jsonl")
    assert json.loads((folder / "out.jsonl").read_text("utf-8"))["statement"]["tokens"] == 1
    assert sorted(os.listdir(folder)) == ["out.jsonl", "out.txt"]


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
        [note, "--epsilon", "7"],
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


@pytest.mark.parametrize("call", ["fsync", "replace", "fchmod"])
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO, errno.EDQUOT])
def test_a_disk_that_fails(
    cli: Callable, note: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, call: str, number: int
) -> None:
    def fail(*arguments: object, **options: object) -> None:
        raise OSError(number, os.strerror(number), "canary.txt")

    target = folder / "out.txt"
    target.write_bytes(b"precious")
    monkeypatch.setattr(f"textveil.storage.atomic_writes.os.{call}", fail)
    ran = cli(note, "-o", target)
    assert ran.code == 1
    assert ran.message.splitlines()[-1] == f"textveil: output: 'out.txt' cannot be written: {os.strerror(number)}"
    assert "canary" not in ran.message
    assert target.read_bytes() == b"precious"
    assert os.listdir(folder) == ["out.txt"]


@pytest.mark.full
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
    assert err.decode() == f"textveil: output: 'out.txt' cannot be written: {os.strerror(errno.EFBIG)}\n"
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
    assert "textveil: output: " in ran.message
    assert re.search(" cannot be written: | cannot write to standard output: ", ran.message)
    assert sorted(os.listdir(tmp_path)) == before


@pytest.mark.slow
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
            said = f"--output is also an input ({output.name!r}): name another file; nothing was written"
            assert ran.message == f"textveil: output: {said}\n"
            assert note.read_bytes() == content
    assert symlink.is_symlink()
    ran = cli("--text", "x", "-o", other)
    assert ran.code == 0


@pytest.mark.slow
@posix
def test_standard_input_is_not_overwritten(command: Callable, note: Path, tiny_path: Path) -> None:
    """The command is ``textveil sanitize -o note.txt < note.txt``."""
    content = note.read_bytes()
    with note.open("rb") as file:
        ran = command("sanitize", "--bundle", tiny_path, "-o", note, stdin=file)
    assert ran.code == 1
    assert "--output is also an input" in ran.message
    assert note.read_bytes() == content


@posix
def test_what_is_no_file_is_not_replaced_by_one(cli: Callable, note: Path, folder: Path) -> None:
    """A device or a pipe as output (``-o /dev/null``, ``-o /dev/stdout``) still is one afterwards."""
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
