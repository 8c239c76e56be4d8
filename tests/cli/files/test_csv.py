"""In CSV and TSV, cells that are not rewritten keep their bytes, and a row that does not fit is named."""

import csv
import io
import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from textveil.errors import InputError, OptionError
from textveil_cli.errors import ColumnError, FieldTooLong
from textveil_cli.files import ColumnSelection
from textveil_cli.files.block_reader import read_blocks
from textveil_cli.files.blocks import RejectedRow, RewrittenDocuments, TextBlock
from textveil_cli.files.delimited import DelimitedLayout

SHOUTED = ColumnSelection(format="csv", columns=("note",))


def shout(content: bytes, selection: ColumnSelection = SHOUTED, pieces: int = 0) -> tuple[bytes, list[RejectedRow]]:
    """Return a delimited file with its selected cells in upper case, read at once or in pieces of some bytes."""
    layout = DelimitedLayout(selection, "t.csv")
    chunks = [content[at : at + pieces] for at in range(0, len(content), pieces)] if pieces else [content]
    written, bad = [], []
    for block in read_blocks(layout, [chunk for chunk in chunks if chunk], selection, "t.csv"):
        assert isinstance(block, TextBlock)
        written += block.insert_texts(
            RewrittenDocuments([text.upper() for text in block.texts], [1] * len(block.document_sizes))
        )
        bad += block.rejected
    return b"".join(written), bad


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"id,note\n1,a b\n", b"id,note\n1,A B\n"),
        (b"id,note\r\n1,a b\r\n2,c", b"id,note\r\n1,A B\r\n2,C"),
        (b"\xef\xbb\xbfnote,id\na,1\n", b"\xef\xbb\xbfnote,id\nA,1\n"),
        (b'"note","id"\n"a","1"\n', b'"note","id"\nA,"1"\n'),
        (b'note,id\n"a,b","1, ""2"""\n', b'note,id\n"A,B","1, ""2"""\n'),
        (b'note,id\n"a ""b""\r\nc",1\n', b'note,id\n"A ""B""\r\nC",1\n'),
        (b'id,note\n"1\n2","a\n\nb"\r\n3,c\n', b'id,note\n"1\n2","A\n\nB"\r\n3,C\n'),
        (b'id,note\n1,\n2,""\n\n3,x\n', b'id,note\n1,\n2,""\n\n3,X\n'),
        (b'id,note\n5" pipe,a "b" c\n', b'id,note\n5" pipe,"A ""B"" C"\n'),
        ("id,note\n\xff,caf\xe9\n".encode("latin-1").replace(b"caf\xe9", b"cafe"), b"id,note\n\xff,CAFE\n"),
        (b"note,note 2\na,b\n", b"note,note 2\nA,b\n"),
        (b"id,note\n1,a\n2,b,\n3,c\n", b"id,note\n1,A\n3,C\n"),
        (b'id,note\n1,"a"b\n3,c\n', b"id,note\n3,C\n"),
        (b"id,note\n1,a\rb\n3,c\n", b"id,note\n3,C\n"),
        (b'id,note\n1,"x"\rb\n3,c\n', b"id,note\n3,C\n"),
        (b"id,note\n1,\xff\n3,c\n", b"id,note\n3,C\n"),
        (b"id,note\n", b"id,note\n"),
        (b"id,note", b"id,note"),
    ],
)
def test_bytes_that_stay(before: bytes, after: bytes) -> None:
    for pieces in (0, 1, 7):
        assert shout(before, pieces=pieces)[0] == after


@pytest.mark.parametrize(
    ("before", "after", "how"),
    [
        (b'id,note,"by, whom"\r\n1,a b,x\r\n\r\n2,,y\r\n', b'note\r\nA B\r\n\r\n""\r\n', {"only": True}),
        (b'id,note,who\n1,"a\nb",x\n2,c,"y,z"\n', b'id,note\n1,"A\nB"\n2,C\n', {"without": ("who",)}),
        (b'id,note,who\n1,"a\nb",x\n2,c,"y,z"\n', b'note,who\n"A\nB",x\nC,"y,z"\n', {"without": ("id",)}),
        (b"id,note,who\n1,a,x\n2,c\n", b"note\nA\n", {"without": ("who", "id"), "document_key": None}),
    ],
)
def test_columns_that_do_not_leave(before: bytes, after: bytes, how: dict[str, Any]) -> None:
    for pieces in (0, 1, 7):
        assert shout(before, ColumnSelection(format="csv", columns=("note",), **how), pieces)[0] == after


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"without": ("note",)}, "also rewritten"),
        ({"without": ("id", "id")}, "appears twice"),
        ({"without": ("id",), "only": True}, "use either"),
    ],
)
def test_what_does_not_leave_is_said_once(how: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        ColumnSelection(format="csv", columns=("note",), **how)
    with pytest.raises(OptionError, match=r"need a table: use --csv, --tsv, --jsonl or --parquet$"):
        ColumnSelection(format="lines", only=True)


def test_a_column_that_is_not_there_cannot_be_left_out() -> None:
    with pytest.raises(
        ColumnError, match=r"^t.csv: --drop-column who is not in the header \(id, note\); use --no-header if"
    ):
        shout(b"id,note\n1,a\n", ColumnSelection(format="csv", columns=("note",), without=("who",)))


def test_bad_rows_are_named() -> None:
    content = b'id,note\n1,a\n2,b,\n"x\ny",c\n3,\xff\n4,"a"b\n5,a\rb\n6\n'
    _, bad = shout(content)
    assert [(one.number, one.line, one.reason) for one in bad] == [
        (2, 3, "3 cells, but the first row has 2"),
        (4, 6, "a cell is not utf-8"),
        (5, 7, "text follows a closing quote"),
        (6, 8, "a carriage return outside quotes"),
        (7, 9, "1 cell, but the first row has 2"),
    ]
    assert [one.raw for one in bad] == [b"2,b,\n", b"3,\xff\n", b'4,"a"b\n', b"5,a\rb\n", b"6\n"]


CELL = st.text(st.sampled_from('ab ,;"\n\r\té'), max_size=8).filter(lambda cell: "\r" not in cell.replace("\r\n", ""))


@given(
    st.lists(st.tuples(CELL, CELL, CELL), max_size=6), st.sampled_from(["\n", "\r\n"]), st.integers(0, 9), st.booleans()
)
@example([("", "", ""), ("a\n", '"', ",")], "\n", 1, True)
def test_any_table(rows: list[tuple[str, str, str]], end: str, pieces: int, all_quoted: bool) -> None:
    """Cells of other columns are byte-equal, and the selected ones contain the sampled outputs."""
    file = io.StringIO(newline="")
    writer = csv.writer(file, lineterminator=end, quoting=csv.QUOTE_ALL if all_quoted else csv.QUOTE_MINIMAL)
    writer.writerows([("id", "note", "more"), *rows])
    content = file.getvalue().encode()
    written, bad = shout(content, pieces=pieces)
    assert not bad
    again = list(csv.reader(io.StringIO(written.decode(), newline="")))
    assert again[1:] == [[first, note.upper(), last] for first, note, last in rows]
    same, _ = shout(content.upper(), ColumnSelection(format="csv", columns=("NOTE",)), pieces)
    assert csv_cells(same) == csv_cells(written.upper())


def csv_cells(content: bytes) -> list[list[str]]:
    return list(csv.reader(io.StringIO(content.decode(), newline="")))


def test_a_thousand_ragged_rows_in_blocks() -> None:
    """Rows are cut alike wherever the bytes that arrive end."""
    chance = random.Random(3)
    rows = [[str(number), "x" * chance.randrange(30), '"' * chance.randrange(3) + "\n"] for number in range(1000)]
    file = io.StringIO(newline="")
    csv.writer(file).writerows([["id", "note", "z"], *rows])
    content = file.getvalue().encode()
    whole = shout(content)
    assert whole == shout(content, pieces=97) == shout(content, pieces=1)
    assert csv_cells(whole[0])[1:] == [[a, b.upper(), c] for a, b, c in rows]


def test_other_delimiters_and_encodings() -> None:
    assert shout(b"id\tnote\n1,2\ta\n", ColumnSelection(format="tsv", columns=("note",)))[0] == b"id\tnote\n1,2\tA\n"
    assert (
        shout(b"id;note\n1,2;a;b\n", ColumnSelection(format="csv", columns=("note",), delimiter=";"))[1][0].number == 1
    )
    latin = ColumnSelection(format="csv", columns=("note",), encoding="latin-1")
    assert shout("id,note\né,ü,\n".encode("latin-1")[:-2], latin)[0] == "id,note\né,Ü".encode("latin-1")
    assert (
        shout("note\nß €\n".encode("cp1252"), ColumnSelection(format="csv", columns=("note",), encoding="cp1252"))[0]
        == b"note\nSS \x80\n"
    )
    assert shout("note\nÿ\n".encode("latin-1"), latin)[0] == b"note\n?\n", "no capital of it is in the encoding"


def test_a_text_that_became_nothing_is_no_empty_cell() -> None:
    """An empty cell is a null to many readers, and in a table of one column a line that is skipped."""
    layout = DelimitedLayout(SHOUTED, "t.csv")
    assert [layout.encode_cell(text) for text in ("", "a", "a,b", 'a"', "a\nb", "a\r")] == [
        b'""', b"a", b'"a,b"', b'"a"""', b'"a\nb"', b'"a\r"',
    ]  # fmt: skip


def test_columns_by_number() -> None:
    selection = ColumnSelection(format="csv", columns=("3", "1"), header=False)
    assert shout(b"a,b,c\nd,e,f\n", selection)[0] == b"A,b,C\nD,e,F\n"
    assert shout(b"\xef\xbb\xbfa,b,c\n", selection)[0] == b"\xef\xbb\xbfA,b,C\n"


NOT_UTF_8 = "t.csv: not UTF-8 at byte 0: the file is UTF-16 or not text; save it as UTF-8"


@pytest.mark.parametrize(
    ("content", "columns", "message"),
    [
        (
            b"id,note\n",
            ("text",),
            "t.csv: --column text is not in the header (id, note); use --no-header if the file has none",
        ),
        (
            b"id,note\n",
            ("note", "text"),
            "t.csv: --column text is not in the header (id, note); use --no-header if the file has none",
        ),
        (b"id,note,note\n", ("note",), "t.csv: --column note appears twice in the header (id, note, note)"),
        (b"", ("note",), "t.csv: the file is empty: the header is missing"),
        (b'id,note\n1,"a\n2,b\n', ("note",), "t.csv, row 1: a quote is not closed"),
        (b'id,"note"x\n', ("note",), "t.csv, the header: text follows a closing quote"),
        ("id,note\n1,a".encode("utf-16"), ("note",), NOT_UTF_8),
        ("id,note\n1,a".encode("utf-16-be"), ("note",), NOT_UTF_8),
    ],
)
def test_files_that_cannot_be_cut(content: bytes, columns: tuple[str, ...], message: str) -> None:
    with pytest.raises(InputError) as caught:
        shout(content, ColumnSelection(format="csv", columns=columns))
    assert str(caught.value) == message


def test_a_field_has_a_cap() -> None:
    selection = ColumnSelection(format="csv", columns=("note",), max_field=1000)
    fits = b"id,note\n1," + b"x" * 1000 + b"\n"
    assert shout(fits, selection)[0] == fits.replace(b"x", b"X")
    for content in (
        b"id,note\n1," + b"x" * 1001 + b"\n",
        b'id,note\n1,"' + b"x" * 1000 + b'"\n',
        b"id,note\n" + b"1" * 1001 + b",x\n",
        b"id,note\n1," + b"x" * 5000,
        b'id,note\n1,"' + b"x\n" * 5000,
    ):
        for pieces in (0, 64):
            with pytest.raises(FieldTooLong, match="max-field"):
                shout(content, selection, pieces)


def test_a_gigabyte_of_one_field_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of an endless field no more is read than the cap allows, with line ends and without, quoted or not."""
    for head, piece in (
        (b"id,note\n1,", b"x" * 65536),
        (b'id,note\n1,"', (b"x" * 63 + b"\n") * 1024),
        (b'id,note\n"', b'""' * 32768),
    ):
        read = 0

        def endless(head: bytes = head, piece: bytes = piece) -> object:
            nonlocal read
            yield head
            while read < 2**30:
                read += len(piece)
                yield piece

        selection = ColumnSelection(format="csv", columns=("note",), max_field=1_000_000)
        with pytest.raises(FieldTooLong):
            for _ in read_blocks(DelimitedLayout(selection, "t.csv"), endless(), selection, "t.csv"):  # type: ignore[arg-type]
                pass
        assert read < 5_000_000


def test_the_command(here: Callable, flat_bundle: Path, nearest: None, tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_bytes(b'id,note\r\n1,"The doctor, yes."\r\n2,\r\n3,doctor\r\n')
    out = tmp_path / "out.csv"
    ran = here("sanitize", "--bundle", flat_bundle, "--csv", "--column", "note", table, "-o", out)
    assert (ran.code, ran.out) == (0, b"")
    assert out.read_bytes() == b'id,note\r\n1,"Zz zz, zz."\r\n2,\r\n3,zz\r\n'
    assert ran.message.startswith("textveil: 1 file, 3 rows, 2 texts with at most 3 tokens each. Kept: ")
    assert ran.message.endswith(" 1 column rewritten; column names and all other columns are copied unprotected.\n")
    assert here("sanitize", "--bundle", flat_bundle, "--csv", "-c", "note", table).out == out.read_bytes()


def test_bad_rows_go_to_the_quarantine(cli: Callable, tmp_path: Path) -> None:
    table, out, kept = tmp_path / "t.csv", tmp_path / "out.csv", tmp_path / "kept.jsonl"
    table.write_bytes(b"id,note\n1,the\n2,secret,\n3,\xff secret\n")
    ran = cli("--csv", "-c", "note", table, "-o", out, "--rejected-rows", kept)
    assert ran.code == 0
    assert out.read_bytes().count(b"\n") == 2
    assert "private, for this device only: 2 rejected rows, in a file" in ran.message
    assert "secret" not in ran.message
    assert kept.read_text("utf-8").splitlines() == [
        '{"file": "t.csv", "row": 2, "line": 3, "reason": "3 cells, but the first row has 2", "raw": "2,secret,\\n"}',
        '{"file": "t.csv", "row": 3, "line": 4, "reason": "a cell is not utf-8", "raw_base64": "Myz/IHNlY3JldAo="}',
    ]
    if os.name == "posix":
        assert kept.stat().st_mode & 0o777 == 0o600


def test_standard_output_ends_before_a_bad_row(cli: Callable, tmp_path: Path) -> None:
    """Neither a bad row nor a row after it is written, also if the bad row is in a later block."""
    good = b"0," + b"the " * 50 + b"\n"
    for before in (0, 1, 20_000):
        table, out = tmp_path / "t.csv", tmp_path / "out.csv"
        table.write_bytes(b"id,note\n" + good * before + b"2,secret,\n" + b"3,the\n" * 1000)
        ran = cli("--csv", "-c", "note", table)
        assert ran.code == 1
        assert (
            f"t.csv, row {before + 1:,} (line {before + 2:,}): 3 cells, but the first row has 2 (the output ends "
            "before this row; --rejected-rows FILE skips rejected rows)\n"
        ) in ran.message
        assert b"\n3," not in ran.out
        assert b"\n2," not in ran.out
        assert (ran.out.count(b"\n") > 1) == (before > 1)
        ran = cli("--csv", "-c", "note", table, "-o", out)
        assert (ran.code, ran.out, out.exists()) == (1, b"", False)
        assert "2 (--rejected-rows FILE" in ran.message


@pytest.mark.parametrize(
    ("how", "header", "said"),
    [
        (["--drop-other-columns"], b"note", "all other columns are removed; column names are copied unprotected."),
        (
            ["--drop-column", "who"],
            b"id,note",
            "1 removed; column names and all other columns are copied unprotected.",
        ),
    ],
)
def test_the_command_says_what_does_not_leave(
    cli: Callable, tmp_path: Path, how: list[str], header: bytes, said: str
) -> None:
    table, out = tmp_path / "t.csv", tmp_path / "out.csv"
    table.write_bytes(b"id,note,who\n1,the,Zorblax\n")
    ran = cli("--csv", "-c", "note", table, "-o", out, *how)
    assert ran.message.endswith(f" 1 column rewritten; {said}\n")
    assert out.read_bytes().splitlines()[0] == header
    assert b"Zorblax" not in out.read_bytes()


def test_no_quarantine_is_left_without_bad_rows(cli: Callable, tmp_path: Path) -> None:
    table, kept = tmp_path / "t.csv", tmp_path / "kept.jsonl"
    table.write_bytes(b"id,note\n1,the\n")
    assert cli("--csv", "-c", "note", table, "-q", "--rejected-rows", kept).code == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["t.csv"]
