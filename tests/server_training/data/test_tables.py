"""A user's own table (CSV, TSV, JSON lines, Parquet) is read, and errors name its defects without its content."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textveil_training.data import LabeledExample
from textveil_training.data.tables import read_table
from textveil_training.errors import (
    DataError,
    DataOptionError,
    EmptyData,
    InvalidJson,
    InvalidUtf8,
    MissingColumn,
    MissingExtra,
    MissingLabel,
    MissingText,
    UnreadableFile,
    WrongColumnCount,
    WrongLayout,
)

SECRET = "Zorblaxia"


def read(path: Path, content: str | bytes, text: str = "text", label: str = "topic") -> list[tuple[str, str]]:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return [(row.text, row.label) for row in read_table(path, text, label)]


WANTED = [('a "quoted", text', "sport"), ("zwei\nZeilen", "5")]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", 'id,text,topic\r\n1,"a ""quoted"", text",sport\r\n\r\n2,"zwei\nZeilen",5\r\n'),
        ("a.CSV", '\ufefftopic,text\nsport,"a ""quoted"", text"\n5,"zwei\nZeilen"\n'),
        ("a.jsonl", '{"text": "a \\"quoted\\", text", "topic": "sport"}\n{"topic": 5, "text": "zwei\\nZeilen"}\n'),
    ],
)
def test_tables_are_read(tmp_path: Path, name: str, content: str) -> None:
    assert read(tmp_path / name, content) == WANTED


def test_tsv_is_not_quoted_and_columns_may_be_numbers(tmp_path: Path) -> None:
    assert read(tmp_path / "a.tsv", 'text\ttopic\n"one\tsport\n') == [('"one', "sport")]
    assert read(tmp_path / "a.txt", "one\tsport\nfour\t5\n", "1", "2") == [("one", "sport"), ("four", "5")]
    assert read(tmp_path / "b.csv", "2,1\na,x\n", "2", "1") == [("a", "x")]  # names of columns come first


@pytest.mark.parametrize(
    ("name", "content", "text"),
    [("a.csv", "text,topic\na,\n", "text"), ("a.tsv", "a\n", "1"), ("a.jsonl", '{"text": "a"}\n', "text")],
)
def test_texts_without_labels(tmp_path: Path, name: str, content: str, text: str) -> None:
    (tmp_path / name).write_text(content)
    assert list(read_table(tmp_path / name, text, None)) == [LabeledExample(texts=("a",))]


def test_errors_are_raised_while_reading(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("text,topic\nfine,a\n,b\n")
    rows = read_table(tmp_path / "a.csv", "text", "topic")
    assert next(rows) == LabeledExample(texts=("fine",), label="a")
    with pytest.raises(MissingText, match="line 3"):
        next(rows)


BAD: dict[str, tuple[str, str | bytes, tuple[str, str], type[DataError], str]] = {
    "no such column": ("a.csv", f"text,{SECRET}\na,b\n", ("text", "topic"), MissingColumn, "no column .* label"),
    "no such text": ("a.tsv", f"{SECRET}\ttopic\na\tb\n", ("text", "topic"), MissingColumn, "no column .* text"),
    "a column twice": ("a.csv", "text,topic,topic\na,b,c\n", ("text", "topic"), MissingColumn, "two columns"),
    "a number too large": ("a.tsv", "a\tb\n", ("1", "3"), MissingColumn, "no column has that number: the rows have"),
    "column zero": ("a.tsv", "a\tb\n", ("0", "1"), MissingColumn, "no column has that number: the rows have"),
    "a name and a number": ("a.tsv", "text\tb\n", ("text", "2"), DataOptionError, "both columns"),
    "one column for both": (
        "a.csv",
        "text\na\n",
        ("text", "text"),
        DataOptionError,
        "text and label must be different columns",
    ),
    "semicolons": ("a.csv", "text;topic\na;b\n", ("text", "topic"), MissingColumn, "separate cells by commas"),
    "another ending": (
        "a.xlsx",
        "text",
        ("text", "topic"),
        DataOptionError,
        r"the file name must end in \.csv, \.tsv, \.txt, \.jsonl, \.ndjson, \.parquet: rename",
    ),
    "an empty file": ("a.csv", "", ("text", "topic"), EmptyData, "empty"),
    "a header alone": ("a.csv", "text,topic\n", ("text", "topic"), EmptyData, "no row"),
    "an empty text": ("a.csv", 'text,topic\n"  ",b\n', ("text", "topic"), MissingText, "line 2"),
    "an empty label": ("a.csv", f"text,topic\n{SECRET},\n", ("text", "topic"), MissingLabel, "line 2"),
    "a label that is NaN": ("a.csv", f"text,topic\n{SECRET},NaN\n", ("text", "topic"), MissingLabel, "line 2"),
    "a label that is null": ("a.jsonl", '{"text": "a", "topic": null}\n', ("text", "topic"), MissingLabel, "missing"),
    "too many columns": ("a.csv", f"text,topic\na,b,{SECRET}\n", ("text", "topic"), WrongColumnCount, "3 columns"),
    "a quotation without an end": (
        "a.csv",
        f'text,topic\n"{SECRET},b\n',
        ("text", "topic"),
        WrongLayout,
        r"a\.csv, line 2: the line is not valid CSV",
    ),
    "text behind a quotation": (
        "a.csv",
        f'text,topic\n"a"{SECRET},b\n',
        ("text", "topic"),
        WrongLayout,
        r"a\.csv, line 2: the line is not valid CSV",
    ),
    "not UTF-8": ("a.csv", b"text,topic\n\xff,b\n", ("text", "topic"), InvalidUtf8, "byte 11"),
}


@pytest.mark.parametrize("what", BAD)
def test_what_is_wrong_is_named(tmp_path: Path, what: str) -> None:
    name, content, columns, error, message = BAD[what]
    with pytest.raises(error, match=message) as raised:
        read(tmp_path / name, content, *columns)
    assert SECRET not in str(raised.value)
    assert raised.value.__context__ is None or SECRET not in repr(raised.value.__context__)


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(UnreadableFile):
        list(read_table(tmp_path / "none.csv", "text", "topic"))


def test_parquet_without_pyarrow_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtra, match="pyarrow"):
        read(tmp_path / "a.parquet", b"PAR1")


def test_parquet(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    from pyarrow import parquet

    def write(**columns: Any) -> Path:
        parquet.write_table(pyarrow.table(columns), tmp_path / "a.parquet")
        return tmp_path / "a.parquet"

    assert [(row.text, row.label) for row in read_table(write(text=["a"], topic=[5]), "text", "topic")] == [("a", "5")]
    for columns, error in (
        ({"text": ["a"], "topic": [float("nan")]}, MissingLabel),
        ({"text": [None, "b"], "topic": ["a", "b"]}, MissingText),
        ({"text": ["a"]}, MissingColumn),
    ):
        with pytest.raises(error):
            list(read_table(write(**columns), "text", "topic"))


Refuses = Callable[..., DataError]
cells = st.text(st.characters(exclude_categories=["Cs"])).filter(lambda text: text.strip())


@given(
    rows=st.lists(st.builds(LabeledExample, texts=st.tuples(cells), label=cells), min_size=1), ascii_only=st.booleans()
)
def test_json_reads_what_is_written(
    tmp_path_factory: pytest.TempPathFactory, rows: list[LabeledExample], ascii_only: bool
) -> None:
    path = tmp_path_factory.mktemp("jsonl") / "rows.jsonl"
    objects = ({"text": row.text, "label": row.label} for row in rows)
    path.write_bytes("".join(json.dumps(row, ensure_ascii=ascii_only) + "\n" for row in objects).encode())
    assert list(read_table(path, "text", "label")) == rows
    assert list(read_table(path, "text", None)) == [LabeledExample(texts=row.texts) for row in rows]


@pytest.mark.parametrize(
    ("row", "kind"),
    [
        ('{{"text": "{0}", "label": 1', InvalidJson),
        ("{0}", InvalidJson),
        ('["{0}"]', InvalidJson),
        ("", InvalidJson),
        ("[" * 100_000, InvalidJson),
        ('{{"text": "{0}", "label": 1' + "0" * 5000 + "}}", InvalidJson),
        ('{{"label": "{0}"}}', MissingText),
        ('{{"text": " ", "label": "{0}"}}', MissingText),
        ('{{"text": ["{0}"], "label": "1"}}', InvalidJson),
        ('{{"text": "{0}\\ud800", "label": "1"}}', InvalidJson),
        ('{{"text": "{0}"}}', MissingLabel),
        ('{{"text": "{0}", "label": null}}', MissingLabel),
        ('{{"text": "{0}", "label": 1.0}}', InvalidJson),
        ('{{"text": "{0}", "label": true}}', InvalidJson),
        ('{{"text": "{0}", "label": "\\udfff"}}', InvalidJson),
    ],
)
def test_malformed_rows_of_json(tmp_path: Path, refuses: Refuses, canary: str, row: str, kind: type[DataError]) -> None:
    (tmp_path / "rows.txt").write_text('{"text": "a", "label": 0}\n' + row.format(canary) + "\n")
    refuses(kind, read_table(tmp_path / "rows.txt", "text", "label", ".jsonl"), 2)
