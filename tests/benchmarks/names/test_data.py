"""Readers of marked texts give the spans of the data set, and the two halves share no row."""

import json
from pathlib import Path

import pytest
from names import data
from names.data import DATA_SETS, KINDS, Row, Span, kind, take_half


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "data"


def marked(row: Row) -> list[tuple[str, str]]:
    return [(row.text[span.start : span.end], span.type) for span in row.spans]


def test_json_lines(file: Path) -> None:
    row = {"text": "Ann\u2028left", "spans": [{"type": "PERSON", "start": 0, "end": 3, "other": 1}]}
    file.write_text(json.dumps(row, ensure_ascii=False) + "\n", "utf-8")
    assert [marked(found) for found in data.read_marked_rows(file)] == [[("Ann", "PERSON")]]


def test_what_need_not_be_masked_is_kept_apart(file: Path) -> None:
    entities = [
        {"start_offset": 0, "end_offset": 3, "entity_type": "PERSON", "identifier_type": "DIRECT"},
        {"start_offset": 13, "end_offset": 17, "entity_type": "DATETIME", "identifier_type": "QUASI"},
        {"start_offset": 21, "end_offset": 26, "entity_type": "LOC", "identifier_type": "NO_MASK"},
    ]
    file.write_text(json.dumps({"text": "Ann was born 1970 in Paris", "entities": entities}), "utf-8")
    [row] = data.court(file)
    assert marked(row) == [("Ann", "PERSON"), ("1970", "DATETIME")]
    assert row.unmasked == (Span(21, 26, "LOC"),)


def test_a_value_is_marked_wherever_it_stands_as_a_word(file: Path) -> None:
    tag = json.dumps({"identifier_type": "NAME", "value": "Ann"})
    file.write_text(
        f"===QUERY===\nAnn, not Anna: Ann\n===PHI_TAGS===\n{tag}\n\n===QUERY===\nNo.\n===PHI_TAGS===\n", "utf-8"
    )
    first, second = data.clinical(file)
    assert [(span.start, span.end) for span in first.spans] == [(0, 3), (15, 18)]
    assert second == Row("No.", ())


def test_universal_ner_keeps_the_text(file: Path) -> None:
    tagged = (
        "1\tDon\tB-PER\t-\t-\n2\t't\tO\t-\t-\n3\task\tO\t-\t-\n4\tDon\tB-PER\t-\t-\n5\tLee\tI-PER\t-\t-\n6\t.\tO\t-\t-"
    )
    file.write_text(f"# sent_id = 1\n# text = Don't ask Don Lee.\n{tagged}\n\n", "utf-8")
    [row] = data.universal(file)
    assert row.text == "Don't ask Don Lee."
    assert marked(row) == [("Don", "PER"), ("Don Lee", "PER")]


def test_tokens_are_written_as_people_do(file: Path) -> None:
    file.write_text(
        "-DOCSTART- -X- O\n\nAnn I-PER\nLee I-PER\n's O\n( O\nnew O\n) O\nIBM I-ORG\n. O\n\n@ B-PER\nbo B-PER\n"
    )
    first, second = data.tokens(file)
    assert first.text == "Ann Lee's (new) IBM."
    assert marked(first) == [("Ann Lee", "PER"), ("IBM", "ORG")]
    assert second.text == "@bo"
    assert marked(second) == [("@", "PER"), ("bo", "PER")]


def test_kinds() -> None:
    assert kind(Span(0, 1, "PER")) == kind(Span(0, 1, "person")) == "person"
    assert kind(Span(0, 1, "US_SSN")) == "identifier"
    types = [name for names in KINDS.values() for name in names.split()]
    assert len(types) == len(set(types))


def test_halves_share_no_row() -> None:
    rows = [Row(str(number), ()) for number in range(5)]
    even, odd = take_half(rows, "even"), take_half(rows, "odd")
    assert [row.text for row in even] == ["0", "2", "4"]
    assert [row.text for row in odd] == ["1", "3"]
    assert take_half(rows, "all") == rows


def test_data_sets_come_from_the_data_folder_or_the_fetched_one(tmp_path: Path) -> None:
    assert DATA_SETS["made-up"].file(tmp_path / "data", tmp_path / "fetched").parent.parent == tmp_path / "data"
    assert DATA_SETS["court"].file(tmp_path / "data", tmp_path / "fetched").parent == tmp_path / "fetched"
