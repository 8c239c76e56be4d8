"""Every function for several texts refuses a single string or mapping in one line, and samples nothing then."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from canaries import SECRET
from small_encoders import load_encoder
from small_label_bundle import write_index
from textveil import Ledger, Sanitizer, TextLabelEncoder
from textveil.arguments import list_items
from textveil.errors import InputError
from textveil_cli.aggregation import LabelServer
from textveil_cli.errors import ReleaseError
from textveil_cli.integrations import ConfiguredSanitizer

Door = Callable[[Any], Any]


class Frame(dict):  # type: ignore[type-arg]
    """A table whose iteration gives the names of columns, as in pandas."""

    shape = (1, 2)


class Lazy:
    """A table that is not a mapping."""

    shape = (1, 2)

    def __iter__(self) -> Iterator[str]:
        return iter(["note", "subject"])


#: What iterates over something else than texts, or over nothing.
IMPOSTORS = {
    "one string": SECRET,
    "bytes": SECRET.encode(),
    "a bytearray": bytearray(SECRET.encode()),
    "a row": {"note": SECRET},
    "a batch of rows": {"note": [SECRET, SECRET]},
    "a frame": Frame(note=[SECRET], subject=[SECRET]),
    "a table": Lazy(),
    "an array of two dimensions": np.array([[SECRET], [SECRET]]),
    "an array of none": np.array(SECRET),
    "nothing": None,
    "a number": 48213977,
}


@pytest.fixture
def doors(english: Sanitizer, tiny_encoder: Path, tmp_path: Path) -> dict[str, Door]:
    encoder, index = load_encoder(tiny_encoder), TextLabelEncoder.load(write_index(tmp_path / "index"))
    ledger, rewriter = Ledger(tmp_path / "ledger"), ConfiguredSanitizer()
    return {
        "sanitize_batch": english.sanitize_batch,
        "sanitize_documents": english.sanitize_documents,
        "sanitize_documents, consistent": lambda given: english.sanitize_documents(
            given, protect="words", consistent=True
        ),
        "a document": lambda given: english.sanitize_documents([["the"], given]),
        "a document, consistent": lambda given: english.sanitize_documents(
            [["the"], given], protect="words", consistent=True
        ),
        "encode_batch": encoder.encode_batch,
        "encode_batch of indices": index.encode_batch,
        "ledger": lambda given: ledger.sanitize_batch(english, given, protect="words"),
        "ledger of vectors": lambda given: ledger.encode_batch(encoder, given),
        "ledger of indices": lambda given: ledger.encode_batch(index, given),
        "results": rewriter.sanitize_texts,
        "cells": rewriter.sanitize_cells,
    }


def test_impostors_are_refused_at_every_door(doors: dict[str, Door]) -> None:
    for door, call in doors.items():
        for name, impostor in IMPOSTORS.items():
            with pytest.raises(InputError) as refused:
                call(impostor)
            said = str(refused.value)
            assert "expected " in said
            assert ", got " in said, (door, name, said)
            assert "\n" not in said
            assert "Zorblax" not in said


@pytest.mark.parametrize(
    "texts",
    [("the", "of"), np.array(["the", "of"]), np.array(["the", "of"], dtype=object), {1: "the", 2: "of"}.values()],
    ids=["a tuple", "an array", "an array of objects", "the values of a dictionary"],
)
def test_what_has_items_in_order_is_taken(english: Sanitizer, texts: Any) -> None:
    assert [result.text for result in english.sanitize_batch(texts)] == ["the", "of"]


def test_iterators_are_taken_once_at_every_door(doors: dict[str, Door]) -> None:
    for name, call in doors.items():
        texts: Any = (text for text in ["the", "of"])
        documents: Any = ((text for text in ["the", "of"]) for _ in range(2))
        assert len(call(documents if name.startswith("sanitize_documents") else texts)) == 2, name


def test_arrays_of_arrow_are_texts() -> None:
    pyarrow = pytest.importorskip("pyarrow")
    assert list_items(pyarrow.chunked_array([["the"], [None]])) == ["the", None]
    with pytest.raises(InputError, match="got a table: pass one of its columns"):
        list_items(pyarrow.table({"note": ["the"]}))


@pytest.mark.parametrize("options", [{}, {"consistent": True}])
@pytest.mark.parametrize("wrong", [None, 48213977, ["the"], b"the"])
def test_a_document_has_strings(english: Sanitizer, wrong: Any, options: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=r"^document 2 of 2 has a text that is not a string$"):
        english.sanitize_documents([["the"], ["of", wrong]], **options)


def test_scopes_are_names_in_order(english: Sanitizer, tmp_path: Path) -> None:
    """The keys of a mapping from texts to scopes are the texts."""
    ledger = Ledger(tmp_path / "ledger")
    with pytest.raises(InputError, match="expected privacy units, got a row or a mapping: pass one of its columns"):
        ledger.sanitize_batch(
            english,
            ["doctor"],
            privacy_unit={SECRET: "anna"},  # type: ignore[arg-type]
            protect="words",
        )
    assert ledger.list_accounts() == []


def test_a_preview_is_of_a_string(english: Sanitizer) -> None:
    for call in (english.preview, english.unknown_share):
        with pytest.raises(InputError, match=r"^the text must be a string$"):
            call(None)  # type: ignore[arg-type]


def test_a_released_line_is_a_string(tmp_path: Path) -> None:
    server = LabelServer.load(write_index(tmp_path / "index"))
    with pytest.raises(ReleaseError, match=r"^line 3: must be a string$"):
        server.parse_line(b"1\t2\t3\t4", 3)  # type: ignore[arg-type]
