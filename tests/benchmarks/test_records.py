"""Stored records are read packed or not, and damaged ones are refused by file and line."""

import gzip
from pathlib import Path

import pytest
from report.records import RecordError, read_objects


def test_a_packed_file_is_read_by_its_name(tmp_path: Path) -> None:
    packed = tmp_path / "one.jsonl.gz"
    packed.write_bytes(gzip.compress(b'{"a": 1}\n{"a": 2}\n'))
    assert list(read_objects(tmp_path / "one.jsonl")) == [
        ("one.jsonl, line 1", {"a": 1}),
        ("one.jsonl, line 2", {"a": 2}),
    ]
    (tmp_path / "one.jsonl").write_text('{"a": 3}\n')
    assert [found["a"] for _, found in read_objects(tmp_path / "one.jsonl")] == [3]


def test_a_file_of_one_record_may_have_several_lines(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text('{\n"a": 1\n}')
    assert list(read_objects(tmp_path / "run.json")) == [("run.json", {"a": 1})]


@pytest.mark.parametrize(
    ("line", "reason"), [("{", "malformed JSON"), ('{"a": NaN}', "malformed JSON"), ("[]", "not a JSON object")]
)
def test_a_damaged_record_is_refused_and_named(tmp_path: Path, line: str, reason: str) -> None:
    (tmp_path / "runs.jsonl").write_text('{"a": 1}\n' + line + "\n")
    with pytest.raises(RecordError, match=rf"^runs\.jsonl, line 2: .*{reason}"):
        list(read_objects(tmp_path / "runs.jsonl"))


def test_what_is_not_there_or_cut_short(tmp_path: Path) -> None:
    (tmp_path / "cut.jsonl.gz").write_bytes(gzip.compress(b'{"a": 1}\n' * 99)[:-9])
    for name in ("none", "cut"):
        with pytest.raises(RecordError, match=rf"^{name}\.jsonl: cannot be read"):
            list(read_objects(tmp_path / f"{name}.jsonl"))
