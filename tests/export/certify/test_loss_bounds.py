"""Loss bounds hold against brute force in exact rationals, and the envelope of weights equals its definition."""

from pathlib import Path

import numpy as np
import pytest
import small_bundles
from brute_force import Losses as BruteForce
from defined_weights import defined_weights, outputs
from textveil.mechanisms.baselines import SanText
from textveil_export.certify.loss_bounds import (
    LossBounds,
    LossEnvelope,
    compute_pure_ldp_epsilons,
    find_largest_differences,
)
from textveil_export.certify.pair_scores import PairScores

GEOMETRIES = {
    "scattered": (small_bundles.scattered(24, 6, 1), ("1.5", "9")),
    "collinear": (small_bundles.line(24), ("0.5", "2.5")),
    "clusters": (small_bundles.clusters(4), ("1.5", "9")),
    "lopsided": (small_bundles.lopsided(24), ("0.5", "4")),
}


@pytest.mark.slow
@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_bounds_hold_for_every_pair(tmp_path: Path, geometry: str) -> None:
    """Both bounds, one pair at a time: by the distance of the pair, and by a scan of all outputs.

    Without the one step more than the distance the first one would be wrong: where words lie on a line it is needed.
    """
    vectors, exponents = GEOMETRIES[geometry]
    bundle = small_bundles.small_bundle(tmp_path / "b", vectors, k=5, exponents=exponents)
    every = PairScores.compute(bundle.metric)
    scores = np.asarray(every.scores).astype(np.int64)
    first, second = (index.ravel() for index in np.indices(scores.shape))
    for level in bundle.santext_levels:
        for mechanism, law in level.parameters.items():
            losses = LossBounds(SanText.from_table(bundle.table, bundle.metric, mechanism, law).make_randomizer(every))
            brute = BruteForce.of(bundle, mechanism, defined_weights(bundle, mechanism, law))
            true = np.array(brute.losses).ravel()
            assert (losses.bound_losses(first, second, scores.ravel() + 1) >= true).all()
            allowed = np.array(outputs(bundle, mechanism))
            differences = np.concatenate([find_largest_differences(row, scores, allowed) for row in scores])
            scanned = losses.bound_losses(first, second, differences)
            assert (scanned >= true).all()
            assert (scanned - true)[differences >= 0].max() < 2**-18
            if geometry == "collinear":
                assert (losses.bound_losses(first, second, scores.ravel()) < true).any()
            pairs = [(1, 4), (bundle.symbol_count, 0), (7, bundle.symbol_count)]
            assert [losses.compute_loss(x, y)[0] for x, y in pairs] == pytest.approx(
                [brute.losses[x][y] for x, y in pairs]
            )
            ((pure, _),) = compute_pure_ldp_epsilons([losses.randomizer])
            assert brute.pure() <= pure <= brute.pure() + 1e-9


@pytest.mark.parametrize("shape", ["falling", "clamped", "level", "any"])
def test_the_envelope_is_that_of_its_definition(shape: str) -> None:
    """To the last bit, for weights of any shape, whatever is asked first."""
    chance = np.random.default_rng(82)
    steps = np.arange(300)
    logs = {
        "falling": np.log(np.rint(1e5 * np.exp(-0.03 * steps))),
        "clamped": -0.1 * np.minimum(steps, 120),
        "level": np.zeros(300),
        "any": chance.random(300),
    }[shape]
    drops = [max(logs[a] - logs[min(a + n, 299)] for a in steps) for n in range(400)]
    expected = np.maximum.accumulate(drops)
    envelope = LossEnvelope(logs)
    for asked in chance.integers(0, 400, (40, 2, 3)):
        assert (envelope(asked) == expected[asked]).all()
    assert (envelope(np.arange(400)) == expected).all()
    assert envelope(np.array(-5)) == expected[0]
