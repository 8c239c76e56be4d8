"""The promise of SanText: ``2 alpha d`` and the rounding slack, for every two inputs and every output.

The check of ``privacy_bound`` on the weights that ``SanText`` draws by. What is stored must not
matter, nor the base measure, nor weights that end before the largest score. Faults are planted where they break the
promise, and the check must find them.
"""

from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import small_bundles
from defined_weights import outputs, squared_distances
from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st
from privacy_bound import GEOMETRIES, Finding, Weights, claimed, findings
from textveil import Sanitizer
from textveil.bundle.text_bundle import TextBundle
from textveil.errors import BundleDamaged
from textveil.mechanisms.baselines.santext import SanText, bound_rounding_slack
from textveil.mechanisms.baselines.table import LevelParameters, SanTextTable
from textveil.mechanisms.metric import WordMetric
from textveil.text.statement import TEXTBOOK
from textveil_export.errors import ExportError
from textveil_export.text.level_weights import LevelSetting, make_level_parameters

MECHANISMS = ("santext", "santext+")


def exact_rows(table: SanTextTable, metric: WordMetric, mechanism: str, law: LevelParameters) -> Weights:
    """Weights of the possible outputs under every input."""
    exact = SanText.from_table(table, metric, mechanism, law)
    allowed = np.flatnonzero(exact.base)
    return [
        exact.randomizer.compute_input_weights(np.array([x]))[0][allowed].tolist()
        for x in range(table.symbol_count + 1)
    ]


def found(
    bundle: TextBundle, law: LevelParameters, mechanism: str = "santext", weights: Weights | None = None
) -> list[Finding]:
    """Return the result of the check for a mechanism, or for other weights in its place."""
    weights = weights or exact_rows(bundle.table, bundle.metric, mechanism, law)
    bound = claimed(law, bundle.table.grid)
    return list(findings(weights, squared_distances(bundle), bundle.metric.median_squared, bound))


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("k", [1, 4, None])
@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_every_pair_of_every_level(
    opened: Callable[..., TextBundle], geometry: str, k: int | None, mechanism: str
) -> None:
    bundle = opened(geometry, k)
    for level in bundle.santext_levels:
        assert found(bundle, level.parameters[mechanism], mechanism) == []


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_any_base_measure_and_weights_that_end(
    opened: Callable[..., TextBundle], geometry: str, mechanism: str
) -> None:
    """Weights end with the last stored score: the score is then the smaller of the distance and a constant."""
    bundle = opened(geometry, 4)
    base = np.random.default_rng(6).integers(1, 256, bundle.symbol_count).astype(np.uint8)
    for level in bundle.santext_levels[:2]:
        law = level.parameters[mechanism]
        weighted = make_level_parameters(bundle.table, LevelSetting(law.exponent, base), len(law.weights) - 1)
        assert found(bundle, weighted, mechanism) == []
        ended = replace(weighted, weights=weighted.weights[: int(bundle.table.scores.max()) + 1])
        assert found(bundle, ended, mechanism) == []


@pytest.mark.slow
@given(
    st.integers(4, 12).flatmap(
        lambda words: st.lists(
            st.lists(st.integers(-127, 127), min_size=2, max_size=2), min_size=words, max_size=words, unique_by=tuple
        )
    ),
    st.sampled_from(["0.75", "2", "3.5"]),
)
@settings(max_examples=25, suppress_health_check=[HealthCheck.filter_too_much])
def test_any_small_vocabulary(points: list[list[int]], exponent: str) -> None:
    """Points that hypothesis chooses in a plane; a third coordinate, the same for all, keeps their scale."""
    vectors = np.array([[*point, 127] for point in points])
    lists = small_bundles.Lists(share=0.7, never_output=(1,))
    try:
        built = small_bundles.contents(vectors, k=1, exponents=(exponent,), lists=lists)
    except (ExportError, BundleDamaged):
        reject()  # a word too far from all others for its weights, or all of them merged
    table, metric = small_bundles.table_of(built), small_bundles.metric_of(built)
    law = table.get_level_parameters(Decimal(exponent), "weights.l0.santext", None)
    everyone = np.arange(table.symbol_count + 1)
    squared = np.concatenate([block for _, block in metric.iterate_squared_blocks(everyone)]).tolist()
    for mechanism in MECHANISMS:
        weights = exact_rows(table, metric, mechanism, law)
        assert not list(findings(weights, squared, metric.median_squared, claimed(law, table.grid)))


def test_statements_carry_the_bound(opened: Callable[..., TextBundle]) -> None:
    """Twice the exponent, and the slack of the smallest weight there is, which is at least 2^12."""
    bundle = opened("scattered", 4)
    for level in bundle.santext_levels:
        law = level.parameters["santext"]
        terms = Sanitizer(bundle).terms(mechanism="santext", epsilon=float(2 * law.exponent))
        promise: Any = terms.promise
        assert (terms.epsilon, promise.epsilon_kind) == (float(2 * law.exponent), TEXTBOOK)
        assert promise.rounding_slack == bound_rounding_slack(law.exponent, bundle.table.grid, int(law.weights[-1]))
        assert law.weights[-1] >= 1 << 12
        assert promise.rounding_slack < 2 * float(law.exponent) / bundle.table.grid + 5e-4


def test_the_check_has_no_room_to_spare(opened: Callable[..., TextBundle]) -> None:
    """Beyond a crowd the textbook bound is nearly met: an epsilon ten per cent lower is refused."""
    bundle = opened("lopsided", 4)
    law = bundle.santext_levels[0].parameters["santext"]
    bound = claimed(law, bundle.table.grid)
    lower = replace(bound, epsilon=bound.epsilon * Fraction(9, 10))
    weights = exact_rows(bundle.table, bundle.metric, "santext", law)
    assert list(findings(weights, squared_distances(bundle), bundle.metric.median_squared, lower))


# Faults that must be found.


def test_one_raised_weight_is_found(opened: Callable[..., TextBundle]) -> None:
    """A quarter more for one output of one row, where the bound is nearly met."""
    bundle = opened("lopsided", 4)
    law = bundle.santext_levels[0].parameters["santext"]
    weights = exact_rows(bundle.table, bundle.metric, "santext", law)
    last = outputs(bundle, "santext")[-1]
    weights[last][-1] += weights[last][-1] // 4
    assert any(finding.first == last for finding in found(bundle, law, weights=weights))


@pytest.mark.parametrize("geometry", ["twins", "clusters"])
def test_rows_that_are_capped_beside_rows_that_are_not_are_found(
    opened: Callable[..., TextBundle], geometry: str
) -> None:
    """What a device would do that draws some words without thinning, to save time: two mechanisms in one."""
    bundle = opened(geometry, 4)
    law = bundle.santext_levels[2].parameters["santext"]
    weights = exact_rows(bundle.table, bundle.metric, "santext", law)
    santext, allowed = SanText.from_table(bundle.table, bundle.metric, "santext", law), outputs(bundle, "santext")
    for x in range(0, bundle.symbol_count, 2):
        weights[x] = santext.compute_proposals(np.array([x])).compute_weights(0)[allowed].tolist()
    assert found(bundle, law, weights=weights)


@pytest.mark.parametrize("geometry", ["twins", "clusters", "line"])
def test_a_tail_that_ends_is_found(opened: Callable[..., TextBundle], geometry: str) -> None:
    """Weights past the end are the last weight, not nothing: else far words are impossible for some inputs only."""
    bundle = opened(geometry, 4)
    law = bundle.santext_levels[1].parameters["santext"]
    ended = replace(law, weights=law.weights[: int(bundle.table.scores.max()) + 1])
    weights = exact_rows(bundle.table, bundle.metric, "santext", ended)
    full = exact_rows(bundle.table, bundle.metric, "santext", law)
    dropped = [
        [weight if weight == exact else 0 for weight, exact in zip(row, exact_row, strict=True)]
        for row, exact_row in zip(weights, full, strict=True)
    ]
    assert any(finding.infinite for finding in found(bundle, ended, weights=dropped))


@pytest.mark.parametrize("geometry", ["twins", "clusters"])
def test_renormalized_top_k_is_refused(opened: Callable[..., TextBundle], geometry: str) -> None:
    """Keeping the k likeliest outputs and dropping the rest: rows have different supports, and ratios are infinite."""
    bundle = opened(geometry, 4)
    law = bundle.santext_levels[1].parameters["santext"]
    weights = exact_rows(bundle.table, bundle.metric, "santext", law)
    allowed = outputs(bundle, "santext")
    for row, stored in zip(weights, bundle.table.neighbors.tolist(), strict=True):
        row[:] = [weight if y in stored else 0 for weight, y in zip(row, allowed, strict=True)]
    assert sum(finding.infinite for finding in found(bundle, law, weights=weights)) > bundle.symbol_count
