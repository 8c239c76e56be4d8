"""Calibration of FBDD: N_w, S_w by eta, and distances of neighbors, against distributions that are known."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from textveil import Sanitizer
from textveil.errors import OptionError
from textveil.mechanisms import random_uint64
from textveil.mechanisms.baselines import Fbdd
from textveil.mechanisms.baselines import fbdd_statistics as statistics


class KnownMechanism:
    """Returns the word itself, then other words, in fixed shares of every 100 outputs."""

    epsilon = 1.0

    def draw_symbols(self, inputs: Any, random_uint64: object) -> Any:
        outputs = np.asarray(inputs).copy()
        place = np.arange(len(outputs)) % 100
        outputs[(place >= 60) & (place < 90)] = 1001
        outputs[place >= 90] = 2000 + place[place >= 90]
        return outputs


@pytest.mark.parametrize(("eta", "likely"), [(0.0, 12), (0.05, 7), (0.1, 2), (0.4, 1), (0.39, 2), (0.999, 1)])
def test_figures_of_a_known_distribution(eta: float, likely: int) -> None:
    known: Any = KnownMechanism()
    found = statistics.measure_fbdd(known, np.array([3, 4]), 1000, random_uint64, eta=eta)
    assert found.unchanged.tolist() == [0.6, 0.6]
    assert found.likely_outputs.tolist() == [likely, likely]
    assert (found.draws, found.eta, found.epsilon) == (1000, eta, 1.0)


@pytest.mark.parametrize("fault", [lambda outputs, required: len(outputs), lambda outputs, required: required])
def test_a_wrong_count_is_found(monkeypatch: pytest.MonkeyPatch, fault: Callable[..., int]) -> None:
    monkeypatch.setattr(statistics, "count_likely_outputs", fault)
    with pytest.raises(AssertionError):
        test_figures_of_a_known_distribution(0.05, 7)


@pytest.mark.parametrize(
    ("words", "draws", "eta", "message"),
    [
        (0, 10, 0.0, "number of words"),
        (10**7, 10, 0.0, "number of words"),
        (1, 0, 0.0, "number of draws"),
        (1, 10**7, 0.0, "number of draws"),
        (1, 10, 1.0, "eta must be at least 0 and below 1"),
        (1, 10, -0.1, "eta must be at least 0 and below 1"),
        (1, 10, float("nan"), "eta must be at least 0 and below 1"),
    ],
)
def test_numbers_out_of_range_are_refused(words: int, draws: int, eta: float, message: str) -> None:
    with pytest.raises(OptionError, match=message):
        statistics.check_calibration(words, draws, eta)


def test_distances_are_those_of_the_metric(tiny: Sanitizer) -> None:
    table, metric = tiny.bundle.table, tiny.bundle.metric
    fbdd = Fbdd.from_table(table, metric, Decimal(5))
    words = statistics.choose_output_words(fbdd, 4)
    found = statistics.measure_neighbor_distances(fbdd, words)
    assert list(found) == [rank for rank in statistics.NEIGHBOR_RANKS if rank < len(fbdd.outputs.ids)]
    for number, word in enumerate(words.tolist()):
        distances = sorted(metric.compute_distance(word, int(other)) for other in fbdd.outputs.ids if other != word)
        for rank, values in found.items():
            assert values[number] == pytest.approx(distances[rank - 1])


def test_chosen_words_are_outputs(tiny: Sanitizer) -> None:
    fbdd = Fbdd.from_table(tiny.bundle.table, tiny.bundle.metric, Decimal(5))
    every = statistics.choose_output_words(fbdd, 10_000)
    assert every.tolist() == fbdd.outputs.ids.tolist()
    some = statistics.choose_output_words(fbdd, 3)
    assert len(some) == 3
    assert set(some.tolist()) <= set(every.tolist())


def test_words_stay_more_often_at_a_larger_epsilon(tiny: Sanitizer) -> None:
    table, metric = tiny.bundle.table, tiny.bundle.metric
    words = statistics.choose_output_words(Fbdd.from_table(table, metric, Decimal(1)), 5)
    means = [
        statistics.measure_fbdd(Fbdd.from_table(table, metric, Decimal(epsilon)), words, 200, random_uint64)
        for epsilon in ("0.001", "1000")
    ]
    assert means[0].unchanged.mean() < 0.5 < means[1].unchanged.mean() == 1
    assert means[0].likely_outputs.mean() > means[1].likely_outputs.mean() == 1
