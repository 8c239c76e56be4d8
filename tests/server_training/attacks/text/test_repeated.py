"""The posteriors of the attack on repeated releases are calibrated, and those of a wrong model are not."""

import math
from pathlib import Path

import numpy as np
import pytest
from attacked_texts import COUNT, IDENTITY, WORDS, near, no_steps, texts
from textveil.text import Options
from textveil_training.attacks.text import context_free
from textveil_training.attacks.text.context_free import attack_bayes, attack_repeated
from textveil_training.attacks.text.released import ReleasedTexts, release_texts
from textveil_training.token_randomizer import TokenRandomizer


def both(channel: TokenRandomizer, released: ReleasedTexts) -> dict[str, np.ndarray]:
    return context_free.make_priors(released.inputs, channel.unknown_id + 1)


def test_largest_posteriors_say_how_often_guesses_are_right(folders: dict[str, Path]) -> None:
    """Under the frequencies of the text the posterior is true: its mean is the rate, after any number of outputs."""
    for options in (Options(mechanism="santext+", epsilon="8"), Options(mechanism="santext", epsilon="8")):
        channel = TokenRandomizer(folders["words"], **options)
        released = release_texts(channel, texts(400))
        everything = np.arange(len(released))
        found = attack_repeated(channel, released, everything, both(channel, released), no_steps, (1, 2, 5))
        rows = [found[count]["text_prior"] for count in ("1", "2", "5")]
        for row in rows:
            assert near(row["rate"], row["largest_posterior"], 0.5 / math.sqrt(len(released)))
            for part in [row, *([row["sensitive"]] if "sensitive" in row else [])]:
                assert 0 < part["interval"][1] - part["interval"][0] < 0.2
                assert part["interval"][0] <= part["rate"] <= part["interval"][1]
        assert ("sensitive" in rows[0]) == (options.get("mechanism") == "santext+")
        assert rows[0]["rate"] < rows[1]["rate"] < rows[2]["rate"]
        truth = attack_bayes(channel, released, seed=0, report=no_steps, draws=10)["text_prior"]["closed_form"]
        assert rows[0]["largest_posterior"] == pytest.approx(truth, abs=0.05)


def test_posteriors_of_another_mechanism_are_noticed(folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    channel, other = (
        TokenRandomizer(folders["words"], mechanism="santext", epsilon=epsilon) for epsilon in ("8", "18")
    )
    released = release_texts(channel, texts(400))
    monkeypatch.setattr(channel, "get_distribution", other.get_distribution)
    row = attack_repeated(channel, released, np.arange(len(released)), both(channel, released), no_steps, (2,))["2"]
    row = row["text_prior"]
    assert not near(row["rate"], row["largest_posterior"], 0.5 / math.sqrt(len(released)))


def test_repeated_release_of_the_identity_and_of_chance(
    folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    from textveil_training.attacks.text import context_free as module

    monkeypatch.setattr(module, "_CELLS", 50 * (COUNT + 1))  # tokens in several parts
    known = [(text.replace("zzz", WORDS[0]),) for (text,) in texts(60)]
    channel = TokenRandomizer(folders["all"], **IDENTITY)
    released = release_texts(channel, known)
    sample = np.arange(0, len(released), 2)
    found = attack_repeated(channel, released, sample, both(channel, released), no_steps, (1, 3))
    assert [found[n]["rate"] for n in ("1", "3")] == [1, 1]
    assert found["1"]["tokens"] == len(sample)
    assert [found[n]["interval"][1] for n in ("1", "3")] == [1, 1]
    assert found["1"]["interval"][0] < 0.96
    channel = TokenRandomizer(folders["words"], mechanism="random")
    found = attack_repeated(channel, released, sample, both(channel, released), no_steps, (1, 3))
    prior = both(channel, released)["zipf"]
    for row in found.values():
        assert row["largest_posterior"] == pytest.approx(prior.max(), abs=1e-5)
        assert row["rate"] == pytest.approx((released.inputs[sample] == 0).mean(), abs=1e-6)
