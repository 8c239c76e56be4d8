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
