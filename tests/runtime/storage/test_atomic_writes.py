"""Files and folders are written completely or not at all."""

import os
import re
import signal
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from textveil.errors import OutputError
from textveil.storage import atomic_writes, open_atomic_bytes, open_atomic_folder, open_atomic_text
from textveil.storage.atomic_writes import swap_names


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_text_and_bytes_replace_a_file_and_keep_its_permissions(tmp_path: Path) -> None:
    target = tmp_path / "out"
    target.write_text("old")
    target.chmod(0o640)
    with open_atomic_text(target) as write:
        write("é")
        assert target.read_text() == "old"
    assert target.read_bytes() == "é".encode()
    with open_atomic_bytes(target) as file:
        file.write(b"\x00\xff")
    assert target.read_bytes() == b"\x00\xff"
    assert target.stat().st_mode & 0o777 == 0o640
    assert names(tmp_path) == ["out"]


def test_a_folder_appears_with_all_of_its_files(tmp_path: Path) -> None:
    with open_atomic_folder(tmp_path / "new") as partial:
        (partial / "inner").mkdir()
        (partial / "inner" / "a").write_text("a")
        assert not (tmp_path / "new").exists()
    assert (tmp_path / "new" / "inner" / "a").read_text() == "a"
    assert names(tmp_path) == ["new"]


def test_a_folder_that_is_there_is_replaced_only_on_request(tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "kept").write_text("1")
    with (
        pytest.raises(OutputError, match=r"exists already: choose another name, or replace it \(--force\)"),
        open_atomic_folder(tmp_path / "old"),
    ):
        raise AssertionError
    with open_atomic_folder(tmp_path / "old", replace=True) as partial:
        (partial / "b").write_text("2")
    assert names(tmp_path / "old") == ["b"]
    assert names(tmp_path) == ["old"]


def test_what_came_while_a_folder_was_filled_is_kept(tmp_path: Path) -> None:
    def fill() -> None:
        with open_atomic_folder(tmp_path / "new"):
            (tmp_path / "new").mkdir()
            (tmp_path / "new" / "theirs").write_text("1")

    with pytest.raises(OutputError, match=r"exists already: choose another name, or replace it \(--force\)"):
        fill()
    assert names(tmp_path / "new") == ["theirs"]
    (tmp_path / "file").write_text("1")
    with (
        pytest.raises(OutputError, match=r"exists already: choose another name, or replace it \(--force\)"),
        open_atomic_folder(tmp_path / "file", replace=True),
    ):
        raise AssertionError


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, OSError])
@pytest.mark.parametrize("replaced", [False, True])
def test_what_fails_inside_leaves_everything_as_it_was(
    tmp_path: Path, error: type[BaseException], replaced: bool
) -> None:
    folder, file = tmp_path / "folder", tmp_path / "file"
    if replaced:
        folder.mkdir()
        (folder / "kept").write_text("1")
        file.write_text("1")
    before = names(tmp_path)
    for writer in (lambda: open_atomic_folder(folder, replace=True), lambda: open_atomic_bytes(file)):
        with pytest.raises(OutputError if error is OSError else error), writer():
            raise error
    assert names(tmp_path) == before
    if replaced:
        assert (names(folder), file.read_text()) == (["kept"], "1")


def test_a_rename_that_fails_puts_the_old_folder_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where two names cannot be exchanged."""
    monkeypatch.setattr("textveil.storage.atomic_writes.swap_names", lambda first, second: False)
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "kept").write_text("1")
    rename, calls = os.rename, []

    def second_fails(source: Path, target: Path) -> None:
        calls.append(source)
        if len(calls) == 2:
            raise OSError(5, "planted")
        rename(source, target)

    monkeypatch.setattr(os, "rename", second_fails)
    with pytest.raises(OutputError), open_atomic_folder(folder, replace=True) as partial:
        (partial / "new").write_text("2")
    assert names(folder) == ["kept"]
    assert names(tmp_path) == ["folder"]


def test_a_folder_changes_places_with_the_one_it_replaces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """At no moment there is nothing: no other rename is made, and the old one has gone in the end."""
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
    if not swap_names(tmp_path / "one", tmp_path / "other"):
        pytest.skip("this system cannot exchange two names")
    folder = tmp_path / "one"
    (folder / "old").write_text("1")
    renamed = []
    monkeypatch.setattr(os, "rename", lambda *names: renamed.append(names))
    with open_atomic_folder(folder, replace=True) as partial:
        (partial / "new").write_text("2")
    assert (renamed, names(folder), names(tmp_path)) == ([], ["new"], ["one", "other"])


def test_names_that_cannot_be_swapped_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "one").mkdir()
    assert not swap_names(tmp_path / "one", tmp_path / "nothing")
    (tmp_path / "other").mkdir()
    monkeypatch.setattr("sys.platform", "another")
    assert not swap_names(tmp_path / "one", tmp_path / "other")
    assert names(tmp_path) == ["one", "other"]


# --- after kill -9 ---------------------------------------------------------------------------------------------------


def killed_while(write: str, folder: Path) -> None:
    """Run a writer in a process that is killed while it writes."""
    child = os.fork()
    if child == 0:
        try:
            if write == "file":
                with open_atomic_bytes(folder / "out") as file:
                    file.write(b"half" * 10_000)
                    file.flush()
                    os.kill(os.getpid(), signal.SIGKILL)
            with open_atomic_folder(folder / "out") as partial:
                (partial / "half").write_text("half")
                os.kill(os.getpid(), signal.SIGKILL)
        finally:
            os._exit(1)
    _, status = os.waitpid(child, 0)
    assert os.WTERMSIG(status) == signal.SIGKILL


def test_an_unnamed_file_leaves_nothing(tmp_path: Path) -> None:
    descriptor = atomic_writes.open_unnamed_file(tmp_path)
    if descriptor is None:
        pytest.skip("this file system has no unnamed files")
    os.close(descriptor)
    killed_while("file", tmp_path)
    assert names(tmp_path) == []


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_what_was_left_is_removed_at_the_next_start(tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where there are no unnamed files, and of no other name, user or form."""
    monkeypatch.setattr("textveil.storage.atomic_writes.open_unnamed_file", lambda folder: None)
    killed_while(kind, tmp_path)
    (left,) = names(tmp_path)
    assert re.fullmatch(r"\.textveil-[0-9a-f]{16}-[0-9a-f]{16}\.partial", left)
    others = [".out.template", ".out.abcdefgh", f"{left}.txt", left.upper(), left.replace(".partial", ".old")]
    others.append(atomic_writes.make_temporary_name(tmp_path / "other").name)
    for name in others:
        (tmp_path / name).write_text("theirs")
    (link := atomic_writes.make_temporary_name(tmp_path / "out")).symlink_to(tmp_path / others[0])
    with open_atomic_bytes(tmp_path / "out") as file:
        file.write(b"whole")
    assert names(tmp_path) == sorted([*others, link.name, "out"])


def test_a_folder_that_stepped_aside_is_not_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed between two renames, there is no other copy of it."""
    monkeypatch.setattr("textveil.storage.atomic_writes.swap_names", lambda first, second: False)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "kept").write_text("1")
    rename = os.rename

    def killed(source: object, target: object) -> None:
        rename(source, target)  # type: ignore[arg-type]
        os.kill(os.getpid(), signal.SIGKILL)

    child = os.fork()
    if child == 0:
        monkeypatch.setattr(os, "rename", killed)
        with open_atomic_folder(tmp_path / "out", replace=True):
            pass
    os.waitpid(child, 0)
    for name in ("out", "out.old"):
        with open_atomic_bytes(tmp_path / name) as file:
            file.write(b"whole")
    (aside,) = (path for path in tmp_path.iterdir() if path.is_dir())
    assert names(aside) == ["kept"]


def test_what_is_being_written_is_not_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("textveil.storage.atomic_writes.open_unnamed_file", lambda folder: None)
    with open_atomic_bytes(tmp_path / "out") as first:
        first.write(b"first")
        with open_atomic_bytes(tmp_path / "out") as second:
            second.write(b"second")
        assert (tmp_path / "out").read_bytes() == b"second"
    assert (tmp_path / "out").read_bytes() == b"first"
    with open_atomic_folder(tmp_path / "folder") as partial:
        (partial / "a").write_text("a")
        atomic_writes.remove_abandoned(tmp_path / "folder")
        assert (partial / "a").exists()
    assert names(tmp_path) == ["folder", "out"]


# --- several writers of one place ------------------------------------------------------------------------------------


def write_file(path: Path, content: bytes) -> None:
    with open_atomic_bytes(path) as file:
        file.write(content)


def write_folder(path: Path, content: bytes) -> None:
    with open_atomic_folder(path, replace=True) as partial:
        (partial / "content").write_bytes(content)


def write_once(path: Path, content: bytes) -> None:
    with open_atomic_bytes(path, private=True, replace=False) as file:
        file.write(content)


WRITERS = {"file": write_file, "folder": write_folder, "new file": write_once}
#: Every step between two of which another writer can come.
STEPS = {
    "file": ["lock_temporary", "duplicate_lock", "name_file", "os.fsync", "os.replace"],
    "file with a name": ["os.open", "lock_temporary", "duplicate_lock", "os.fsync", "os.replace"],
    "folder": ["os.mkdir", "os.open", "lock_temporary", "os.chmod", "os.rename"],
    "folder that is there": ["os.mkdir", "os.open", "lock_temporary", "os.chmod", "swap_names"],
    "new file": ["lock_temporary", "duplicate_lock", "name_file", "os.fsync"],
    "new file with a name": ["os.open", "lock_temporary", "duplicate_lock", "os.fsync", "os.link"],
}


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize(("way", "step"), [(way, step) for way, steps in STEPS.items() for step in steps])
def test_a_writer_that_comes_at_any_step_takes_nothing_away(
    tmp_path: Path, way: str, step: str, when: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both succeed, the second in the middle of the first; what is there in the end is whole, and nothing else is."""
    kind = way.removesuffix(" with a name").removesuffix(" that is there")
    write, place = WRITERS[kind], tmp_path / "out"
    if way == "folder that is there":
        place.mkdir()
    elif way.endswith(" with a name"):
        monkeypatch.setattr(atomic_writes, "open_unnamed_file", lambda folder: None)
    came: list[str] = []

    def interrupted(real: Callable, *given: object, **options: object) -> object:
        if came:
            return real(*given, **options)
        came.append(step)
        if when == "before":
            write(place, b"second")
        done = real(*given, **options)
        if when == "after":
            write(place, b"second")
        return done

    def hook(owner: object, name: str) -> None:
        real = getattr(owner, name)
        monkeypatch.setattr(owner, name, lambda *given, **options: interrupted(real, *given, **options))

    hook(os if step.startswith("os.") else atomic_writes, step.removeprefix("os."))
    write(place, b"first")
    monkeypatch.undo()
    assert came == [step]
    assert names(tmp_path) == ["out"]
    content = (place / "content" if kind == "folder" else place).read_bytes()
    assert content == b"second" if kind == "new file" and when == "before" else content in (b"first", b"second")


@pytest.mark.full
@pytest.mark.parametrize("way", ["file", "file with a name", "folder", "new file"])
def test_many_writers_of_one_place(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """8 processes, 2,000 rounds each: none fails, and a reader sees whole contents of one of them."""
    kind = way.removesuffix(" with a name")
    if kind != way:
        monkeypatch.setattr(atomic_writes, "open_unnamed_file", lambda folder: None)
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as name:
        place = Path(name) / "out"
        children = []
        for number in range(8):
            if not (child := os.fork()):
                try:
                    for _ in range(2_000):
                        WRITERS[kind](place, b"%d" % number * 10_000)
                        if kind != "folder":
                            content = place.read_bytes()
                            assert content == content[:1] * 10_000
                    os._exit(0)
                finally:
                    os._exit(1)
            children.append(child)
        assert [os.waitpid(child, 0)[1] for child in children] == [0] * 8
        assert names(place.parent) == ["out"]
