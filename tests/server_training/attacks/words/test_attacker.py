"""All attacks on a release recover words at known rates, their sum is weighted, and none reads hidden words."""

from dataclasses import replace

import numpy as np
import pytest
from textveil_training.attacks.words import RANDOMIZED, SURROGATE, WordAttacker, WordRelease, attack_words, attacker
from toy_release import VOCABULARY, considered, texts

PAIRS = [("red", "house"), ("blue", "tree"), ("big", "dog"), ("nurse", "sleeps")]


def unlike(start: int) -> list[str]:
    """Texts of the toy language that share no five words in a row: each has words of its own."""
    rng = np.random.default_rng(start)
    own = ["".join(chr(98 + int(digit)) for digit in str(number)) for number in range(start, start + 400)]
    chosen = [[PAIRS[number] for number in rng.integers(0, 4, 2)] for _ in own]
    return [f"the {a} {b} q{word} the {c} {d}" for word, ((a, b), (c, d)) in zip(own, chosen, strict=True)]


@pytest.fixture(scope="module")
def made() -> tuple[WordRelease, WordAttacker]:
    release, _, _ = considered("2")
    return release, WordAttacker(texts(), [], [release], None)


def test_the_sum_never_uses_the_hidden_text(
    made: tuple[WordRelease, WordAttacker], monkeypatch: pytest.MonkeyPatch
) -> None:
    release, learned = made
    target = release.read(texts()[:20])
    outputs = release.draw(target)
    hidden = np.isin(target.role, (RANDOMIZED, SURROGATE))
    learned.prepare_release(release)
    monkeypatch.setattr(release, "draw", lambda reading: outputs)
    swapped = replace(target, word=np.where(hidden, np.roll(target.word, 1), target.word))
    guesses, of_swapped = (attacker.guess_words(release, learned, reading) for reading in (target, swapped))
    for name, guess in guesses.items():
        assert np.array_equal(guess[hidden], of_swapped[name][hidden]), name


@pytest.mark.slow
def test_all_attacks_name_more_than_what_came_out() -> None:
    release, _, _ = considered("2")
    found = attack_words(
        release, unlike(2000)[:60], unlike(1000), prior=[*unlike(3000), "the nurse sleeps"], vectors=None, draws=3,
        function_words=frozenset({"the", "is"}), vocabulary=VOCABULARY,
    )  # fmt: skip
    assert found["draws"] == 3
    assert found["known_texts"] == {"texts": 400, "words": 2800, "left_out": 0}
    assert found["prior_texts"] == {"texts": 400, "words": 2800, "left_out": 1}
    known = found["known"]
    for name in ("trigrams", "network", "sum"):
        assert known["unchanged"] + 0.1 < known[name] <= 1
    assert known["sum"] > max(known["trigrams"], known["network"]) - 0.1
    assert max(known["deviations"].values()) > 0


def test_every_text_is_learned_from_once_a_pass_and_drawn_when_its_turn_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    release, train, considered_ = considered("2")
    monkeypatch.setattr(attacker, "_AT_ONCE", 50)
    asked: list[int] = []
    monkeypatch.setattr(release, "draw", lambda reading: asked.append(reading.documents) or reading.word)
    draws = attacker._plan_draws([(release, train, considered_)], len(release.words.spellings) + 1, 2)
    assert (len(draws), asked) == (8, [])
    for number, draw in enumerate(draws):
        assert len(draw()) == 1
        assert len(asked) == number + 1
    assert sum(asked[:4]) == sum(asked[4:]) == train.documents == 160
    assert max(asked) <= 50


def test_every_attack_is_a_part_of_the_sum(made: tuple[WordRelease, WordAttacker]) -> None:
    release, learned = made
    assert len(learned.prepare_release(release)[1]) == 3  # trigrams, the network, and what is said without context
    alone = WordAttacker(texts(), [], [release], None, trigrams_alone=True)
    assert len(alone.prepare_release(release)[1]) == 2
    named = attacker.guess_words(release, alone, release.read(texts()[:5]))
    assert set(named) == {"unchanged", "bayes", "trigrams", "sum"}


def test_weights_trust_the_part_that_is_right() -> None:
    rng = np.random.default_rng(0)
    right = np.eye(4, dtype=bool)[rng.integers(0, 4, 500)]
    telling = np.where(right ^ (rng.random((500, 1)) < 0.2), 0.0, -3.0)
    noise = rng.normal(size=(500, 4))
    weights = attacker.fit_weights([telling, noise], right)
    assert weights[0] > 0.5
    assert abs(weights[1]) < 0.2
    assert (attacker.add_parts([telling, noise], weights).argmax(axis=1) == right.argmax(axis=1)).mean() > 0.7


def test_a_word_that_is_no_candidate_is_not_named() -> None:
    parts = [np.array([[0.0, -1.0, -np.inf]]), np.array([[-2.0, -1.0, -np.inf]])]
    assert np.isneginf(attacker.add_parts(parts, np.array([-1.0, -1.0]))).tolist() == [[False, False, True]]
