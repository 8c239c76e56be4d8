"""One run writes a table whose rows share a mapping, the mapping, and a report; a reply about it is restored."""

import gzip
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from textveil import Sanitizer
from textveil.text.restore import Restorer

ROWS = [
    ("1", "Refund Anna Novak for order 88213.", "Olga Klein"),
    ("2", "Anna Novak called again about order 88213.", "Anna Novak"),
    ("3", "", ""),
    ("4", "Ask Peter Schulz.", "Olga Klein"),
]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "calls.csv"
    path.write_text("id,note,who\n" + "".join(",".join(row) + "\n" for row in ROWS))
    return path


def run(here: Callable, folder: Path, *more: object) -> tuple[str, list[list[str]]]:
    """Return the messages of a run with a mapping, and the rows of its output."""
    out = folder / "sent.csv"
    columns = ("--column", "note", "--column", "who")
    saved = ("--document", "file", "--save-mapping", folder / "map.json", "--report", folder / "report.html")
    ran = here("sanitize", folder / "calls.csv", *columns, *saved, "-o", out, *more)
    assert ran.code == 0, ran.message
    return ran.message, [line.split(",") for line in out.read_text("utf-8").splitlines()]


@pytest.mark.parametrize("style", ["surrogate", "tag"])
def test_a_table_its_report_and_its_mapping(here: Callable, table: Path, tmp_path: Path, style: str) -> None:
    message, (heading, first, second, empty, last) = run(here, tmp_path, "--style", style)
    assert (heading, empty) == (["id", "note", "who"], ["3", "", ""])
    name, other = second[2], last[2]
    assert "Anna" not in name
    assert name != other
    assert (first[2], first[1].startswith(f"Refund {name} for order ")) == (other, True)
    assert second[1].startswith(f"{name} called again about order ")
    numbers = [row[1].split(" order ")[1] for row in (first, second)]
    assert (numbers[0] == numbers[1]) == (style == "tag")
    assert "1 file, 4 rows, 1 table with at most" in message
    assert "Equal names of all rows have equal replacements, so that readers can link the rows." in message
    if os.name == "posix":
        assert {(tmp_path / file).stat().st_mode & 0o777 for file in ("map.json", "report.html")} == {0o600}
    shown = (tmp_path / "report.html").read_text("utf-8")
    assert "do not send" in shown.splitlines()[0]
    assert "document file" in shown
    reply = f"{name} waits for {other}."
    restored = here("restore", "--mapping", tmp_path / "map.json", "--text", reply)
    assert restored.text.rstrip("\n") == "Anna Novak waits for Olga Klein."


def test_every_cell_is_restored(here: Callable, table: Path, tmp_path: Path) -> None:
    _, rows = run(here, tmp_path, "--style", "tag")
    mapping = Restorer.from_json((tmp_path / "map.json").read_bytes())
    assert [tuple(mapping.restore(cell).text for cell in row) for row in rows[1:]] == ROWS


def test_json_lines_and_a_packed_table(here: Callable, tmp_path: Path) -> None:
    lines = [{"note": note, "who": who} for _, note, who in ROWS]
    path, out, mapping = tmp_path / "calls.jsonl.gz", tmp_path / "sent.jsonl.gz", tmp_path / "map.json"
    path.write_bytes(gzip.compress("".join(json.dumps(line) + "\n" for line in lines).encode()))
    keys = ("--key", "note", "--key", "who", "--document", "file", "--save-mapping", mapping)
    assert here("sanitize", path, *keys, "-o", out).code == 0
    written = [json.loads(line) for line in gzip.decompress(out.read_bytes()).decode().splitlines()]
    assert written[0]["who"] == written[3]["who"]
    assert written[1]["note"].startswith(written[1]["who"])
    assert Restorer.from_json(mapping.read_bytes()).restore(written[3]["note"]).text == "Ask Peter Schulz."


def test_parquet_in_several_row_groups(here: Callable, tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    path, out, mapping = tmp_path / "calls.parquet", tmp_path / "sent.parquet", tmp_path / "map.json"
    who = pyarrow.array([row[2] or None for row in ROWS]).dictionary_encode()
    written = pyarrow.table({"note": [row[1] for row in ROWS], "who": who})
    parquet.write_table(written, path, row_group_size=1)
    columns = ("-c", "note", "-c", "who", "--document", "file", "--save-mapping", mapping)
    assert here("sanitize", path, *columns, "-o", out).code == 0
    rows = parquet.read_table(out).to_pylist()
    assert rows[2] == {"note": "", "who": None}
    assert rows[0]["who"] == rows[3]["who"]
    assert rows[1]["note"].startswith(rows[1]["who"])
    assert Restorer.from_json(mapping.read_bytes()).restore(rows[3]["note"]).text == "Ask Peter Schulz."
    parquet.write_table(pyarrow.concat_tables([written] * 20), path)
    ran = here("sanitize", path, *columns, "-o", out, "--max-field-bytes", "100")
    assert ran.message.startswith("textveil: document-too-long: calls.parquet: the file, as one document, exceeds ")
    parquet.write_table(written.slice(0, 0), path)
    assert here("sanitize", path, *columns[:-2], "-o", out).code == 0
    assert parquet.read_table(out).num_rows == 0


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ((), "--save-mapping needs one document: name one file, and add --document file"),
        (("--document", "row"), "--save-mapping needs one document: name one file, and add --document file"),
        (("--document", "file", "--workers", "2"), "use either --save-mapping or --workers"),
        (("--document", "file", "--corpus-key", "c.key"), "--save-mapping cannot be combined with --corpus-key"),
        (("--document", "file", "--no-consistent"), "--save-mapping cannot be combined with --no-consistent"),
        (("--document", "file", "--max-field-bytes", "43"), "calls.csv: the file, as one document, exceeds four times"),
        (("--document", "file", "--save-mapping", "calls.csv"), "--save-mapping is also an input ('calls.csv')"),
        (("--document", "file", "--save-mapping", "no/map.json"), "--save-mapping: the folder does not exist"),
    ],
)
def test_what_is_refused(
    here: Callable, table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, more: tuple[str, ...], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Sanitizer, "sanitize_documents", lambda *_, **__: pytest.fail("drawn"))
    table.write_bytes(before := table.read_bytes() * 2)
    saved = () if "--save-mapping" in more else ("--save-mapping", "map.json")
    ran = here("sanitize", "calls.csv", "-c", "note", "-o", "sent.csv", *saved, *more)
    assert said in ran.message
    assert (ran.code, ran.out) == (1, b"")
    assert sorted(path.name for path in tmp_path.iterdir() if path.suffix != ".key") == ["calls.csv"]
    assert table.read_bytes() == before


def test_a_mapping_too_large_to_be_read(
    here: Callable, table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No output is written that no reply could be restored with."""
    monkeypatch.setattr("textveil_cli.console.mapping_files.MAX_MAPPING_BYTES", 100)
    saved = ("--document", "file", "--save-mapping", tmp_path / "map.json", "-o", tmp_path / "sent.csv")
    ran = here("sanitize", table, "-c", "note", *saved)
    assert "--save-mapping: the mapping exceeds 64 MB: divide the text, or write tags" in ran.message
    assert list(tmp_path.iterdir()) == [table]


def test_several_files_have_no_common_mapping(here: Callable, table: Path, tmp_path: Path) -> None:
    folder, mapping = tmp_path / "in", tmp_path / "map.json"
    folder.mkdir()
    for inputs in ([folder, "--csv"], [table, table]):
        ran = here("sanitize", *inputs, "-c", "note", "--document", "file", "--save-mapping", mapping)
        assert "--save-mapping needs one document: name one file, and add --document file" in ran.message
        assert not mapping.exists()


def test_each_table_of_a_folder_is_a_document(here: Callable, table: Path, tmp_path: Path) -> None:
    folder, out = tmp_path / "in", tmp_path / "out"
    folder.mkdir()
    for name in ("a.csv", "b.csv"):
        (folder / name).write_bytes(table.read_bytes())
    ran = here("sanitize", folder, "--csv", "-c", "note", "--document", "file", "--style", "tag", "-o", out, "--json")
    assert ran.code == 0, ran.message
    assert json.loads(ran.text)["documents"] == 2
    assert (out / "a.csv").read_text() == (out / "b.csv").read_text()
    assert "4,Ask [person 2]." in (out / "a.csv").read_text()
    assert "numbered" not in ran.message


def test_words_of_a_table_as_one_document(here: Callable, table: Path, tmp_path: Path) -> None:
    """Equal words become equal, and spend epsilon once; a table above the cap is refused."""
    given = ("sanitize", "--protect", "words", table, "-c", "note", "--consistent", "--document", "file", "-o")
    ran = here(*given, tmp_path / "out.csv", "--json")
    assert json.loads(ran.text)["documents"] == 1
    ran = here(*given, tmp_path / "long.csv", "--consistent-cap", "2")
    assert "the document has more randomized words, names and numbers than --consistent-cap allows" in ran.message
    assert not (tmp_path / "long.csv").exists()
