"""The context-free attack takes what the mechanism and the prior make most probable."""

import numpy as np
import pytest
from textveil_training.attacks.words import DRAWN
from toy_release import VOCABULARY, considered


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


def test_what_was_found_of_an_output_before_is_what_is_found_again() -> None:
    made, train, attacker = considered("3")
    halves = [train.part(np.arange(80)), train.part(np.arange(80, 160))]
    few = train.part(np.arange(1))
    attacker.of(few, made.draw(few))  # knows some outputs, and is asked for more
    _, _, fresh = considered("3")
    for half in halves:
        out = made.draw(half)
        again, anew = attacker.of(half, out), fresh.of(half, out)
        for mine, other in zip(vars(again).values(), vars(anew).values(), strict=True):
            assert np.array_equal(mine, other)
