"""Tables given as plain text are refused with the option to use; prose is not."""

from collections.abc import Callable
from pathlib import Path

import pytest
from textveil_cli.errors import LooksStructured
from textveil_cli.files.detect_tables import refuse_tables, refuse_tables_by_name


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("id,note\n1,hello there\n", "CSV"),
        ("id,note\n1,hello\n2,\"a, b\"\n", "CSV"),
        ("Ticket No.,Customer name,Message text\n1,x,y\n2,x,y\n", "CSV"),
        ("id;note\n1;hello\n", "--delimiter ';'"),
        ("id|note\n1|hello\n", "--delimiter '|'"),
        ("id\tnote\n1\thello, you\n", "TSV"),
        ('{"a": "b"}\n', "JSON lines"),
        ('\n  {"a": {"b": []}}\n{"a": 1}\n', "JSON lines"),
        ('{\n  "a": 1\n}\n', "looks like JSON: convert it to JSON lines"),
        ("[\n1,\n2]\n", "looks like JSON"),
        ('[{"a": 1},\n', "looks like JSON"),
        ("PAR1\x15\x04", "Parquet"),
    ],
)  # fmt: skip
def test_tables(text: str, said: str) -> None:
    with pytest.raises(LooksStructured, match=r"--plain") as caught:
        refuse_tables(text.splitlines(), "input 1 of 1")
    assert said in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Hello, world\nGood bye, world\n",
        "Dear Anna,\nthank you, and good bye\n",
        "id,note\n",
        "The doctor said no,but left\nthe nurse came\n",
        "one,two\nthree\nfour,five\n",
        "1,2,3\n4,5,6\n",
        "a,a\nb,c\n",
        "this is a sentence, which goes on; and on\n" * 3,
        "{not json}\n",
        "[1] a footnote\n[2] another\n",
        "{}{}\n",
        "name,\nx,y\n",
        "word\nword\n",
    ],
)
def test_prose(text: str) -> None:
    refuse_tables(text.splitlines(), "input 1 of 1")


@pytest.mark.parametrize(
    ("path", "flag"),
    [
        ("a.csv", "--csv --column NAME"),
        ("in/A.CSV.GZ", "--csv --column NAME"),
        ("a.tsv", "--tsv --column NAME"),
        ("a.jsonl.zst", "--jsonl --key NAME"),
        ("a.ndjson", "--jsonl --key NAME"),
        ("a.parquet", "--parquet --column NAME"),
    ],
)
def test_names(path: str, flag: str) -> None:
    with pytest.raises(LooksStructured, match=flag):
        refuse_tables_by_name(path, "input 1 of 1")


def test_other_names_pass() -> None:
    for path in ("-", "notes.txt", "csv", "notes.csv.bak", "a.txt.gz"):
        refuse_tables_by_name(path, "input 1 of 1")


def test_the_command_refuses_and_can_be_told_to(cli: Callable, tmp_path: Path, note: Path) -> None:
    path = tmp_path / "t.txt"
    path.write_bytes(b"id,note\n1,the doctor\n")
    ran = cli(path)
    assert (ran.code, ran.out) == (1, b"")
    assert ran.message == (
        "textveil: looks-structured: t.txt: looks like CSV, and every cell would be rewritten: "
        "use --csv --column NAME, or --plain for plain text\n"
    )
    assert cli("--plain", path).out.count(b"\n") == 2
    assert "input 2 of 2, t.txt: looks like CSV" in cli(note, path).message
    assert cli("--text", '{"a": 1}').code == 0, "a text is a text"
