"""The closed form of the Bayes attack equals the sum over outputs, and a simulation agrees."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from attacked_texts import COUNT, IDENTITY, matrix, near, no_steps, texts
from textveil_export.leakage import guess_from_one_release, make_zipf_prior
from textveil_training.attacks.text.context_free import attack_bayes
from textveil_training.attacks.text.released import release_texts
from textveil_training.token_randomizer import TokenRandomizer


@pytest.mark.parametrize(
    "options",
    [
        {"mechanism": "santext", "epsilon": "8"},
        {"mechanism": "santext+", "epsilon": "18"},
        {"mechanism": "santext+", "epsilon": "8"},
        {"mechanism": "krr", "epsilon": "2"},
        {"mechanism": "random"},
        IDENTITY,
    ],
    ids=lambda options: "-".join(options.values()),
)
def test_the_closed_form_is_the_sum_over_outputs_and_simulation_agrees(
    folders: dict[str, Path], options: dict[str, Any]
) -> None:
    channel = TokenRandomizer(folders["all" if options == IDENTITY else "words"], **options)
    released = release_texts(channel, texts(300))
    found = attack_bayes(channel, released, seed=1, report=no_steps, draws=4000)
    rows, prior = matrix(channel), make_zipf_prior(COUNT + 1)
    truth = (rows * prior[:, None]).max(axis=0).sum()
    assert found["closed_form"] == pytest.approx(truth, abs=2e-6)
    assert near(found["simulated"], truth, math.sqrt(truth * (1 - truth) / 4000))
    own = np.bincount(released.inputs, minlength=COUNT + 1) / len(released)
    truth = (rows * own[:, None]).max(axis=0).sum()
    assert found["text_prior"]["closed_form"] == pytest.approx(truth, abs=2e-6)
    # Given the text, its rate is a mean of independent hits whose expectation is the closed form.
    assert near(found["text_prior"]["on_text"]["top1"], truth, 0.5 / math.sqrt(len(released)))
    if options["mechanism"] == "random":
        assert found["closed_form"] == pytest.approx(prior.max(), abs=2e-6)
        assert found["text_prior"]["on_text"]["top1"] == pytest.approx(own.max(), abs=2e-6)
    if options == IDENTITY:
        assert found["closed_form"] == pytest.approx(1 - prior[-1], abs=1e-4)  # <unk> comes out as anything
        assert found["on_text"]["top1"] == pytest.approx(1 - own[-1], abs=1e-4)


def test_a_simulation_of_another_mechanism_is_noticed(folders: dict[str, Path]) -> None:
    """The comparison has power: guesses that are best for one level, outputs of the next."""
    one, other = (TokenRandomizer(folders["words"], mechanism="santext", epsilon=epsilon) for epsilon in ("8", "18"))
    prior = make_zipf_prior(COUNT + 1)
    found = guess_from_one_release(one.get_distribution(), {"zipf": prior})["zipf"]
    rate, guesses = found.rate, found.inputs
    drawn = np.random.default_rng(3).choice(COUNT + 1, 4000, p=prior)
    hits = (guesses[other.randomize_ids(drawn, np.ones(4000, bool))] == drawn).mean()
    assert not near(hits, rate, math.sqrt(rate * (1 - rate) / 4000))
