"""Runs over files and folders: shape of the output, skipped files, resuming, workers, and failures."""

import gzip
import json
import os
import signal
import socket
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import textveil_cli.files.workers as workers_module
from interruption import interrupted
from processes import TIMEOUT, die, start, writes_below
from textveil_cli.errors import FileChanged
from textveil_cli.files import ColumnSelection, find_source_files, get_manifest_path
from textveil_cli.files.pipeline import _iterate_steps
from textveil_cli.files.sources import SourceFile

posix = pytest.mark.skipif(os.name != "posix", reason="links, signals and limits as POSIX has them")
TABLE = b"id,note\n1,the doctor\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Four tables, one packed and one deeper, and three files that are left out."""
    top = tmp_path / "in"
    (top / "deep" / "er").mkdir(parents=True)
    (top / ".hidden").mkdir()
    (top / "a.csv").write_bytes(TABLE)
    (top / "B.CSV").write_bytes(TABLE)
    (top / "deep" / "c.csv.gz").write_bytes(gzip.compress(TABLE))
    (top / "deep" / "er" / "d.csv").write_bytes(TABLE)
    for name in ("notes.txt", "deep/e.csv.bak", ".hidden/f.csv", ".g.csv"):
        (top / name).write_bytes(b"x")
    return top


def files_in(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def test_a_folder_keeps_its_shape(tables: Callable, folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    ran = tables(folder, "-o", out, "--json")
    assert ran.code == 0
    assert files_in(out) == ["B.CSV", "a.csv", "deep/c.csv.gz", "deep/er/d.csv"]
    assert get_manifest_path(out) == tmp_path / "out.textveil-manifest", "beside the folder, which is what is sent"
    assert get_manifest_path(out).is_file()
    assert (out / "a.csv").read_bytes() == b"id,note\n1,zz zz\n"
    packed = (out / "deep" / "c.csv.gz").read_bytes()
    assert gzip.decompress(packed) == b"id,note\n1,zz zz\n"
    assert packed[3:8] == bytes(5), "neither a name nor a time is in it"
    said = json.loads(ran.text)
    assert (said["rows"], said["documents"], said["tokens"], said["max_tokens"]) == (4, 4, 8, 2)
    assert said["statement"]["tokens"] == 8
    assert said["rewritten_columns"] == ["note"]
    assert said["unprotected"] == ["file and folder names", "column names", "other columns"]
    assert ran.message == "textveil: private, for this device only: 2 files of other formats ignored\n"


@posix
def test_pipes_and_sockets_in_a_folder_are_left_out(tables: Callable, folder: Path, tmp_path: Path) -> None:
    """To read one might never end."""
    os.mkfifo(folder / "pipe.csv")
    with socket.socket(socket.AF_UNIX) as listening:
        here = os.getcwd()
        os.chdir(folder)  # the name of a socket is short
        try:
            listening.bind("socket.csv")
        finally:
            os.chdir(here)
        ran = tables(folder, "-o", tmp_path / "out")
    assert ran.code == 0
    assert files_in(tmp_path / "out") == ["B.CSV", "a.csv", "deep/c.csv.gz", "deep/er/d.csv"]
    assert "4 files" in ran.message


def test_several_files_and_one_file_into_a_folder(tables: Callable, folder: Path, tmp_path: Path) -> None:
    assert tables(folder / "a.csv", folder / "B.CSV", "-o", tmp_path / "two").code == 0
    assert files_in(tmp_path / "two") == ["B.CSV", "a.csv"]
    (tmp_path / "one").mkdir()
    assert tables(folder / "a.csv", "-o", tmp_path / "one").code == 0
    assert files_in(tmp_path / "one") == ["a.csv"]
    assert "several files need -o FOLDER" in tables(folder / "a.csv", folder / "B.CSV").message


def test_packing_follows_the_names(tables: Callable, folder: Path, tmp_path: Path) -> None:
    assert tables(folder / "deep" / "c.csv.gz", "-o", tmp_path / "out.csv").code == 0
    assert (tmp_path / "out.csv").read_bytes() == b"id,note\n1,zz zz\n"
    assert tables(folder / "a.csv", "-o", tmp_path / "out.csv.gz").code == 0
    assert gzip.decompress((tmp_path / "out.csv.gz").read_bytes()) == b"id,note\n1,zz zz\n"


def test_zstd(tables: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    zstandard = pytest.importorskip("zstandard", reason="zstandard is not installed")
    path, out = tmp_path / "t.csv.zst", tmp_path / "out.csv.zst"
    frame = zstandard.ZstdCompressor().compress
    rows = b"".join(b"%d,the doctor\n" % number for number in range(5000))
    path.write_bytes(frame(b"id,note\n") + frame(rows))
    assert tables(path, "-o", out).code == 0
    unpacked = zstandard.ZstdDecompressor().stream_reader(out.read_bytes()).read()
    assert unpacked == b"id,note\n" + rows.replace(b"the doctor", b"zz zz")
    for damaged in (path.read_bytes()[:-9], b"id,note\n"):
        path.write_bytes(damaged)
        assert (
            tables(path, "-o", out).message
            == "textveil: input: t.csv.zst: not a zstd file, or damaged: compress it again or remove .zst from its "
            "name\n"
        )
    monkeypatch.setitem(__import__("sys").modules, "zstandard", None)
    assert ".zst needs zstandard: pip install 'textveil-cli[zstd]'" in tables(path, "-o", out).message


def test_a_file_stands_where_the_folder_of_an_output_would(tables: Callable, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "out").write_text("kept")
    ran = tables(folder / "a.csv", "-o", tmp_path / "out" / "a.csv")
    assert ran.message == "textveil: output: cannot create the folder of the output\n"
    assert (tmp_path / "out").read_text() == "kept"


def test_damaged_gzip_files(tables: Callable, tmp_path: Path) -> None:
    path = tmp_path / "t.csv.gz"
    good = gzip.compress(TABLE * 100)
    for damaged in (good[:-9], TABLE, good[:20] + b"\0\0\0" + good[23:]):
        path.write_bytes(damaged)
        ran = tables(path, "-o", tmp_path / "out.csv")
        assert (
            ran.message
            == "textveil: input: t.csv.gz: not a gzip file, or damaged: compress it again or remove .gz from its name\n"
        )
    assert not (tmp_path / "out.csv").exists()


def test_plain_text_in_folders(here: Callable, flat_bundle: Path, nearest: None, tmp_path: Path) -> None:
    top, out = tmp_path / "in", tmp_path / "out"
    (top / "deep").mkdir(parents=True)
    (top / "a.txt").write_bytes(b"\xef\xbb\xbfThe doctor,\r\n\r\nnurse")
    (top / "deep" / "b.txt.gz").write_bytes(gzip.compress(b"the\n"))
    run = ("sanitize", "--bundle", flat_bundle, top, "-o")
    ran = here(*run, out)
    assert (out / "a.txt").read_bytes() == b"\xef\xbb\xbfZz zz,\r\n\r\nzz"
    assert gzip.decompress((out / "deep" / "b.txt.gz").read_bytes()) == b"zz\n"
    assert ran.message.startswith("textveil: 2 files, 3 lines with at most 2 tokens each. ")
    (top / "a.txt").write_bytes(b'{"a": "b"}\n')
    ran = here(*run, tmp_path / "other")
    assert "looks-structured: a.txt: looks like JSON lines" in ran.message
    assert here(*run, tmp_path / "other", "--plain").code == 0


# --- what goes wrong -----------------------------------------------------------------------------------------------


def test_finished_files_stay_after_an_error(tables: Callable, folder: Path, tmp_path: Path) -> None:
    """The run can be resumed: finished files are not rewritten again."""
    out = tmp_path / "out"
    (folder / "deep" / "er" / "d.csv").write_bytes(b"id,note\n1,2,3\n")
    ran = tables(folder, "-o", out)
    assert ran.message.startswith(
        "textveil: bad-row: deep/er/d.csv, row 1 (line 2): 3 cells, but the first row has 2 (--rejected-rows FILE "
    )
    assert files_in(out) == ["B.CSV", "a.csv", "deep/c.csv.gz"]
    (folder / "deep" / "er" / "d.csv").write_bytes(TABLE)
    assert tables(folder, "-o", out).message == (
        "textveil: resume: the output folder is not empty: choose a new one, or resume its run with --resume\n"
    )
    times = {path: path.stat().st_mtime_ns for path in out.rglob("*.csv")}
    ran = tables(folder, "-o", out, "--resume")
    assert ran.code == 0
    assert "private, for this device only: 3 files finished by an earlier run, skipped" in ran.message
    assert "4 files, 4 rows, 4 texts" in ran.message
    assert (
        " 1 column rewritten; column names and all other columns are copied unprotected. File and folder names are "
        "copied unprotected.\n"
    ) in ran.message
    assert {path: path.stat().st_mtime_ns for path in times} == times
    assert (out / "deep" / "er" / "d.csv").exists()


def test_a_run_that_finished_nothing_can_be_begun_anew(tables: Callable, folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    (folder / "B.CSV").write_bytes(b"")
    assert tables(folder, "-o", out).code == 1
    (folder / "B.CSV").write_bytes(TABLE)
    assert tables(folder, "-o", out).code == 0


def test_a_run_is_not_gone_on_with_otherwise(tables: Callable, folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert tables(folder, "-o", out).code == 0
    assert "began with other options" in tables(folder, "-o", out, "--resume", "--epsilon", "16").message
    assert "began with other options" in tables(folder, "-o", out, "--resume", "-c", "id").message
    (folder / "a.csv").write_bytes(TABLE + b"2,nurse\n")
    ran = tables(folder, "-o", out, "--resume")
    assert ran.message.startswith("textveil: file-changed: a.csv: the file changed after its output was written")
    (out / "a.csv").unlink()
    assert tables(folder, "-o", out, "--resume").code == 0
    assert (out / "a.csv").read_bytes() == b"id,note\n1,zz zz\n2,zz\n"
    get_manifest_path(out).unlink()
    assert (
        "the run manifest out.textveil-manifest beside the output folder is missing"
        in tables(folder, "-o", out, "--resume").message
    )


def test_the_record_of_a_folder_given_with_dots_is_beside_it(tables: Callable, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    assert tables(folder, "-o", f"{tmp_path}/out/../out/.").code == 0
    assert (tmp_path / "out.textveil-manifest").is_file()
    assert not any("manifest" in name for name in files_in(tmp_path / "out"))


def test_a_record_that_was_not_written_to_its_end(tables: Callable, folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert tables(folder, "-o", out).code == 0
    record = get_manifest_path(out).read_bytes()
    lines = record.splitlines(keepends=True)
    get_manifest_path(out).write_bytes(b"".join(lines[:3]) + lines[3][:10])
    for later in ("deep/c.csv.gz", "deep/er/d.csv"):  # an output has its name after its line in the record
        (out / later).unlink()
    ran = tables(folder, "-o", out, "--resume")
    assert ran.code == 0
    assert "2 files finished by an earlier run" in ran.message
    entries = [json.loads(line) for line in get_manifest_path(out).read_bytes().splitlines()]
    assert [entry.get("file") for entry in entries] == [None, "B.CSV", "a.csv", "deep/c.csv.gz", "deep/er/d.csv", None]


def test_an_interrupt_leaves_finished_files_and_nothing_half(
    tables: Callable, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    with interrupted(monkeypatch, renaming=3):
        assert tables(folder, "-o", out).code == 130
    assert files_in(out) == ["B.CSV", "a.csv"]
    ran = tables(folder, "-o", out, "--resume")
    assert "2 files finished by an earlier run" in ran.message
    assert files_in(out) == ["B.CSV", "a.csv", "deep/c.csv.gz", "deep/er/d.csv"]


@posix
def test_links_in_a_circle(tables: Callable, folder: Path, tmp_path: Path) -> None:
    (folder / "deep" / "er" / "back").symlink_to(folder)
    ran = tables(folder, "-o", tmp_path / "out")
    assert ran.code == 1
    assert ran.message == "textveil: input: input 1 of 1, deep/er/back: a link forms a cycle\n"
    assert not (tmp_path / "out").exists()


@posix
def test_links_that_lead_elsewhere_are_followed(tables: Callable, folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "x.csv").write_bytes(TABLE)
    (folder / "first").symlink_to(other)
    (folder / "second").symlink_to(other)
    assert tables(folder, "-o", tmp_path / "out").code == 0
    assert {"first/x.csv", "second/x.csv"} <= set(files_in(tmp_path / "out"))


def test_outputs_that_are_inputs(tables: Callable, folder: Path) -> None:
    assert "--output is also an input" in tables(folder / "a.csv", "-o", folder / "a.csv").message
    for out in (folder, folder / "out", folder / "deep" / ".." / "x"):
        assert "the output folder is inside an input folder" in tables(folder, "-o", out).message
    assert (folder / "a.csv").read_bytes() == TABLE


def test_a_file_that_changes_while_it_is_read(folder: Path) -> None:
    path = folder / "a.csv"
    source = SourceFile(path=path, name="a.csv", target=None, size=path.stat().st_size)
    steps = _iterate_steps([source], ColumnSelection(format="csv", columns=("note",)), lambda name, texts: None)
    assert next(steps).file is not None
    with path.open("ab") as file:
        file.write(b"2,nurse\n")
    *_, last = steps
    assert isinstance(last.error, FileChanged)
    assert str(last.error) == "a.csv: the file changed while it was read"


def test_names_in_messages_are_one_line(folder: Path, tmp_path: Path) -> None:
    if os.name != "posix":
        pytest.skip("such names are POSIX's")
    (folder / "a\n\x1b[31m.csv").write_bytes(TABLE)
    names = [source.name for source in find_source_files([str(folder)], "csv", tmp_path / "out").files]
    assert "a??[31m.csv" in names


@pytest.mark.slow
def test_workers_draw_the_same_files(here: Callable, folder: Path, tmp_path: Path, tiny_path: Path) -> None:
    out = tmp_path / "out"
    (folder / "a.csv").write_bytes(b"id,note\n" + b"".join(b"%d,the doctor\n" % number for number in range(40_000)))
    arguments = ["sanitize", "--bundle", tiny_path, "--csv", "-c", "note", folder, "-o", out, "--workers", "2"]
    ran = here(*arguments)
    assert ran.code == 0
    assert "40,003 texts" in ran.message
    rows = (out / "a.csv").read_bytes().splitlines()
    assert [row.split(b",")[0] for row in rows[1:]] == [b"%d" % number for number in range(40_000)]
    assert files_in(out) == ["B.CSV", "a.csv", "deep/c.csv.gz", "deep/er/d.csv"]


@posix
@pytest.mark.slow
def test_a_worker_that_dies(tables: Callable, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers_module, "_start_worker", die)
    ran = tables(folder, "-o", tmp_path / "out", "--workers", "2")
    assert ran.code == 1
    assert (
        ran.message
        == "textveil: worker: a worker process was killed, possibly for lack of memory: use fewer --workers\n"
    )
    assert files_in(tmp_path / "out") == []


@posix
@pytest.mark.slow
@pytest.mark.parametrize("workers", ["1", "2"])
def test_ctrl_c_in_the_middle(tiny_path: Path, folder: Path, tmp_path: Path, workers: str) -> None:
    """A signal to the whole group, as a terminal sends it: exit code 130, no traceback, nothing half."""
    out = tmp_path / "out"
    with (folder / "deep" / "er" / "d.csv").open("wb") as file:
        file.write(b"id,note\n" + b"1,the doctor said the biopsy was clean\n" * 500_000)
    arguments = ("sanitize", "--bundle", tiny_path, "--csv", "-c", "note", folder, "-o", out, "--workers", workers)
    with start(*arguments, start_new_session=True) as process:
        assert process.stderr is not None
        for _ in range(TIMEOUT * 100):  # until the large file is being written
            if writes_below(process, out / "deep" / "er"):
                break
            time.sleep(0.01)
        os.killpg(process.pid, signal.SIGINT)
        assert process.wait(TIMEOUT) == 130
        said = b"finished files are in out; run the same command with --resume to continue"
        assert process.stderr.read() == b"textveil: interrupted: " + said + b"\n"
    assert files_in(out) == ["B.CSV", "a.csv", "deep/c.csv.gz"]


@posix
def test_a_full_disk(forked: Callable, tiny_path: Path, tmp_path: Path) -> None:
    """A limit on the size of files stands in for the disk."""
    pytest.importorskip("resource")
    path, out = tmp_path / "t.csv", tmp_path / "out.csv"
    path.write_bytes(b"id,note\n" + b"1,the doctor\n" * 5000)
    limit = (
        "import resource, signal\nsignal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))"
    )
    ran = forked("sanitize", "--bundle", tiny_path, "--csv", "-c", "note", path, "-o", out, before=limit)
    assert ran.code == 1
    assert ran.message == "textveil: output: 'out.csv' cannot be written: File too large\n"
    assert not out.exists()
    assert files_in(tmp_path) == ["t.csv"]
