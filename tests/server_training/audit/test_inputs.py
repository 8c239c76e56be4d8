"""Pairs are neighbors under the claim, sets have no repeated input, and events are learned from outputs of any kind."""

import numpy as np
import pytest
from textveil_training.audit import (
    InputPair,
    collect_metric_set,
    list_sample_texts,
    propose_pairs,
    propose_sets,
    propose_vector_pairs,
)
from textveil_training.audit.events import InputGuesser, learn_event
from textveil_training.errors import SettingError


def count_differences(first: str, second: str) -> int:
    return sum(one != other for one, other in zip(first.split(), second.split(), strict=True))


def test_the_sample_has_a_thousand_different_texts() -> None:
    texts = list_sample_texts()
    assert len(set(texts)) == len(texts) >= 1000


@pytest.mark.parametrize("seed", range(5))
def test_pairs_of_one_word_differ_in_one_word(seed: int) -> None:
    pairs = propose_pairs(list_sample_texts(), "word", np.random.default_rng(seed))
    assert pairs
    assert all(count_differences(*pair.inputs) == 1 for pair in pairs)


@pytest.mark.parametrize("seed", range(5))
def test_sets_of_one_word_have_pairwise_neighbors(seed: int) -> None:
    largest = propose_sets(list_sample_texts(), "word", np.random.default_rng(seed))[-1].inputs
    assert len(largest) > 50
    assert all(count_differences(one, other) == 1 for one in largest[:30] for other in largest[:30] if one != other)


def test_pairs_of_texts_include_extremes_and_never_equal_texts() -> None:
    pairs = propose_pairs(["a", "b c d e", "a b"], "text", np.random.default_rng(1))
    assert ("a", "b c d e") in [pair.inputs for pair in pairs]
    assert all(one != other for one, other in (pair.inputs for pair in pairs))


def test_sets_have_at_most_a_thousand_texts_and_no_repeats() -> None:
    sizes = [len(one.inputs) for one in propose_sets(list_sample_texts(), "text", np.random.default_rng(1))]
    assert sizes == [2, 10, 100, 1000]


def test_a_metric_set_has_only_known_distances() -> None:
    pairs = [InputPair(pair, distance) for pair, distance in ((("a", "b"), 1), (("a", "c"), 3), (("c", "b"), 2))]
    (found,) = collect_metric_set([*pairs, InputPair(("a", "far"), 9)])
    assert (found.inputs, found.distance) == (("a", "b", "c"), 3)
    assert collect_metric_set(pairs[:2]) == []


def test_vector_pairs_have_the_norm() -> None:
    for pair in propose_vector_pairs(9, 2.0):
        assert max(np.linalg.norm(one) for one in pair.inputs) == pytest.approx(2.0)
    with pytest.raises(SettingError):
        propose_vector_pairs(0, 1.0)


def test_the_guesser_prefers_rare_words_and_not_long_inputs() -> None:
    guesser = InputGuesser(
        ["the sister of anna", "the brother of berta and many more people in the town", "the sister"]
    )
    assert guesser.guess(["x anna y", "berta", "the sister", "the sister of anna"]).tolist() == [0, 1, 2, 0]


def test_the_guesser_reads_words_without_regard_to_case() -> None:
    guesser = InputGuesser(["the Sister of Anna", "the Brother of Berta"])
    assert guesser.guess(["THE SISTER", "berta", "the Brother of Berta"]).tolist() == [0, 1, 1]


def test_the_guesser_finds_the_nearest_vector() -> None:
    guesser = InputGuesser(np.array([[0.0, 0], [5, 5], [0, 9]]))
    assert guesser.guess(np.array([[0.4, 0.1], [1, 8], [9, 9]])).tolist() == [0, 2, 1]


def test_places_words_lengths_and_overlaps_are_learned() -> None:
    generator = np.random.default_rng(1)
    noise = [" ".join(generator.choice(list("abcdefgh"), 3)) for _ in range(2000)]
    for first, second in (
        ([f"q {one}" for one in noise[:1000]], [f"{one} q" for one in noise[1000:]]),  # the same word elsewhere
        ([f"{one} z" for one in noise[:1000]], noise[1000:]),
        ([one[:3] for one in noise[:1000]], noise[1000:]),
    ):
        event = learn_event(first, second, ("x", "y"), 0.001)
        assert event.bound_epsilon(first, second, 0.001, 0.0) > 4.5


def test_an_event_of_vectors_sees_spread_as_well_as_place() -> None:
    generator = np.random.default_rng(1)
    narrow, wide = generator.normal(0, 1, (4000, 3)), generator.normal(0, 4, (4000, 3))
    event = learn_event(narrow[:2000], wide[:2000], (0, 1), 0.001)
    assert event.bound_epsilon(narrow[2000:], wide[2000:], 0.001, 0.0) > 3
