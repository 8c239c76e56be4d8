"""Run records become rows: damaged ones are refused by file and line, and only runs of one condition are averaged."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from report.records import RecordError, named, read_runs
from run_records import attack, finetune, record, release

Record = dict[str, Any]
Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def lines(*records: Record | str, name: str = "runs.jsonl") -> Path:
        texts = [one if isinstance(one, str) else json.dumps(one) for one in records]
        (tmp_path / name).write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
        return tmp_path / name

    return lines


def changed(record: Record, path: str, value: Any) -> Record:
    """The record with another value somewhere; None takes the key away."""
    copy = json.loads(json.dumps(record))
    *way, last = path.split(".")
    place = copy
    for name in way:
        place = place[name]
    if value is None:
        del place[last]
    else:
        place[last] = value
    return copy


RAW = finetune(0.9)
DAMAGED = {
    "malformed JSON": ("{", "malformed JSON"),
    "cut short": (json.dumps(RAW)[:-20], "malformed JSON"),
    "NaN": (json.dumps(finetune(float("nan"))), "malformed JSON"),
    "a list": ("[]", "not a JSON object"),
    "another format": (changed(RAW, "format", "something"), "not a run record"),
    "the old version": (changed(RAW, "format_version", 1), "format_version is not 2"),
    "another kind": (changed(RAW, "kind", "walk"), "kind is none of"),
    "not finished": (record("finetune", None, None, {"tuned": True}), "not finished"),
    "no figure": (changed(RAW, "result.test.accuracy", None), "neither accuracy nor pearson"),
    "no result": (changed(RAW, "result.test", None), "result.test is missing"),
    "no encoder": (changed(RAW, "settings.encoder", None), "settings.encoder is missing"),
    "a figure as text": (changed(RAW, "result.test.accuracy", "0.9"), "result.test.accuracy is not a number"),
    "true as a figure": (changed(RAW, "result.test.accuracy", True), "result.test.accuracy is not a number"),
    "per cent": (changed(RAW, "result.test.accuracy", 90.0), "result.test.accuracy is out of range"),
    "an attack deep inside": (
        attack(release(), repeated={"2": {"rate": 1.2}}),
        r"result.repeated.2.rate is out of range",
    ),
    "an attack without a release": (changed(attack(release()), "release", None), "release.mechanism is missing"),
    "no mechanism": (finetune(0.9, changed(release(), "mechanism", None)), "release.mechanism is missing"),
    "an epsilon of no kind": (finetune(0.9, changed(release(), "epsilon_kind", None)), "go together"),
}


@pytest.mark.parametrize(("line", "reason"), DAMAGED.values(), ids=DAMAGED.keys())
def test_a_damaged_record_is_refused_and_named(write: Write, line: Record | str, reason: str) -> None:
    path = write(finetune(0.7, release(10.0)), line)
    with pytest.raises(RecordError, match=rf"^runs\.jsonl, line 2: .*{reason}"):
        read_runs(path)


def test_a_file_that_is_not_there_and_one_with_nothing(tmp_path: Path, write: Write) -> None:
    with pytest.raises(RecordError, match=r"^none\.jsonl: cannot be read"):
        read_runs(tmp_path / "none.jsonl")
    with pytest.raises(RecordError, match="no record"):
        read_runs(write())


def test_two_records_of_one_run_are_refused(write: Write) -> None:
    first = write(finetune(0.7, release(), 1), name="first.jsonl")
    with pytest.raises(RecordError, match=r"^second\.jsonl, line 2: the same run stands in first\.jsonl, line 1"):
        read_runs(first, write(finetune(0.7, release(), 0), finetune(0.8, release(), 1), name="second.jsonl"))


def test_a_file_of_one_record_may_have_several_lines(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text(json.dumps(RAW, indent=2), encoding="utf-8")
    assert len(read_runs(tmp_path / "run.json")) == 1


def test_a_packed_file_is_read_by_its_name(tmp_path: Path, write: Write) -> None:
    plain = write(finetune(0.7, release(), 1), name="nlp_one.jsonl")
    packed = tmp_path / "nlp_other.jsonl.gz"
    packed.write_bytes(gzip.compress(write(finetune(0.8, release(), 2)).read_bytes()))
    assert named(tmp_path, "nlp_*.jsonl") == [plain, tmp_path / "nlp_other.jsonl"]
    assert list(read_runs(*named(tmp_path, "nlp_*.jsonl")).file) == ["nlp_one", "nlp_other"]
    packed.write_bytes(packed.read_bytes()[:-9])
    with pytest.raises(RecordError, match=r"^nlp_other\.jsonl: cannot be read"):
        read_runs(tmp_path / "nlp_other.jsonl")


OTHERS = {
    "another epsilon": finetune(0.7, release(10.0), 1),
    "another kind of epsilon": finetune(0.7, release(epsilon_kind="textbook metric DP"), 1),
    "another tail": finetune(0.7, release(tail="capped"), 1),
    "another bundle": finetune(0.7, release(bundle="d" * 64), 1),
    "punctuation sanitized": finetune(0.7, release(sanitize_punctuation=True), 1),
    "several outputs of a text": finetune(0.7, release(releases=3), 1),
    "raw text": finetune(0.7, None, 1),
    "another rate": finetune(0.7, release(), 1, learning_rate=1e-4),
    "another encoder": finetune(0.7, release(), 1, encoder="/somewhere/mlm-raw"),
    "another start": finetune(0.7, release(), 1) | {"start": {"weights_sha256": "9" * 64}},
    "other sizes": changed(finetune(0.7, release(), 1), "data.splits.train.examples", 64),
}


@pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS.keys())
def test_only_runs_that_differ_in_their_seed_are_averaged(write: Write, other: Record) -> None:
    runs = read_runs(write(finetune(0.7, release(), 0), finetune(0.8, release(), 2, threads=4), other))
    assert runs.condition.nunique() == 2
    assert runs.condition.iloc[0] == runs.condition.iloc[1]


def test_frozen_features_are_told_apart_by_their_sanitized_copy(write: Write) -> None:
    one = finetune(0.7, release(), None, tuned=False)
    two = changed(finetune(0.8, release(), None, tuned=False, num_epochs=1), "data.splits.train.sha256", "e" * 64)
    runs = read_runs(write(one, two))
    assert runs.condition.nunique() == 1
    with pytest.raises(RecordError, match="the same run"):
        read_runs(write(one, changed(one, "settings.seed", 5)))


def test_one_record_tells_the_others_what_it_knows_of_their_release(write: Write) -> None:
    runs = read_runs(write(finetune(0.7, release(share=0.9, pure_ldp=14.9)), attack(release())))
    assert list(runs.w) == [0.9, 0.9]
    assert list(runs.pure_ldp) == [14.9, 14.9]


def test_kinds_of_epsilon_have_short_names(write: Write) -> None:
    kinds = ("certified metric DP", "textbook metric DP", "pure local DP")
    runs = read_runs(write(*(finetune(0.7, release(epsilon_kind=kind)) for kind in kinds)))
    assert list(runs.epsilon_kind) == ["certified", "textbook", "pure LDP"]
