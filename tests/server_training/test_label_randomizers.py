"""Channels that release a decision, and their figures. tests/benchmarks/bounds compares them with the optimum."""

import math

import numpy as np
import pytest
from textveil_export.label import compute_realized_epsilon, make_integer_randomizer
from textveil_training.errors import InvalidRandomizer
from textveil_training.label_randomizers import (
    compute_label_probabilities,
    compute_recalls,
    fit_accuracy_randomizer,
    make_counts_randomizer,
)


def test_a_rare_class_is_given_up_at_a_small_epsilon() -> None:
    counts = np.array([[500, 0, 0], [0, 480, 0], [0, 0, 2]])
    channel = make_integer_randomizer(
        "accuracy", fit_accuracy_randomizer(counts, compute_realized_epsilon("0.5")), "0.5"
    )
    assert channel.base[2] == 0
    assert np.linalg.matrix_rank(channel.probability_matrix) < 3


def test_what_is_no_confusion_matrix_is_refused() -> None:
    for wrong in ([[1, 2]], [[0, 0], [0, 0]], [[-1, 2], [1, 1]]):
        with pytest.raises(InvalidRandomizer):
            fit_accuracy_randomizer(wrong, 1.0)


def test_recalls_and_probabilities_by_hand() -> None:
    counts, epsilon = np.array([[30, 10], [0, 60]]), math.log(3)
    channel = make_counts_randomizer(2, epsilon)
    np.testing.assert_allclose(channel, [[0.75, 0.25], [0.25, 0.75]])
    np.testing.assert_allclose(compute_recalls(counts, channel), [0.75 * 0.75 + 0.25 * 0.25, 0.75])
    assert np.isnan(compute_recalls([[0, 0], [1, 3]], channel)[0])
    shares = compute_label_probabilities(counts, channel)
    smoothed = counts + 0.5
    first = [0.75 * smoothed[k, 0] + 0.25 * smoothed[k, 1] for k in range(2)]
    np.testing.assert_allclose(shares[0], np.array(first) / sum(first))
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    never = compute_label_probabilities(counts, [[1, 0], [1, 0]])
    np.testing.assert_allclose(never[1], smoothed.sum(axis=1) / smoothed.sum())
