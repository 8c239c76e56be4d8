"""Forward-backward equals the sum over all texts, with the mechanism's exact probabilities."""

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from textveil_training.attacks.words import Candidates, forward_backward
from textveil_training.attacks.words.kneser_ney import TrigramModel
from toy_release import considered


@pytest.mark.parametrize("row", range(4))
def test_forward_backward_equals_the_sum_over_all_texts(row: int) -> None:
    made, train, attacker = considered("2")
    reading = train.take_documents(np.array([row]))
    found = attacker.find_candidates(reading, made.draw(reading))
    model = TrigramModel(train, len(made.words.spellings))
    mine = np.exp(forward_backward.compute_posterior(model, reading, found))
    assert np.allclose(mine, defined_posterior(model, reading, found))


def defined_posterior(model: TrigramModel, reading: Any, found: Candidates) -> Any:
    hidden = dict(zip(found.places.tolist(), range(len(found.places)), strict=True))
    options = [
        found.words[hidden[place]][found.words[hidden[place]] >= 0].tolist() if place in hidden else [word]
        for place, word in enumerate(reading.word.tolist())
    ]
    table = probabilities(model, np.array([-1, *sorted({word for words in options for word in words})]))
    total = np.zeros(found.words.shape)
    for choice in itertools.product(*(range(len(words)) for words in options)):
        words = [-1, -1, *(words[option] for words, option in zip(options, choice, strict=True)), -1]
        weight = np.exp(sum(found.likelihood[row, choice[place]] for place, row in hidden.items()))
        for three in zip(words, words[1:], words[2:], strict=False):
            weight *= table[three]
        for place, row in hidden.items():
            total[row, choice[place]] += weight
    return total / total.sum(axis=1, keepdims=True)


def probabilities(model: TrigramModel, words: Any) -> dict[tuple[int, ...], float]:
    rows = model.map_words(words)
    left, a, b, seen = model.predict_after_two(rows, rows, rows)
    full = left[:, :, None] * model.predict_after_one(rows, rows)
    full[a, b] += seen
    return dict(zip(itertools.product(words.tolist(), repeat=3), full.ravel().tolist(), strict=True))


def test_the_hidden_words_of_a_text_change_nothing() -> None:
    made, train, attacker = considered("2")
    found = attacker.find_candidates(train, made.draw(train))
    other = train.word.copy()
    other[found.places] = train.word[found.places][::-1]
    model = TrigramModel(train, len(made.words.spellings))
    mine = forward_backward.compute_posterior(model, train, found)
    assert np.array_equal(mine, forward_backward.compute_posterior(model, replace(train, word=other), found))


@pytest.mark.filterwarnings("error")
def test_an_element_without_candidates_has_none_and_changes_no_other() -> None:
    """A member of a kind that the known texts lack: nothing can be named there."""
    made, train, attacker = considered("2")
    reading = train.take_documents(np.array([0]))
    found = attacker.find_candidates(reading, made.draw(reading))
    found.words[0], found.likelihood[0] = -1, -np.inf
    named = forward_backward.compute_posterior(TrigramModel(train, len(made.words.spellings)), reading, found)
    assert np.isneginf(named[0]).all()
    assert np.isfinite(named[1:][found.words[1:] >= 0]).all()
