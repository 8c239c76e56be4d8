"""``Randomizer`` computes the sampler's output distribution, equal to the definition.

Rows, columns, pairs and logs are compared with plain loops over the definition in Python's integers, for every
mechanism with weights, with and without SanText+'s coin.
"""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import small_bundles
from defined_weights import defined_weights
from textveil.mechanisms.baselines.randomized_response import RandomizedResponse
from textveil.mechanisms.baselines.santext import SanText
from textveil.mechanisms.randomizer import ScoreRandomizer
from textveil.mechanisms.scores import MetricScores
from textveil.text.sanitizer import make_plan
from textveil_export.text.write import write_bundle


@pytest.fixture(scope="module")
def bundle(tmp_path_factory):
    folder = tmp_path_factory.mktemp("channel") / "b"
    vectors = small_bundles.scattered(24, 8, seed=71)
    built = small_bundles.contents(vectors, k=5, exponents=("1.5", "4"))
    measure = np.random.default_rng(72).integers(1, 256, built.definition["vocabulary_size"]).astype(np.uint8)
    built = small_bundles.with_base(built, 1, "santext+", measure)
    return write_bundle(built, folder)


def channels(bundle):
    for level in bundle.santext_levels:
        for mechanism, parameters in level.parameters.items():
            drawn = SanText.from_table(bundle.santext_table, bundle.metric, mechanism, parameters)
            yield drawn, defined_weights(bundle, mechanism, parameters)


def assert_is(channel: ScoreRandomizer, wanted: list[list[int]]) -> None:
    """Every way to ask the channel gives the distribution with these weights; integers exactly, doubles to 1e-12."""
    inputs, outputs = np.arange(len(wanted)), np.arange(len(wanted[0]))
    assert channel.compute_input_weights(inputs).tolist() == wanted
    assert channel.compute_output_weights(outputs).T.tolist() == wanted
    totals = [sum(row) for row in wanted]
    assert channel.totals.tolist() == totals
    exact = [[Fraction(weight, total) for weight in row] for row, total in zip(wanted, totals, strict=True)]
    if channel.keep_threshold:
        assert channel.is_keepable is not None
        kept = Fraction(channel.keep_threshold, 2**64)
        for x in np.flatnonzero(channel.is_keepable):
            exact[x] = [(1 - kept) * p + kept * (y == x) for y, p in enumerate(exact[x])]
    real = np.array(exact, dtype=np.float64)
    np.testing.assert_allclose(channel.compute_rows(inputs), real, rtol=1e-12)
    np.testing.assert_allclose(channel.compute_columns(outputs).T, real, rtol=1e-12)
    logs = np.array([[math.log(p) if p else -np.inf for p in row] for row in exact])
    np.testing.assert_allclose(channel.compute_log_rows(inputs), logs, atol=1e-12)
    ids = outputs[::-1]
    parts = list(channel.iterate_column_blocks(ids, size=5))
    assert np.concatenate([part for part, _ in parts]).tolist() == ids.tolist()
    np.testing.assert_array_equal(np.concatenate([block for _, block in parts]), channel.compute_columns(ids))


def test_santext_is_the_definition(bundle):
    for mechanism, wanted in channels(bundle):
        assert_is(mechanism.randomizer, wanted)


@pytest.mark.parametrize(("tail", "excess"), [(1, 0), (3, 50)])
def test_randomized_response(tail, excess):
    is_output = np.array([1, 0, 1, 1, 0, 1])
    mechanism = RandomizedResponse(is_output, tail, excess)
    wanted = [[int(o) * (tail + excess * (x == y)) for y, o in enumerate(is_output)] for x in range(7)]
    assert_is(mechanism.randomizer, wanted)
    assert [mechanism.compute_rows(np.array([x])).compute_weights(0).tolist() for x in range(7)] == wanted


@pytest.mark.parametrize("options", [{}, {"replacement_probability": "0.5"}, {"replacement_probability": "1"}])
def test_the_coin_is_mixed_in(bundle, options):
    mixed: Any = make_plan(bundle, mechanism="santext+", **options).mechanism
    parameters = bundle.santext_levels[0].parameters["santext+"]
    wanted = defined_weights(bundle, "santext+", parameters)
    assert mixed.is_keepable.any()
    assert_is(mixed.get_randomizer(), wanted)
    assert_is(mixed.get_randomizer(whole=False), wanted)
    assert not mixed.get_randomizer(whole=False).keep_probabilities.any()


def test_scores_are_those_of_the_metric(bundle):
    scores, ids = MetricScores(bundle.metric), np.arange(bundle.symbol_count + 1)
    first, second = (index.ravel() for index in np.meshgrid(ids, ids[:-1], indexing="ij"))
    expected = bundle.metric.compute_scores(bundle.metric.compute_squared(first, second)).reshape(
        len(ids), bundle.symbol_count
    )
    assert scores.score_inputs(ids).tolist() == expected.tolist()
    assert [scores.score_inputs(ids[x : x + 1])[0].tolist() for x in ids] == expected.tolist()
    assert scores.score_inputs(ids[:0]).shape == (0, bundle.symbol_count)
