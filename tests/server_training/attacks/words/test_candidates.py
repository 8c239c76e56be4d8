"""The context-free attack guesses the most probable word under the mechanism and the prior."""

from dataclasses import replace

import numpy as np
import pytest
from textveil.mechanisms.randomizer import ScoreRandomizer
from textveil.mechanisms.scores import EqualityScores
from textveil.text import split_text
from textveil_training.attacks.words import RANDOMIZED
from textveil_training.attacks.words.attacker import WordAttacker
from textveil_training.attacks.words.candidates import CandidateFinder
from toy_release import VOCABULARY, considered, texts


def test_bayes_takes_the_most_probable_original() -> None:
    made, train, attacker = considered("3")
    outputs = made.draw(train)
    found = attacker.find_candidates(train, outputs)
    number = int(np.flatnonzero(train.role[found.places] == RANDOMIZED)[0])
    y = made.words.spellings[outputs[found.places[number]]]
    prior = np.bincount(train.index[train.role == RANDOMIZED], minlength=len(VOCABULARY)) + 0.05
    joint = prior * made.randomizers[1].compute_columns(np.array([VOCABULARY.index(y)]))[0][:-1]
    best = made.words.spellings[found.bayes[number]]
    assert joint[VOCABULARY.index(best)] == pytest.approx(joint.max())
    assert 0 < attacker.compute_closed_form(np.ones(len(made.words.spellings), dtype=bool)) <= 1


def test_what_was_found_of_an_output_before_is_what_is_found_again() -> None:
    made, train, attacker = considered("3")
    halves = [train.take_documents(np.arange(80)), train.take_documents(np.arange(80, 160))]
    few = train.take_documents(np.arange(1))
    attacker.find_candidates(few, made.draw(few))  # knows some outputs, and is asked for more
    _, _, fresh = considered("3")
    for half in halves:
        out = made.draw(half)
        again, anew = attacker.find_candidates(half, out), fresh.find_candidates(half, out)
        for mine, other in zip(vars(again).values(), vars(anew).values(), strict=True):
            assert np.array_equal(mine, other)


def test_a_kept_word_that_the_known_texts_lack_is_its_own_original() -> None:
    """SanText+ never draws a common word and keeps it by a coin: *cat* stands in no known text here."""
    made, train, _ = considered("3")
    common = np.array([word == "cat" for word in [*VOCABULARY, ""]])
    channel = ScoreRandomizer(
        scores=EqualityScores(len(VOCABULARY)),
        score_weights=np.array([50, 1], np.int64),
        base=(~common[:-1]).astype(np.int64),
        is_keepable=common,
        keep_threshold=1 << 63,
    )
    kept = replace(made, randomizers=(channel, channel), draw_words=lambda inputs, whole, lower: made.printed[inputs])
    reading = kept.read([split_text("the cat")])
    found = CandidateFinder(kept, train).find_candidates(reading, kept.draw(reading))
    assert kept.words.spellings[found.bayes[-1]] == "cat"
    assert np.isfinite(found.likelihood[-1, 0])
    assert not np.isfinite(found.likelihood[-1, 1:]).any()
    attacker = WordAttacker([*texts(), *[split_text("the cat")] * 2], [], [kept], None, trigrams_alone=True)
    _, weights = attacker.prepare_release(kept)
    assert np.isfinite(weights).all()
