"""JSON Lines."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textveil_training.data import Document, LabeledText
from textveil_training.data.json_lines import read_json_lines
from textveil_training.errors import (
    DataError,
    EmptyData,
    InvalidJson,
    InvalidUtf8,
    MissingLabel,
    MissingText,
    UnknownLabel,
)

Write = Callable[..., Path]
Refuses = Callable[..., DataError]

cells = st.text(st.characters(exclude_categories=["Cs"])).filter(lambda text: text.strip())


def test_the_caller_names_the_keys(write: Write) -> None:
    path = write('{"review": "fine", "stars": 5, "id": [1]}\n{"stars": "none", "review": "a\\tb\\nc"}\n')
    rows = list(read_json_lines(path, text_key="review", label_key="stars"))
    assert rows == [LabeledText("fine", "5"), LabeledText("a\tb\nc", "none")]
    assert list(read_json_lines(path, text_key="review", label_key=None)) == [
        Document("fine"),
        Document("a\tb\nc"),
    ]


@given(rows=st.lists(st.builds(LabeledText, cells, cells), min_size=1), ascii_only=st.booleans())
def test_what_is_written_is_read(
    tmp_path_factory: pytest.TempPathFactory,
    rows: list[LabeledText],
    ascii_only: bool,
) -> None:
    path = tmp_path_factory.mktemp("jsonl") / "rows.txt"
    objects = ({"text": row.text, "label": row.label} for row in rows)
    path.write_bytes("".join(json.dumps(row, ensure_ascii=ascii_only) + "\n" for row in objects).encode())
    assert list(read_json_lines(path)) == rows


@pytest.mark.parametrize(
    ("row", "kind"),
    [
        ('{{"text": "{0}", "label": 1', InvalidJson),
        ("{0}", InvalidJson),
        ('"{0}"', InvalidJson),
        ('["{0}"]', InvalidJson),
        ("", InvalidJson),
        ("[" * 100_000, InvalidJson),
        ('{{"text": "{0}", "label": 1' + "0" * 5000 + "}}", InvalidJson),
        ('{{"label": "{0}"}}', MissingText),
        ('{{"text": null, "label": "{0}"}}', MissingText),
        ('{{"text": " ", "label": "{0}"}}', MissingText),
        ('{{"text": ["{0}"], "label": "1"}}', InvalidJson),
        ('{{"text": "{0}\\ud800", "label": "1"}}', InvalidJson),
        ('{{"text": "{0}"}}', MissingLabel),
        ('{{"text": "{0}", "label": null}}', MissingLabel),
        ('{{"text": "{0}", "label": ""}}', MissingLabel),
        ('{{"text": "{0}", "label": 1.0}}', InvalidJson),
        ('{{"text": "{0}", "label": true}}', InvalidJson),
        ('{{"text": "{0}", "label": ["{0}"]}}', InvalidJson),
        ('{{"text": "{0}", "label": "\\udfff"}}', InvalidJson),
        ('{{"text": "1", "label": "{0}"}}', UnknownLabel),
    ],
)
def test_malformed_rows(write: Write, refuses: Refuses, canary: str, row: str, kind: type[DataError]) -> None:
    content = '{"text": "a", "label": 0}\n' + row.format(canary) + "\n"
    refuses(kind, read_json_lines(write(content), labels=("0", "1")), 2)


def test_malformed_files(write: Write, refuses: Refuses, canary: str) -> None:
    refuses(EmptyData, read_json_lines(write("")))
    refuses(InvalidUtf8, read_json_lines(write(f'{{"text": "{canary}'.encode() + b'\xff", "label": 1}\n')), 1)
