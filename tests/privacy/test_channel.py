"""``Channel`` is the distribution that draws have: equal to the sampler's rows, to the definition, and to itself.

Rows, columns, pairs and logs are held against plain loops over the definition in Python's integers, for every mechanism
with weights and both tails, with and without SanText+'s coin. Planted faults must be seen.
"""

import math
from fractions import Fraction

import numpy as np
import pytest
import small_bundles
from defined_weights import defined_weights
from textveil.mechanisms.baselines.randomized_response import RandomizedResponse
from textveil.mechanisms.baselines.table import SANTEXT_OUTPUT
from textveil.mechanisms.channel import ScoreChannel
from textveil.mechanisms.scores import EqualityScores, MetricScores, StoredScores
from textveil.text.lexicon import Lexicon
from textveil.text.options import make_plan, table_mechanism
from textveil_export.text import write_bundle


@pytest.fixture(scope="module")
def bundle(tmp_path_factory):
    folder = tmp_path_factory.mktemp("channel") / "b"
    vectors = small_bundles.scattered(24, 8, seed=71)
    built = small_bundles.contents(vectors, k=5, exponents=("1.5", "4"), tails=("capped", "exact"))
    measure = np.random.default_rng(72).integers(1, 256, built.law["symbols"]).astype(np.uint8)
    for mechanism, tail in (("santext", "capped"), ("santext+", "exact")):
        built = small_bundles.with_base(built, 1, mechanism, tail, measure)
    return write_bundle(built, folder)


def channels(bundle):
    for level in bundle.levels:
        for (mechanism, _), parameters in level.parameters.items():
            yield table_mechanism(bundle, mechanism, parameters), defined_weights(bundle, mechanism, parameters)


def everybody(bundle):
    return np.arange(bundle.symbols + 1)


def assert_is(channel: ScoreChannel, wanted: list[list[int]]) -> None:
    """Every way to ask the channel gives the distribution with these weights; integers exactly, doubles to 1e-12."""
    inputs, outputs = np.arange(len(wanted)), np.arange(len(wanted[0]))
    assert channel.weights_from(inputs).tolist() == wanted
    assert channel.weights_to(outputs).T.tolist() == wanted
    totals = [sum(row) for row in wanted]
    assert channel.totals.tolist() == totals
    exact = [[Fraction(weight, total) for weight in row] for row, total in zip(wanted, totals, strict=True)]
    if channel.kept_of_2_64:
        kept = Fraction(channel.kept_of_2_64, 2**64)
        for x in np.flatnonzero(channel.keepable):
            exact[x] = [(1 - kept) * p + kept * (y == x) for y, p in enumerate(exact[x])]
    real = np.array(exact, dtype=np.float64)
    np.testing.assert_allclose(channel.rows(inputs), real, rtol=1e-12)
    np.testing.assert_allclose(channel.columns(outputs).T, real, rtol=1e-12)
    logs = np.array([[math.log(p) if p else -np.inf for p in row] for row in exact])
    np.testing.assert_allclose(channel.log_rows(inputs), logs, atol=1e-12)
    np.testing.assert_allclose(channel.log_columns(outputs).T, logs, atol=1e-12)
    for blocks, whole in ((channel.row_blocks, channel.rows), (channel.column_blocks, channel.columns)):
        ids = outputs[::-1]
        parts = list(blocks(ids, size=5))
        assert np.concatenate([part for part, _ in parts]).tolist() == ids.tolist()
        np.testing.assert_array_equal(np.concatenate([block for _, block in parts]), whole(ids))
    first, second = np.meshgrid(inputs, outputs, indexing="ij")
    pairs = channel.weights[channel.scores.of_pairs(first, second)] * channel.base[second]
    assert pairs.tolist() == wanted


def test_both_tails_are_the_definition(bundle):
    for mechanism, wanted in channels(bundle):
        assert_is(mechanism.channel, wanted)


def test_the_sampler_draws_from_the_same_rows(bundle):
    """What a capped draw deals its integers by, entry for entry; an exact draw thins those very rows."""
    for mechanism, _ in channels(bundle):
        capped = getattr(mechanism, "capped", mechanism)
        rows = capped.rows(everybody(bundle))
        dealt = [rows.weights(x).tolist() for x in everybody(bundle)]
        assert capped.channel.weights_from(everybody(bundle)).tolist() == dealt
        assert capped.channel.totals.tolist() == rows.totals.tolist()


@pytest.mark.parametrize(("tail", "excess"), [(1, 0), (3, 50)])
def test_randomized_response(tail, excess):
    is_output = np.array([1, 0, 1, 1, 0, 1])
    mechanism = RandomizedResponse(is_output, tail, excess)
    wanted = [[int(o) * (tail + excess * (x == y)) for y, o in enumerate(is_output)] for x in range(7)]
    assert_is(mechanism.channel, wanted)
    assert [mechanism.rows(np.array([x])).weights(0).tolist() for x in range(7)] == wanted


@pytest.mark.parametrize("options", [{}, {"replacement_probability": "0.5"}, {"replacement_probability": "1"}])
@pytest.mark.parametrize("tail", ["capped", "exact"])
def test_the_coin_is_mixed_in(bundle, tail, options):
    plan = make_plan(bundle, Lexicon(bundle), mechanism="santext+", tail=tail, **options)
    parameters = bundle.levels[0].parameters["santext+", tail]
    wanted = defined_weights(bundle, "santext+", parameters)
    assert plan.keepable.any()
    assert_is(plan.channel, wanted)
    assert_is(plan.channel.drawn, wanted)
    assert not plan.channel.drawn.kept.any()


def test_scores_are_those_of_the_metric_and_of_the_table(bundle):
    exact, capped = MetricScores(bundle.metric), StoredScores(bundle.table)
    ids, table = everybody(bundle), bundle.table
    for x in ids:
        for y in ids[:-1]:
            pair = np.array([x]), np.array([y])
            score = int(bundle.metric.scores(bundle.metric.squared(*pair))[0])
            assert exact.of_pairs(*pair)[0] == score
            stored = np.flatnonzero(table.neighbors[x] == y)
            cap = int(table.scores[x, -1])
            assert capped.of_pairs(*pair)[0] == (int(table.scores[x, stored[0]]) if len(stored) else cap)
            if table.roles[y] & SANTEXT_OUTPUT:  # what is never drawn is never stored
                assert capped.of_pairs(*pair)[0] == min(score, cap)
    assert exact.from_inputs(ids[:0]).shape == (0, table.symbols)


FAULTS = {
    "the last score is forgotten": (StoredScores, "of_pairs", lambda self, x, y: np.zeros_like(x + y)),
    "the tail is one step nearer": (
        StoredScores,
        "from_inputs",
        lambda self, x, keep=StoredScores.from_inputs: np.maximum(keep(self, x) - 1, 0),
    ),
    "columns are rows": (MetricScores, "to_outputs", lambda self, y: np.pad(self.from_inputs(y), ((0, 0), (0, 1)))),
    "totals lack the base measure": (
        StoredScores,
        "totals",
        lambda self, w, q, progress=None, keep=StoredScores.totals: keep(self, w, np.ones_like(q)),
    ),
    "kept words are drawn too": (
        ScoreChannel,
        "rows",
        lambda self, x, keep=ScoreChannel.rows: keep(self, x) + self.drawn.weights_from(x) / self.totals[x, None] / 10,
    ),
    "own and other are exchanged": (EqualityScores, "of_pairs", lambda self, x, y: (x == y).astype(np.intp)),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_seen(bundle, monkeypatch, fault):
    owner, name, faulty = FAULTS[fault]
    monkeypatch.setattr(owner, name, faulty)
    with pytest.raises(AssertionError):
        assert_all(bundle)


def assert_all(bundle):
    test_both_tails_are_the_definition(bundle)
    test_randomized_response(3, 50)
    test_the_coin_is_mixed_in(bundle, "capped", {"replacement_probability": "0.5"})
