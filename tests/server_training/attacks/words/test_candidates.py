"""The context-free attack takes what the mechanism and the prior make most probable."""

from dataclasses import replace

import numpy as np
import pytest
from textveil.mechanisms.channel import ScoreChannel
from textveil.mechanisms.scores import EqualityScores
from textveil.text import segments
from textveil_training.attacks.words import DRAWN
from textveil_training.attacks.words.attacker import Attacker
from textveil_training.attacks.words.candidates import Considered
from toy_release import VOCABULARY, considered, texts


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


def test_a_kept_word_that_the_known_texts_lack_is_its_own_original() -> None:
    """SanText+ never draws a common word and keeps it by a coin: *cat* stands in no known text here."""
    made, train, _ = considered("3")
    common = np.array([word == "cat" for word in [*VOCABULARY, ""]])
    channel = ScoreChannel(
        scores=EqualityScores(len(VOCABULARY)),
        score_weights=np.array([50, 1], np.int64),
        base=(~common[:-1]).astype(np.int64),
        keepable=common,
        kept_of_2_64=1 << 63,
    )
    kept = replace(made, channels=(channel, channel), drawn=lambda inputs, whole, lower: made.printed[inputs])
    reading = kept.read([segments("the cat")])
    found = Considered(kept, train).of(reading, kept.draw(reading))
    assert kept.words.spelled[found.bayes[-1]] == "cat"
    assert np.isfinite(found.likelihood[-1, 0])
    assert not np.isfinite(found.likelihood[-1, 1:]).any()
    attacker = Attacker([*texts(), *[segments("the cat")] * 2], [], [kept], None, trigrams_alone=True)
    _, weights = attacker.prepared(kept)
    assert np.isfinite(weights).all()
