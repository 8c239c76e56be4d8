"""In Parquet, text columns are rewritten; types, nulls, metadata and compression stay."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from textveil_cli.errors import ExtraMissing

pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")


@pytest.fixture
def rewrite(here: Callable, flat_bundle: Path, nearest: None, tmp_path: Path) -> Callable:
    """Write a table, rewrite columns of it so that every word becomes ``zz``, and read it before and after."""

    def run(table: Any, *arguments: str, **options: Any) -> tuple[Any, Any]:
        before, after = tmp_path / "before.parquet", tmp_path / "after.parquet"
        parquet.write_table(table, before, **options)
        ran = here("sanitize", "--bundle", flat_bundle, "--parquet", *arguments, before, "-o", after)
        assert ran.code == 0, ran.message
        return parquet.read_table(before), parquet.read_table(after)

    return run


def test_types_nulls_and_metadata_stay(rewrite: Callable) -> None:
    table = pyarrow.table(
        {
            "id": pyarrow.array([1, None, 3], pyarrow.int8()),
            "note": ["The doctor, yes.", None, ""],
            "large": pyarrow.array(["a", "b c", None], pyarrow.large_string()),
            "label": pyarrow.array(["the doctor", None, "nurse"]).dictionary_encode(),
            "other": ["doctor", "doctor", None],
            "list": [[{"x": 1}], None, []],
            "time": pyarrow.array([1, 2, None], pyarrow.timestamp("us", "UTC")),
        },
        metadata={"made by": "hand"},
    )
    before, after = rewrite(table, "-c", "note", "-c", "large", "-c", "label", compression={"note": "zstd"})
    assert after.schema.equals(before.schema, check_metadata=True)
    assert after["note"].to_pylist() == ["Zz zz, zz.", None, ""]
    assert after["large"].to_pylist() == ["zz", "zz zz", None]
    assert after["label"].to_pylist() == ["zz zz", None, "zz"]
    assert after["label"].chunk(0).dictionary.to_pylist() == ["zz zz", "zz"], "the words that were there are gone"
    for column in ("id", "other", "list", "time"):
        assert after[column].equals(before[column])


@pytest.mark.parametrize(
    ("how", "left"),
    [(["--drop-other-columns"], ["note"]), (["--drop-column", "who", "--drop-column", "id"], ["note", "day"])],
)
def test_columns_that_do_not_leave(rewrite: Callable, tmp_path: Path, how: list[str], left: list[str]) -> None:
    table = pyarrow.table(
        {"id": [1, 2], "note": ["the doctor", None], "who": ["Zorblax", "x"], "day": [3, 4]}, metadata={"of": "Zorblax"}
    )
    before, after = rewrite(table, "-c", "note", *how)
    assert after.schema.names == left
    assert after["note"].to_pylist() == ["zz zz", None]
    assert all(after[name].equals(before[name]) for name in left[1:])
    assert b"Zorblax" not in (tmp_path / "after.parquet").read_bytes()


def test_compression_and_times_of_old_files_stay(rewrite: Callable, tmp_path: Path) -> None:
    table = pyarrow.table({"note": ["the"] * 3, "time": pyarrow.array([1, 2, 3], pyarrow.timestamp("ns"))})
    rewrite(table, "-c", "note", compression={"note": "gzip", "time": "none"}, use_deprecated_int96_timestamps=True)
    group = parquet.ParquetFile(tmp_path / "after.parquet").metadata.row_group(0)
    assert [group.column(number).compression for number in range(2)] == ["GZIP", "UNCOMPRESSED"]
    assert group.column(1).physical_type == "INT96"


def test_many_rows_in_batches(rewrite: Callable, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("textveil_cli.files.parquet._BATCH_ROWS", 7)
    notes = [None if number % 5 == 0 else "the " * (number % 4) for number in range(40)]
    table = pyarrow.table({"note": notes, "n": list(range(40))})
    before, after = rewrite(table, "-c", "note", row_group_size=9)
    assert after["n"].equals(before["n"])
    assert after["note"].to_pylist() == [None if note is None else note.replace("the", "zz") for note in notes]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (["nope"], "column: t.parquet: --column nope is not in the file (note, n, twice, twice); did you mean note?"),
        (["note", "n"], "column: t.parquet: --column n is not a column of strings"),
        (["twice"], "column: t.parquet: --column twice appears twice in the file (note, n, twice, twice)"),
    ],
)
def test_columns_that_cannot_be_rewritten(cli: Callable, tmp_path: Path, columns: list[str], message: str) -> None:
    names = ["note", "n", "twice", "twice"]
    table = pyarrow.Table.from_arrays([["a"], [1], ["a"], ["b"]], names=names)
    parquet.write_table(table, tmp_path / "t.parquet")
    options = [option for column in columns for option in ("-c", column)]
    ran = cli("--parquet", *options, tmp_path / "t.parquet", "-o", tmp_path / "out.parquet")
    assert (ran.code, ran.message) == (1, f"textveil: {message}\n")
    assert not (tmp_path / "out.parquet").exists()


def test_damaged_files(cli: Callable, tmp_path: Path) -> None:
    path, out = tmp_path / "t.parquet", tmp_path / "out.parquet"
    parquet.write_table(pyarrow.table({"note": ["secret " * 50] * 500}), path, compression="none", use_dictionary=False)
    content = path.read_bytes()
    for damaged in (b"", b"PAR1", content[:-10], content[:200] + bytes(200) + content[400:]):
        path.write_bytes(damaged)
        ran = cli("--parquet", "-c", "note", path, "-o", out)
        assert ran.code == 1, len(damaged)
        assert ran.message.startswith("textveil: input: t.parquet: ")
        assert "secret" not in ran.message
        assert not out.exists()


def test_a_text_has_a_cap(cli: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A text among short ones is met when it is read; where all are long the file says so itself."""
    path, out = tmp_path / "t.parquet", tmp_path / "out.parquet"
    advice = "(raise --max-field-bytes, or correct the file)"
    said = f"textveil: field-too-long: t.parquet{{}}: a text exceeds --max-field-bytes {advice}\n"
    arguments = ["--parquet", "-c", "note", path, "-o", out, "--max-field-bytes", "1k"]
    parquet.write_table(pyarrow.table({"note": ["the"] * 50 + ["x" * 1001]}), path)
    assert cli(*arguments).message == said.format(", row 51")
    chance = bytes(range(33, 125)) * 40
    parquet.write_table(pyarrow.table({"note": [chance.decode(), chance[::-1].decode()]}), path, use_dictionary=False)
    monkeypatch.setattr("textveil_cli.files.parquet.ParquetTable._refuse_long", lambda *_: pytest.fail("it was read"))
    assert cli(*arguments).message == said.format("")


def test_documents_of_rows(here: Callable, tmp_path: Path) -> None:
    path, out = tmp_path / "t.parquet", tmp_path / "out.parquet"
    table = pyarrow.table({"a": ["Anna paid", "Anna"], "b": ["Anna left Anna", None]})
    parquet.write_table(table, path)
    table_options = ["--parquet", "-c", "a", "-c", "b", "--consistent", "--document", "row"]
    arguments = ["sanitize", "--protect", "words", *table_options, path, "-o", out]
    assert here(*arguments).code == 0
    first, second = parquet.read_table(out).to_pylist()
    name = first["a"].split()[0]
    assert first["b"].split()[::2] == [name, name]
    assert second["b"] is None
    ran = here(*arguments, "--consistent-cap", "1")
    assert ran.message == (
        "textveil: bad-row: t.parquet, row 1: the document has more randomized words, names and numbers than "
        "--consistent-cap allows (--rejected-rows FILE skips rejected rows)\n"
    )
    kept = tmp_path / "kept"
    assert here(*arguments, "--consistent-cap", "1", "--rejected-rows", kept).code == 0
    assert parquet.read_table(out).num_rows == 1
    assert json.loads(json.loads(kept.read_text())["raw"]) == {"a": "Anna paid", "b": "Anna left Anna"}


def test_what_parquet_does_not_go_with(cli: Callable, forked: Callable, tiny_path: Path, tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    parquet.write_table(pyarrow.table({"note": ["a"]}), path)
    arguments = ["--parquet", "-c", "note"]
    assert "--parquet needs -o FILE: Parquet cannot be written to standard output" in cli(*arguments, path).message
    ran = forked("sanitize", "--bundle", tiny_path, *arguments, "-", "-o", tmp_path / "o")
    assert "--parquet needs a file" in ran.message
    assert "a table needs --column NAME" in cli(path).message


def test_without_pyarrow(cli: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "t.parquet"
    path.write_bytes(b"PAR1")
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    ran = cli("--parquet", "-c", "note", path, "-o", tmp_path / "o.parquet")
    assert ran.message == f"textveil: {ExtraMissing.code}: Parquet needs pyarrow: pip install 'textveil-cli[parquet]'\n"
