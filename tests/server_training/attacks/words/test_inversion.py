"""The attack by counts learns what neighbors tell."""

import numpy as np
from textveil_training.attacks.words import chain
from textveil_training.attacks.words.inversion import Inversion
from toy_release import considered


def test_the_attack_by_counts_names_what_its_neighbors_tell() -> None:
    made, train, attacker = considered("2")
    model = chain.Bigrams(train, len(made.words.spelled))
    inversion = Inversion(train, made.draw)
    right = {}
    for name in ("learn", "guess"):
        outputs = made.draw(train)
        found = attacker.of(train, outputs)
        chained = chain.posterior(model, train, found)
        if name == "learn":
            inversion.learn(train, outputs, found, chained)
        truth = train.word[found.places]
        scores = inversion.scores(train, outputs, found, chained)
        assert np.allclose(np.exp(scores).sum(axis=1), 1)
        named = found.words[np.arange(len(scores)), scores.argmax(axis=1)]
        right = {"unchanged": (outputs[found.places] == truth).mean(), "counts": (named == truth).mean()}
    assert right["unchanged"] < 0.6
    assert right["counts"] > right["unchanged"] + 0.2
