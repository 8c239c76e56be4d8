"""Readers of plain lines and WikiText."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textveil_training.data import LabeledExample
from textveil_training.data.formats import read_text, read_wikitext
from textveil_training.errors import DataError, EmptyData, InvalidUtf8

Write = Callable[..., Path]
Refuses = Callable[..., DataError]

cells = st.text(st.characters(exclude_characters="\t\n\r\ufeff", exclude_categories=["Cs"])).filter(str.strip)

WIKITEXT = " \n = Homarus gammarus = \n \n The lobster = blue . \n \n = = Life = = \n \n It <unk> . \n"


@given(texts=st.lists(cells, min_size=1))
def test_text_reads_what_is_written(tmp_path_factory: pytest.TempPathFactory, texts: list[str]) -> None:
    path = tmp_path_factory.mktemp("text") / "rows.txt"
    path.write_bytes("\n \n".join(texts).encode())
    assert list(read_text(path)) == [LabeledExample(texts=(text,)) for text in texts]


@pytest.mark.parametrize("read", [read_text, read_wikitext])
def test_files_without_a_document(write: Write, refuses: Refuses, canary: str, read: Callable[[Path], object]) -> None:
    refuses(EmptyData, read(write("")))
    refuses(EmptyData, read(write(" \n\t\n\n")))
    refuses(InvalidUtf8, read(write(f"{canary}\n".encode() + canary.encode() + b"\x80")), 2)


def test_wikitext(write: Write) -> None:
    assert [row.text for row in read_wikitext(write(WIKITEXT))] == [
        "= Homarus gammarus =",
        "The lobster = blue .",
        "= = Life = =",
        "It <unk> .",
    ]
