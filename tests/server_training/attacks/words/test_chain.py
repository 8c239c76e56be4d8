"""Forward-backward is the sum over all texts, by bigrams that are probabilities."""

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from textveil.text import segments
from textveil_training.attacks.words import Candidates, chain
from toy_release import considered


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


@pytest.mark.parametrize("general", [False, True])
def test_probabilities_of_the_next_word_sum_to_one(general: bool) -> None:
    made, train, _ = considered("2")
    other = made.read([segments("the dog house is a big unheard tree"), segments("dog house")]) if general else None
    size = len(made.words.spelled)
    model = chain.Bigrams(train, size, other)
    words = np.append(np.unique(train.word), [-1, size])
    assert np.allclose(model.between(words, words).sum(axis=1), 1, atol=2e-3)
    dog, house = (np.array([made.words.ids[word]]) for word in ("dog", "house"))
    alone = chain.Bigrams(train, size).between(dog, house)
    assert (model.between(dog, house) > alone) == general


def test_a_text_is_never_judged_by_the_model_that_counted_it() -> None:
    made, train, attacker = considered("2")
    fold = np.arange(train.documents) % 2
    size = len(made.words.spelled)
    models = [chain.Bigrams(train.part(np.flatnonzero(fold != n)), size) for n in range(2)]
    found = attacker.of(train, made.draw(train))
    crossed = chain.crossed(models, fold, train, found)
    for number, model in enumerate(models):
        rows = np.isin(train.document[found.places], np.flatnonzero(fold == number))
        assert np.allclose(crossed[rows], chain.posterior(model, train, found)[rows])
