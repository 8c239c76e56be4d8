"""Rows, personal data, profiles and records of the frontier."""

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from frontier import corpora, personal, rows, run, tuned
from frontier.profile_attacks import identify_by_repeats
from frontier.rows import Releases
from report.frontier import Frontier, at_equal_attack, between, leads, with_attacks
from report.frontier_rows import ROWS
from textveil.mechanisms.staircase import make_staircase_randomizer
from textveil.text import split_text
from textveil_training.attacks.words import (
    NOTHING,
    WordIds,
    make_constant_release,
    make_raw_release,
    make_word_release,
)
from toy_release import VOCABULARY, plan


def test_k_rr_keeps_the_word_with_the_ratio_of_its_epsilon() -> None:
    slots: Any = plan().mechanism
    law = rows.k_rr(slots.any_case, "3")
    row = make_staircase_randomizer(law).compute_rows(np.array([4]))[0]
    others = np.delete(row, 4)
    assert np.allclose(others, others[0])
    assert row[4] / others[0] == pytest.approx(np.exp(3), rel=1e-5)
    uniform = make_staircase_randomizer(rows.k_rr(slots.any_case, "0.000001")).compute_rows(np.array([4]))[0]
    assert np.allclose(uniform, 1 / len(VOCABULARY), rtol=1e-5)


def test_k_rr_has_the_outputs_of_each_slot() -> None:
    """Those that the staircase has there: a baseline of fewer words in lower case would be a worse one."""
    releases = rows.Releases(None, None)
    even, own = (
        releases.plan(row).mechanism for name in ("krr-kinds-10", "shipped-10") for row in ROWS if row.name == name
    )
    assert np.array_equal(even.any_case.base > 0, own.any_case.base > 0)
    assert np.array_equal(even.lower_case.base > 0, own.lower_case.base > 0)
    assert np.count_nonzero(even.lower_case.base) > np.count_nonzero(even.any_case.base)


def test_a_paragraph_is_told_by_which_of_its_words_are_equal() -> None:
    made = make_word_release(WordIds(), plan(consistent=True))
    cut = [split_text(text) for text in ("dog cat dog", "dog cat cat", "dog dog cat")]
    # Unlike words may come out equal: not every draw is told.
    reading = made.read(cut)
    assert max(identify_by_repeats(reading, made.draw(reading), 3) for _ in range(30)) == 1


def test_spans_that_come_out() -> None:
    made = make_raw_release(make_word_release(WordIds(), plan()))
    record = {"text": "Mary Dog is here", "spans": [{"type": "PERSON", "start": 0, "end": 8}]}
    found = personal.measure(made, [record], frozenset({"is"}), frozenset({"dog"}))
    assert found["persons"] == {
        "spans": 1, "whole": 1, "any": 1, "words": 1, "same": 1, "commonest": [("dog", 1)],
    }  # fmt: skip
    hidden = make_constant_release(make_word_release(WordIds(), plan()), NOTHING)
    found = personal.measure(hidden, [record], frozenset({"is"}), frozenset({"dog"}))
    assert (found["persons"]["any"], found["persons"]["same"]) == (0, 0)


def test_records_of_other_tables_are_stale(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    fresh = {"job": "task", "task": "sst2", "row": "every-8", "draw": 0, "source": "a", "quick": False}
    records = [fresh, fresh | {"draw": 1, "source": "b"}, fresh | {"draw": 2, "quick": True}]
    path.write_text("".join(json.dumps(record) + "\n" for record in records) + '{"cut sh')
    assert run.remove_stale_records(path, lambda row: "a", False) == {("task", "every-8", "sst2", 0)}
    assert [json.loads(line) for line in path.read_text().splitlines()] == [fresh]
    assert run.remove_stale_records(path.with_name("none"), lambda row: "a", False) == set()


def test_a_row_that_the_staircase_does_not_draw_keeps_its_records_when_it_changes() -> None:
    releases, by_name = Releases(None, None), {row.name: row for row in ROWS}
    named = "shipped-10", "seen-10", "krr-kinds-10", "krr-seen-10", "names", "delete", "uniform"
    before = {name: releases.source(by_name[name]) for name in named}
    bundle = releases.staircase.bundle
    assert bundle.staircase_table is not None
    other = SimpleNamespace(
        path=bundle.path, staircase_table=replace(bundle.staircase_table, base=bundle.staircase_table.base + 1)
    )
    releases.staircase = cast("Any", SimpleNamespace(bundle=other))
    assert [name for name in named if releases.source(by_name[name]) != before[name]] == ["shipped-10", "seen-10"]


def test_heights_between_levels() -> None:
    line = [(0.2, 0.5), (0.4, 0.7), (0.6, 0.8)]
    assert between(line, 0.3) == pytest.approx(0.6)
    assert between(line, 0.1) is None


def test_an_encoder_is_always_tuned_on_the_same_rows() -> None:
    lines = [f"row {number}" for number in range(100)]
    few = tuned.sample_lines(lines, 10)
    assert few == sorted(few, key=lines.index)
    assert len(set(few)) == 10
    assert set(few) <= set(tuned.sample_lines(lines, 20))
    assert tuned.sample_lines(lines, 0) == lines


def test_reviews_are_spelled_as_in_sst2(tmp_path: Path) -> None:
    spelled = "it 's a film you ca n't leave -lrb- they 'd say -rrb- ."
    assert corpora.as_in_sst2("It\u2019s a film  you can't leave (they'd say).") == spelled
    assert corpora.prior(tmp_path) == []
    (tmp_path / "reviews").mkdir()
    (tmp_path / "reviews" / "one.txt").write_text("It's good\nDon't\n")
    assert ["".join(cut) for cut in corpora.prior(tmp_path)] == ["it 's good", "do n't"]


def scored(row: str, task: str, *scores: float) -> list[dict[str, Any]]:
    return [{"job": "task", "row": row, "task": task, "score": score, "draw": n} for n, score in enumerate(scores)]


def attacked(row: str, *shares: float) -> list[dict[str, Any]]:
    return [{"job": "attack", "row": row, "unchanged": {"content": 0.1}, "sum": {"content": x}} for x in shares]


def test_a_lead_is_read_between_levels_where_as_many_words_are_named() -> None:
    records = [
        *scored("krr-kinds-10", "sick", 0.5, 0.52), *attacked("krr-kinds-10", 0.44, 0.46),
        *scored("shipped-8", "sick", 0.4, 0.42), *attacked("shipped-8", 0.4),
        *scored("shipped-10", "sick", 0.5, 0.52), *attacked("shipped-10", 0.5),
    ]  # fmt: skip
    found = Frontier(records)
    assert found.strongest("krr-kinds-10").tolist() == [0.44, 0.46]
    staircase = at_equal_attack(found, "kinds", "sick")
    assert staircase == pytest.approx((0.46, 0.02))  # of the scores and of what is named, each the root of .0002
    assert "| SICK, r | function words, kinds | 45.0 ± 1.4 | 0.510 ± 0.014 | 0.460 | **-0.050** ± 0.024 |" in leads(
        found
    )
    assert at_equal_attack(Frontier(records[:-2]), "kinds", "sick") is None
    assert Frontier([]).strongest("shipped-8").empty


def test_attacks_of_before_fill_rows_of_k_rr_that_were_not_attacked(tmp_path: Path) -> None:
    def write(name: str, *records: dict[str, Any]) -> None:
        (tmp_path / name).write_text("".join(json.dumps({"quick": False} | record) + "\n" for record in records))

    write("frontier.jsonl", *attacked("shipped-10", 0.5), *attacked("krr-seen-10", 0.4))
    write("frontier_v3.jsonl", *attacked("krr-seen-8", 0.2), *attacked("krr-seen-10", 0.3), *attacked("seen-8", 0.9))
    found = with_attacks(tmp_path)
    rows_of = {name: found.strongest(name).tolist() for name in ("shipped-10", "krr-seen-8", "krr-seen-10", "seen-8")}
    assert rows_of == {"shipped-10": [0.5], "krr-seen-8": [0.2], "krr-seen-10": [0.4], "seen-8": []}


def test_whole_sentences_leave_out_phrases(tmp_path: Path) -> None:
    (tmp_path / "sst2").mkdir()
    for name in ("train", "dev"):
        (tmp_path / f"sst2/{name}.tsv").write_text("sentence\tlabel\na dull film \t0\ndull \t0\ngood \t1\n")
    parts = corpora.load(tmp_path, "sst2-whole", quick=False)
    assert ["".join(cut) for cut in parts["train"].cut] == ["a dull film", "good"]
    assert parts["train"].labels.tolist() == [0, 1]
    assert len(parts["test"].cut) == 3


def test_texts_that_are_released_as_text_are_read_anew() -> None:
    releases, row = Releases(None, None), {row.name: row for row in ROWS}
    cut = [split_text("We met Zorblax in Boston.")]
    assert releases.find_kept(row["names"], cut) == [[True, True, True, True, False, True, True, True, False, True]]
    outputs = releases.rewrite_documents(row["names-tags"], "ag", "test", cut)[1]
    words = [releases.words.spellings[word] for word in outputs.tolist()]
    assert words[:2] == ["we", "met"]
    assert "zorblax" not in words
    assert "city" in words
    said = releases.rewrite_documents(row["index-8"], "ag", "test", cut)[1]
    assert len(said) > 5
    assert not {"zorblax", "met"} & {releases.words.spellings[word] for word in said.tolist()}
    assert not releases.has(row["index-8"], "trec")
    assert releases.has(row["names"], "trec")
