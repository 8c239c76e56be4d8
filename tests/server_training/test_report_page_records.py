"""Run records as a report reads them: what is needed, what is passed over, and each run once."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from run_records import attack, fairness, finetune, law, record
from textveil_training.errors import RecordError, ReportError
from textveil_training.report.laws import CERTIFIED, PURE_LDP, TEXTBOOK
from textveil_training.report.records import read

Record = dict[str, Any]
Write = Callable[..., Path]


@pytest.fixture
def write_records(tmp_path: Path) -> Write:
    def write_file(*records: Record, name: str = "runs.jsonl") -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
        return path

    return write_file


def changed(value: Any, *path: str, of: Record | None = None) -> Record:
    """A record with one value changed; None at the end takes it away."""
    whole = json.loads(json.dumps(of or finetune(0.9, law())))
    part = whole
    for name in path[:-1]:
        part = part[name]
    part[path[-1]] = value
    return whole


def test_files_folders_and_lines_give_the_same(write_records: Write, tmp_path: Path) -> None:
    one, two = finetune(0.9), finetune(0.8, law())
    lines = write_records(one, two)
    folder = tmp_path / "runs"
    (folder / "first").mkdir(parents=True)
    (folder / "first" / "record.json").write_text(json.dumps(one, indent=2))
    (folder / "second.json").write_text(json.dumps(two))
    (folder / ".hidden").mkdir()
    (folder / ".hidden" / "record.json").write_text("{")
    (folder / "config.json").write_text('{"hidden_size": 384}')
    found = [[(run.law, run.figures) for run in read([path]).runs] for path in (lines, folder)]
    assert found[0] == found[1]
    assert read([folder]).passed_over == 1
    assert [run.figures["accuracy"] for run in read([lines]).runs] == [0.9, 0.8]


def test_what_it_does_not_know_is_passed_over(write_records: Write) -> None:
    more = {**finetune(0.9, law()), "name": "a run", "corpus": "sst2-10k"}
    more["law"] |= {"wonder": [1]}
    more["result"]["test"]["f1"] = "high"
    assert read([write_records(more)]).runs[0].figures["accuracy"] == 0.9


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        *[(name, CERTIFIED) for name in ("certified", "certified metric DP")],
        *[(name, TEXTBOOK) for name in ("textbook", "textbook metric DP")],
        *[(name, PURE_LDP) for name in ("pure-ldp", "pure local DP")],
        ("local DP of the whole text", "local DP of the whole text"),
    ],
)
def test_kinds_of_epsilon(write_records: Write, said: str, kind: str) -> None:
    found = read([write_records(finetune(0.9, law(epsilon_kind=said)))]).runs[0].law
    assert found is not None
    assert found.kind == kind


@pytest.mark.parametrize(
    ("content", "place"),
    [
        ('{"format": "textveil-run",\n "kind": quokkasecret}\n', "runs.json, line 2"),
        ('{"format": "textveil-run"', "runs.json, line 1"),
        ('{"format": "textveil-run", "format_version": NaN}', "runs.json"),
        (json.dumps(finetune(0.9)) + '\n{"format_version": NaN}\n', "runs.json, line 2"),
        (json.dumps(finetune(0.9)) + "\nquokkasecret\n", "runs.json, line 2"),
        ("", "runs.json, line 1"),
        (b"\xff\xfe", "runs.json"),
        ("[" * 100_000, "runs.json"),
    ],
)
def test_malformed_json_has_file_and_line(
    write: Callable[..., Path], canary: str, content: str | bytes, place: str
) -> None:
    with pytest.raises(RecordError) as caught:
        read([write(content, "runs.json")])
    assert str(caught.value).startswith(f"{place}: ")
    assert canary not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        (changed(2, "format_version"), "format_version is not 1"),
        (changed(True, "format_version"), "format_version is not 1"),
        (changed("0.9", "result", "test", "accuracy"), "result.test.accuracy is not a number"),
        (changed(True, "result", "test", "accuracy"), "result.test.accuracy is not a number"),
        (changed(90.0, "result", "test", "accuracy"), "result.test.accuracy is out of range"),
        (changed({}, "result", "test"), "neither accuracy nor pearson"),
        (changed([], "result"), "result is not an object"),
        (changed("zero", "settings", "seed"), "settings.seed is not a whole number"),
        (changed({}, "settings"), "settings is missing"),
        (changed(None, "data", "format"), "data.format is missing"),
        (changed(-1, "data", "splits", "test", "examples"), ": examples is out of range"),
        (changed(None, "law", "mechanism"), "law.mechanism is missing"),
        (changed(None, "law", "bundle"), "law.bundle is missing"),
        (changed(None, "law", "epsilon_kind"), "law.epsilon_kind is missing"),
        (changed(-1, "law", "epsilon"), "law.epsilon is out of range"),
        (changed("12", "law", "epsilon"), "law.epsilon is not a number"),
        (changed("yes", "law", "strict"), "law.strict is not true or false"),
        (changed([], "law"), "law is not an object"),
        (changed(1.5, "result", "mask", "defence", of=attack(law())), "result.mask.defence is out of range"),
        (changed(None, "law", of=attack(law())), "law is missing"),
        (changed({"x": {}}, "result", "repeated", of=attack(law())), "no number of releases"),
        (changed([0.1], "result", "bayes", "interval", of=attack(law())), "result.bayes.interval is not a pair"),
        (changed("finetune!", "kind"), "no record of a run"),
        ({"hidden_size": 384}, "no record of a run"),
    ],
)
def test_a_record_that_lacks_something_is_named(write_records: Write, wrong: Record, reason: str) -> None:
    with pytest.raises(RecordError, match=reason) as caught:
        read([write_records(finetune(0.9), wrong)])
    assert str(caught.value).startswith("runs.jsonl, line 2: ")


def test_a_path_that_is_not_there_and_nothing_to_report(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="does not exist"):
        read([tmp_path / "nothing"])
    with pytest.raises(ReportError, match="no run record"):
        read([tmp_path])


def test_a_run_that_has_not_finished_is_kept_apart(write_records: Write) -> None:
    unfinished = finetune(0.9, seed=1) | {"finished": None, "result": None}
    reading = read([write_records(finetune(0.8), unfinished)])
    assert [run.seed for run in reading.runs] == [0]
    assert [run.seed for run in reading.unfinished] == [1]


@pytest.mark.parametrize("turned", [False, True])
def test_of_two_records_of_a_run_the_later_counts(write_records: Write, turned: bool) -> None:
    earlier, later = finetune(0.7), finetune(0.8) | {"finished": "2026-01-02T00:00:00+00:00"}
    begun = finetune(0.0) | {"finished": None, "result": None, "begun": "2026-01-03T00:00:00+00:00"}
    records = [earlier, later, later, begun]
    reading = read([write_records(*(reversed(records) if turned else records))])
    assert [run.figures["accuracy"] for run in reading.runs] == [0.8]
    assert len(reading.replaced) == 2
    assert reading.copies == 1
    assert reading.unfinished == []


def test_two_records_of_one_run_and_time_that_differ_are_refused(write_records: Write) -> None:
    with pytest.raises(RecordError, match=r"^runs.jsonl, line 2: another record of the same run"):
        read([write_records(finetune(0.7), finetune(0.8))])


@pytest.mark.parametrize(
    "other",
    [
        finetune(0.9, law(), 1),
        finetune(0.9, law(), batch=32),
        finetune(0.9, law(epsilon=12.5)),
        finetune(0.9, law(tail="capped")),
        finetune(0.9, law(epsilon_kind="textbook metric DP")),
        finetune(0.9, law(bundle="c" * 64)),
        finetune(0.9, law(strict=True)),
        finetune(0.9, law(case="drop")),
        finetune(0.9),
        finetune(0.9, law(), start={"encoder_sha256": "e" * 64}),
        finetune(0.9, law(), data={"format": "sst2", "splits": {"test": {"examples": 871}}}),
        attack(law()),
    ],
)
def test_other_runs_are_other_runs(write_records: Write, other: Record) -> None:
    assert len(read([write_records(finetune(0.7, law()), other)]).runs) == 2


def hashed(letter: str, of: Record) -> Record:
    """The same sizes, with other texts."""
    for part in of["data"]["splits"].values():
        part["sha256"] = letter * 64
    return of


def pretraining(**changes: Any) -> Record:
    data = {"sources": [{"format": "sst2", "sha256": "a" * 64}], "train": {"texts": 900}}
    settings = {"start": "minilm", "seed": 0, "raw": True}
    return record("pretrain", {"top1": 0.4}, None, settings, **{"data": data, "measured_law": law()} | changes)


def judged(**changes: str) -> Record:
    hashes = {f"{name}_sha256": name[0] * 64 for name in ("model", "clean")} | changes
    return fairness() | {"law": None, "start": hashes}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (judged(), judged(model_sha256="e" * 64)),
        (judged(), judged(clean_sha256="e" * 64)),
        (judged(), judged(checkpoint_sha256="e" * 64)),
        (judged(), hashed("9", judged())),
        (pretraining(), pretraining(data={"sources": [{"format": "sst2", "sha256": "b" * 64}]})),
        (pretraining(), pretraining(measured_law=law(13.0))),
        (pretraining(), pretraining(start={"weights_sha256": "b" * 64})),
        (finetune(0.9), hashed("9", finetune(0.8))),
        (attack(law()), hashed("9", attack(law()))),
        *[
            (finetune(0.9, of, tuned=False), hashed("9", finetune(0.8, of, seed, tuned=False)))
            for of in (None, law())
            for seed in (0, None)
        ],
    ],
)
def test_other_models_and_other_data_make_other_runs(write_records: Write, one: Record, other: Record) -> None:
    later = other | {"finished": "2026-01-02T00:00:00+00:00"}
    assert len(read([write_records(one, later)]).runs) == 2


def test_the_names_of_a_measured_law_make_no_other_run(write_records: Write) -> None:
    later = pretraining(measured_law=law(bundle_name="other", level="firm")) | {"finished": "2026-01-02T00:00:00+00:00"}
    assert len(read([write_records(pretraining(), later)]).runs) == 1


@pytest.mark.parametrize("of", [None, law()])
def test_settings_that_do_nothing_with_frozen_features_make_no_other_run(write_records: Write, of: Any) -> None:
    """On the same text, raw or one sanitised copy; when the encoder learns they make other runs."""
    for tuned in (False, True):
        later = finetune(0.9, of, 3, tuned=tuned, epochs=9, batch=8, learning_rate=0.1)
        later |= {"finished": "2026-01-02T00:00:00+00:00"}
        bare = finetune(0.9, of, tuned=False) | {"finished": "2026-01-03T00:00:00+00:00"}
        bare["settings"] = {"encoder": "minilm", "tuned": False, "train_examples": 0}
        records = [finetune(0.9, of, tuned=tuned), later, *([] if tuned else [bare])]
        assert len(read([write_records(*records)]).runs) == 1 + tuned


def test_a_tuned_run_needs_a_seed(write_records: Write) -> None:
    with pytest.raises(RecordError, match=r"settings.seed is missing"):
        read([write_records(changed(None, "settings", "seed"))])


def test_what_changes_no_result_makes_no_other_run(write_records: Write) -> None:
    later = finetune(0.8, law(level="e12", bundle_name="other")) | {"finished": "2026-01-02T00:00:00+00:00"}
    later["settings"]["threads"] = 2
    assert len(read([write_records(finetune(0.7, law()), later)]).runs) == 1


def test_pretrain_records_are_listed(write_records: Write) -> None:
    run = record("pretrain", {"top1": 0.4}, law(), {"start": "minilm", "seed": 0})
    assert [found.kind for found in read([write_records(run)]).runs] == ["pretrain"]
