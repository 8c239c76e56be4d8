"""The benchmark reads and draws as the product does, and its attacks name what can be named."""

import itertools
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import chain
import numpy as np
import personal
import pytest
import release
import rows
import run
import tuned
from candidates import Candidates
from frontier import between
from profile_attacks import pattern
from release import DRAWN, KIND, MARK, NOTHING, SHOWN
from textveil.text import segments
from textveil.text.rewrite import cut
from textveil.text.rewrite.cut import Reader
from textveil.text.rewrite.read import Reading
from toy_release import VOCABULARY, considered, plan

TEXT = "The nurse's dog, Mary, isn't US red-x7 and Will sleeps. We walk 12 dogs! DON'T; Cat cat zebra"


@pytest.mark.parametrize("visible", [True, False])
@pytest.mark.parametrize("kinds", [True, False])
def test_texts_are_read_as_the_product_reads_them(visible: bool, kinds: bool) -> None:
    of = plan(visible=visible, kinds=kinds)
    ours = release.of_plan(release.Words(), of).read([segments(TEXT), segments("Cat.")])
    texts = Reader(of)
    product = Reading(of, texts.read([TEXT, "Cat."]), texts.segments)
    hidden = np.isin(ours.role, (DRAWN, KIND))
    theirs = product.roles != cut.SHOWN
    found = zip((ours.role[hidden] == DRAWN).tolist(), ours.index[hidden].tolist(), strict=True)
    drawn = (product.roles[theirs] == cut.DRAWN).tolist()
    assert sorted(found) == sorted(zip(drawn, product.indices[theirs].tolist(), strict=True))


def test_what_is_visible_comes_out_and_the_rest_is_drawn() -> None:
    made = release.of_plan(release.Words(), plan())
    reading = made.read([segments(TEXT)])
    outputs = made.draw(reading)
    shown = np.isin(reading.role, (SHOWN, MARK))
    assert (outputs[shown] == reading.word[shown]).all()
    drawn = {made.words.spelled[word] for word in outputs[reading.role == DRAWN]}
    assert drawn <= set(VOCABULARY)
    blank, nothing = (release.constant(made, output).draw(reading) for output in (made.words.id("_"), NOTHING))
    assert set(blank[reading.role == DRAWN].tolist()) == {made.words.id("_")}
    assert set(nothing[reading.role == DRAWN].tolist()) == {NOTHING}
    raw = release.unchanged(made)
    assert (raw.draw(raw.read([segments(TEXT)])) == reading.word).all()


def test_consistent_draws_are_equal_within_a_document_only() -> None:
    made = release.of_plan(release.Words(), plan(consistent=True))
    reading = made.read([segments("dog dog " * 40)] * 60)
    outputs = made.draw(reading).reshape(60, -1)
    assert (outputs == outputs[:, :1]).all()
    assert len(np.unique(outputs[:, 0])) > 1


def test_k_rr_keeps_the_word_with_the_ratio_of_its_epsilon() -> None:
    law = rows.k_rr(plan().mechanism.strict, "3")
    row = law.channel.rows(np.array([4]))[0]
    others = np.delete(row, 4)
    assert np.allclose(others, others[0])
    assert row[4] / others[0] == pytest.approx(np.exp(3), rel=1e-5)
    uniform = rows.k_rr(plan().mechanism.strict, "0.000001").channel.rows(np.array([4]))[0]
    assert np.allclose(uniform, 1 / len(VOCABULARY), rtol=1e-5)


def test_bayes_takes_the_most_probable_original() -> None:
    made, train, attacker = considered("3")
    outputs = made.draw(train)
    found = attacker.of(train, outputs)
    number = int(np.flatnonzero(train.role[found.places] == DRAWN)[0])
    y = made.words.spelled[outputs[found.places[number]]]
    prior = np.bincount(train.index[train.role == DRAWN], minlength=len(VOCABULARY)) + 0.05
    joint = prior * made.channels[1].columns(np.array([VOCABULARY.index(y)]))[0][:-1]
    best = made.words.spelled[found.bayes[number]]
    assert joint[VOCABULARY.index(best)] == pytest.approx(joint.max())
    assert 0 < attacker.closed_form(np.ones(len(made.words.spelled), dtype=bool)) <= 1


def test_forward_backward_equals_the_sum_over_all_texts() -> None:
    made, train, attacker = considered("2")
    reading = train.part(np.array([0]))
    outputs = made.draw(reading)
    found = attacker.of(reading, outputs)
    model = chain.Bigrams(train, len(made.words.spelled))
    mine = np.exp(chain.posterior(model, reading, found))
    assert np.allclose(mine, defined_posterior(model, reading, found))


def defined_posterior(model: chain.Bigrams, reading: Any, found: Candidates) -> Any:
    hidden = dict(zip(found.places.tolist(), range(len(found.places)), strict=True))
    options: list[Sequence[int]] = [
        range(int((found.words[hidden[place]] >= 0).sum())) if place in hidden else [0]
        for place in range(len(reading.word))
    ]
    total = np.zeros(found.words.shape)
    for choice in itertools.product(*options):
        words = [
            found.words[hidden[place], option] if place in hidden else reading.word[place]
            for place, option in enumerate(choice)
        ]
        weight = np.prod([np.exp(found.likelihood[row, choice[place]]) for place, row in hidden.items()])
        for pair in itertools.pairwise([-1, *words, -1]):
            weight *= model.between(*(np.array([word]) for word in pair))[0, 0]
        for place, row in hidden.items():
            total[row, choice[place]] += weight
    return total / total.sum(axis=1, keepdims=True)


def test_a_paragraph_is_told_by_which_of_its_words_are_equal() -> None:
    made = release.of_plan(release.Words(), plan(consistent=True))
    cut = [segments(text) for text in ("dog cat dog", "dog cat cat", "dog dog cat")]
    # Unlike words may come out equal: not every draw is told.
    reading = made.read(cut)
    assert max(pattern(reading, made.draw(reading), 3) for _ in range(30)) == 1


def test_spans_that_come_out() -> None:
    made = release.unchanged(release.of_plan(release.Words(), plan()))
    record = {"text": "Mary Dog is here", "spans": [{"type": "PERSON", "start": 0, "end": 8}]}
    found = personal.measure(made, [record], frozenset({"is"}), frozenset({"dog"}))
    assert found["persons"] == {
        "spans": 1, "whole": 1, "any": 1, "words": 1, "same": 1, "commonest": [("dog", 1)],
    }  # fmt: skip
    hidden = release.constant(release.of_plan(release.Words(), plan(kinds=False)), NOTHING)
    found = personal.measure(hidden, [record], frozenset({"is"}), frozenset({"dog"}))
    assert (found["persons"]["any"], found["persons"]["same"]) == (0, 0)


@dataclass
class Saved:
    path: Path

    def write(self, *records: dict[str, Any]) -> None:
        self.path.write_text("".join(json.dumps(record) + "\n" for record in records) + '{"cut sh')


def test_records_of_other_tables_are_stale(tmp_path: Path) -> None:
    saved = Saved(tmp_path / "records.jsonl")
    fresh = {"job": "task", "task": "sst2", "row": "every-8", "draw": 0, "source": "a", "quick": False}
    saved.write(fresh, fresh | {"draw": 1, "source": "b"}, fresh | {"draw": 2, "quick": True})
    assert run.kept(saved.path, lambda row: "a", False) == {("task", "every-8", "sst2", 0)}
    assert [json.loads(line) for line in saved.path.read_text().splitlines()] == [fresh]
    assert run.kept(saved.path.with_name("none"), lambda row: "a", False) == set()


def test_heights_between_levels() -> None:
    line = [(0.2, 0.5), (0.4, 0.7), (0.6, 0.8)]
    assert between(line, 0.3) == pytest.approx(0.6)
    assert between(line, 0.1) is None


def test_an_encoder_is_always_tuned_on_the_same_rows() -> None:
    lines = [f"row {number}" for number in range(100)]
    few = tuned.chosen(lines, 10)
    assert few == sorted(few, key=lines.index)
    assert len(set(few)) == 10
    assert set(few) <= set(tuned.chosen(lines, 20))
    assert tuned.chosen(lines, 0) == lines
