"""A run over a folder never replaces, extends or removes files of others."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from textveil_cli.errors import ResumeError
from textveil_cli.files import RejectedRowsFile, RunManifest, get_manifest_path

pytestmark = pytest.mark.skipif(os.name != "posix", reason="links and pipes as POSIX has them")
TABLE = b"id,note\n1,the doctor\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    top = tmp_path / "in"
    (top / "deep" / "er").mkdir(parents=True)
    for name in ("a.csv", "b.csv", "deep/er/d.csv"):
        (top / name).write_bytes(TABLE)
    return top


def test_a_file_that_is_no_record_is_neither_removed_nor_cut(tables: Callable, folder: Path, tmp_path: Path) -> None:
    out, other_version = tmp_path / "out", b'{"version": 2, "settings_hash": "x"}\n'
    for content in (b"theirs", b"theirs\nwithout an end", b'{"version": 1, "sett1ngs', other_version):
        out.mkdir(exist_ok=True)
        get_manifest_path(out).write_bytes(content)
        for more in ([], ["--resume"]):
            ran = tables(folder, "-o", out, *more)
            assert (
                ran.message
                == "textveil: resume: the run manifest of the output folder is damaged: choose a new output folder\n"
            )
        assert get_manifest_path(out).read_bytes() == content
    get_manifest_path(out).unlink()
    (tmp_path / "theirs").write_bytes(b"")
    get_manifest_path(out).symlink_to(tmp_path / "theirs")
    for more in ([], ["--resume"]):
        assert tables(folder, "-o", out, *more).code == 1
    assert (tmp_path / "theirs").read_bytes() == b""


def test_an_output_that_somebody_else_wrote_is_not_replaced(tables: Callable, folder: Path, tmp_path: Path) -> None:
    """Before the first run the folder was empty: what has no line in the record, or another size, is not of the run."""
    out = tmp_path / "out"
    (folder / "deep" / "er" / "d.csv").write_bytes(b"id,note\n1,2,3\n")
    assert tables(folder, "-o", out).code == 1
    (folder / "deep" / "er" / "d.csv").write_bytes(TABLE)
    (out / "deep" / "er").mkdir(exist_ok=True)
    for place in (out / "deep" / "er" / "d.csv", out / "a.csv"):
        before = place.read_bytes() if place.exists() else None
        place.write_bytes(b"theirs")
        ran = tables(folder, "-o", out, "--resume")
        assert (
            f"{place.relative_to(out)}: its output differs from what this run wrote; delete the output" in ran.message
        )
        assert place.read_bytes() == b"theirs"
        place.unlink() if before is None else place.write_bytes(before)
    assert tables(folder, "-o", out, "--resume").code == 0


@pytest.mark.parametrize("content", [b"theirs\n", b'{"id": 1}\n', None])
def test_a_file_that_is_no_quarantine_is_not_added_to(
    tables: Callable, folder: Path, tmp_path: Path, content: bytes | None
) -> None:
    out, theirs = tmp_path / "out", tmp_path / "theirs"
    assert tables(folder, "-o", out, "--rejected-rows", tmp_path / "bad").code == 0
    os.mkfifo(theirs, 0o644) if content is None else theirs.write_bytes(content)
    mode = theirs.stat().st_mode
    ran = tables(folder, "-o", out, "--resume", "--rejected-rows", theirs)
    assert ran.message == (
        "textveil: output: --rejected-rows: the existing file is not a file of rejected rows: choose another name\n"
    )
    assert theirs.stat().st_mode == mode
    assert content is None or theirs.read_bytes() == content


def test_a_quarantine_that_was_replaced_meanwhile_is_not_removed(tmp_path: Path) -> None:
    quarantine = RejectedRowsFile(tmp_path / "bad", resume=False)
    (tmp_path / "theirs").write_bytes(b"")
    (tmp_path / "theirs").replace(tmp_path / "bad")
    quarantine.close()
    assert (tmp_path / "bad").exists()
    RejectedRowsFile(tmp_path / "bad", resume=True).close()
    assert not (tmp_path / "bad").exists()


def test_one_run_at_a_time_writes_to_a_folder(tables: Callable, folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    first = RunManifest(out, "settings", resume=False)
    for more in ([], ["--resume"]):
        ran = tables(folder, "-o", out, *more)
        assert (ran.code, ran.out) == (1, b"")
        assert ran.message.startswith("textveil: resume: another run uses the output folder: ")
    assert list(out.iterdir()) == []
    first.close()
    with pytest.raises(ResumeError, match="other options"):  # which leaves the folder to others again
        RunManifest(out, "others", resume=True)
    assert tables(folder, "-o", out).code == 0
