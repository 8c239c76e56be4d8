"""Files, folders and a ledger work on a Windows-like system (``like_windows``), with names that differ in case only."""

from pathlib import Path

import pytest
from like_windows import run
from textveil.errors import OptionError, OutputError
from textveil_cli.files.sources import find_source_files, is_windows_name

COMMAND = """
from textveil_cli.__main__ import main
def textveil(*arguments):
    sys.argv = ["textveil", *arguments]
    try:
        main()
    except SystemExit as end:
        return end.code
"""


def test_the_planted_limits_are_there(tmp_path: Path) -> None:
    code = """
with open("there", "wb") as file:
    for work in (lambda: os.replace("there", "here"), lambda: os.unlink("there"), lambda: os.open(".", os.O_RDONLY)):
        try:
            work()
        except PermissionError:
            print("refused")
descriptor = os.open("there", os.O_RDONLY | os.O_BINARY)
try:
    os.fsync(descriptor)
except OSError:
    print("refused")
"""
    assert run(code, tmp_path) == "refused\n" * 4


def test_files_and_folders_are_replaced_whole(tmp_path: Path) -> None:
    code = """
from textveil.storage import open_atomic_folder, open_atomic_text
for content in ("old\\n", "new\\r\\n"):
    with open_atomic_text(Path("file")) as write:
        write(content)
    with open_atomic_folder(Path("folder"), replace=True) as folder:
        (folder / "part").write_bytes(content.encode())
print(Path("file").read_bytes(), Path("folder", "part").read_bytes(), sorted(os.listdir()))
"""
    assert run(code, tmp_path) == "b'new\\r\\n' b'new\\r\\n' ['file', 'folder']\n"


def test_a_file_that_somebody_has_open_stays_and_is_named(tmp_path: Path) -> None:
    (tmp_path / "kept").write_text("old")
    code = """
from textveil.storage import open_atomic_text
from textveil.errors import OutputError
with open("kept") as reader:
    try:
        with open_atomic_text(Path("kept")) as write:
            write("new")
    except OutputError as error:
        print(error)
    print(reader.read(), os.listdir())
"""
    assert run(code, tmp_path) == "'kept' cannot be written: Permission denied\nold ['kept']\n"


def test_a_table_with_crlf_a_quarantine_and_a_ledger(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "notes.csv").write_bytes(b"id,note\r\n1,The doctor\r\n2,a,b\r\n3,The nurse\r\n")
    code = """
end = textveil("sanitize", "-q", "in", "--csv", "--column", "note", "-o", "out", "--rejected-rows", "bad.jsonl",
    "--protect", "words", "--ledger", "ledger")
print(end, Path("out", "notes.csv").read_bytes().count(b"\\r\\n"), Path("bad.jsonl").read_bytes().count(b"\\n"))
print(textveil("ledger", "show", "ledger"))
"""
    said = run(COMMAND + code, tmp_path).splitlines()
    assert said[0] in ("0 3 1", "None 3 1")
    assert b"\r\n" not in (tmp_path / "bad.jsonl").read_bytes().replace(b"\\r\\n", b"")
    assert said[-1] in ("0", "None")


def test_names_that_differ_in_their_case_only_do_not_share_an_output(tmp_path: Path) -> None:
    """Where the folder of the output, or one it is copied to, does not tell them apart, one would replace the other."""
    inputs = [tmp_path / "a" / "Notes.txt", tmp_path / "b" / "notes.txt"]
    for path in inputs:
        path.parent.mkdir()
        path.write_text("x")
    with pytest.raises(
        OptionError,
        match=r"^two inputs have the same file name \(ignoring case\), so their outputs would collide: rename "
        r"one, or use two runs",
    ):
        find_source_files([str(path) for path in inputs], "lines", tmp_path / "out")


@pytest.mark.parametrize("name", ["CON", "aux.csv", "deep/nul", "com1.tar.gz", "Lpt9 .txt", "a./b.csv", "b.csv "])
def test_names_that_windows_does_not_have(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not is_windows_name(name)
    assert all(map(is_windows_name, ("console.csv", "com0", "deep/com10.csv", "a.b/.c", "nulls.txt", "my aux.csv")))
    (tmp_path / "in" / "aux.csv").parent.mkdir()
    (tmp_path / "in" / "aux.csv").write_bytes(b"note\nill\n")
    monkeypatch.setattr("sys.platform", "win32")
    with pytest.raises(OutputError, match=r"^aux\.csv: not a valid file name on Windows"):
        find_source_files([str(tmp_path / "in")], "csv", tmp_path / "out")
