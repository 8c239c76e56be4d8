"""Labeled lines, plain lines, WikiText."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textveil_training.data import Document, LabeledText
from textveil_training.data.plain import is_heading, read_labeled, read_text, read_wikitext
from textveil_training.errors import (
    DataError,
    EmptyData,
    InvalidUtf8,
    MissingLabel,
    MissingText,
    UnknownLabel,
    WrongColumnCount,
)

Write = Callable[..., Path]
Refuses = Callable[..., DataError]

cells = st.text(st.characters(exclude_characters="\t\n\r\ufeff", exclude_categories=["Cs"])).filter(str.strip)

WIKITEXT = " \n = Homarus gammarus = \n \n The lobster = blue . \n \n = = Life = = \n \n It <unk> . \n"


def test_labeled(write: Write) -> None:
    path = write("spam\tbuy now\nham\tsee you\n")
    expected = [LabeledText("buy now", "spam"), LabeledText("see you", "ham")]
    assert list(read_labeled(path)) == expected
    assert list(read_labeled(path, ("spam", "ham"))) == expected


@given(rows=st.lists(st.builds(LabeledText, cells, cells), min_size=1))
def test_labeled_reads_what_is_written(
    tmp_path_factory: pytest.TempPathFactory,
    rows: list[LabeledText],
) -> None:
    path = tmp_path_factory.mktemp("tsv") / "rows.txt"
    path.write_bytes("".join(f"{row.label}\t{row.text}\n" for row in rows).encode())
    assert list(read_labeled(path)) == rows


@pytest.mark.parametrize(
    ("row", "kind"),
    [
        ("{0}", WrongColumnCount),
        ("spam\t{0}\t{0}", WrongColumnCount),
        ("", WrongColumnCount),
        ("\t{0}", MissingLabel),
        ("spam\t", MissingText),
        ("{0}\tspam", UnknownLabel),
    ],
)
def test_malformed_labeled_rows(
    write: Write,
    refuses: Refuses,
    canary: str,
    row: str,
    kind: type[DataError],
) -> None:
    refuses(kind, read_labeled(write(f"ham\ta\n{row.format(canary)}\n"), ("spam", "ham")), 2)


@given(texts=st.lists(cells, min_size=1))
def test_text_reads_what_is_written(tmp_path_factory: pytest.TempPathFactory, texts: list[str]) -> None:
    path = tmp_path_factory.mktemp("text") / "rows.txt"
    path.write_bytes("\n \n".join(texts).encode())
    assert list(read_text(path)) == [Document(text) for text in texts]


@pytest.mark.parametrize("read", [read_text, read_wikitext])
def test_files_without_a_document(
    write: Write,
    refuses: Refuses,
    canary: str,
    read: Callable[[Path], object],
) -> None:
    refuses(EmptyData, read(write("")))
    refuses(EmptyData, read(write(" \n\t\n\n")))
    refuses(InvalidUtf8, read(write(f"{canary}\n".encode() + canary.encode() + b"\x80")), 2)


def test_wikitext(write: Write, refuses: Refuses) -> None:
    path = write(WIKITEXT)
    body = [Document("The lobster = blue ."), Document("It <unk> .")]
    assert list(read_wikitext(path, skip_headings=True)) == body
    assert [row.text for row in read_wikitext(path)] == [
        "= Homarus gammarus =",
        body[0].text,
        "= = Life = =",
        body[1].text,
    ]
    assert len(list(read_wikitext(path, skip_empty=False))) == 8
    assert len(list(read_wikitext(path, skip_empty=False, skip_headings=True))) == 6
    refuses(EmptyData, read_wikitext(write(" = Alone = \n"), skip_headings=True))


@pytest.mark.parametrize("line", [" = Heading = ", "= = = M @-@ 82 ( Michigan highway ) = = =", "= a = b ="])
def test_headings(line: str) -> None:
    assert is_heading(line)


@pytest.mark.parametrize(
    "line", ["", " ", "=", "= =", "= = =", "a = b", "= a", "a =", "= = a =", "= a = =", "=a=", "== a =="]
)
def test_other_lines_are_no_headings(line: str) -> None:
    assert not is_heading(line)
