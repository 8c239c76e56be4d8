"""``verify``: what holds passes, and a planted fault is found and named."""

from dataclasses import replace

import numpy as np
import pytest
import small_bundles
from textveil import Sanitizer, cli
from textveil.console import run
from textveil.errors import BundleDamaged
from textveil.verify import verify


@pytest.fixture
def bundle(tmp_path):
    return small_bundles.small_bundle(tmp_path / "b", small_bundles.scattered(60, 8, 1), k=8, exponents=["3", "8"])


def test_the_default_bundle_holds():
    outcome = verify(Sanitizer.load().bundle, pairs=100_000)
    assert outcome.pairs >= 100_000
    assert outcome.scores >= 100_000
    assert outcome.files >= 5


def test_a_small_bundle_holds(bundle):
    outcome = verify(bundle, pairs=20_000)
    assert not outcome.certified
    assert "20,000 random pairs" in str(outcome)


def test_a_weight_one_per_cent_off(bundle):
    weights = bundle.levels[1].laws["santext"].weights.copy()
    weights[:4001] = np.maximum(weights[:4001], weights[4000] + weights[4000] // 100)  # stays non-increasing
    level = bundle.levels[1]
    bundle.levels = (bundle.levels[0], replace(level, laws={**level.laws, "santext": _with(level, weights)}))
    with pytest.raises(BundleDamaged, match="level l1: the weight of score 39"):
        verify(bundle, pairs=1000)


def _with(level, weights):
    return replace(level.laws["santext"], weights=weights)


def test_a_distance_that_is_not_that_of_the_rows(bundle):
    scores = bundle.table.scores.copy()
    scores[7, 3:] += 1
    bundle.table = replace(bundle.table, scores=scores)
    with pytest.raises(BundleDamaged, match="row 7 stores a wrong distance"):
        verify(bundle, pairs=20_000)


def test_a_missing_neighbour_is_seen(bundle):
    """The nearest neighbour of row 7 replaced by a far word with the same score: the audit recomputes it."""
    neighbours = bundle.table.neighbours.copy()
    far = next(y for y in range(60) if y not in neighbours[7] and bundle.table.roles[y] & 1)
    neighbours[7, 1] = far
    bundle.table = replace(bundle.table, neighbours=neighbours)
    with pytest.raises(BundleDamaged, match="row 7 stores a wrong distance"):
        verify(bundle, pairs=20_000)


def test_a_loss_above_the_stated_epsilon(bundle):
    """Rows that reach much further than their distances allow, and a bundle that claims they do not."""
    level = bundle.levels[1]
    law = replace(level.laws["santext"], exponent=level.laws["santext"].exponent / 16)
    bundle.levels = (replace(level, laws={"santext": law, "santext+": law}),)
    with pytest.raises(BundleDamaged, match="exponent"):
        verify(bundle, pairs=1000)
    bundle.levels = (level,)
    bundle._certified = {"l1": {"santext": 2.0, "santext+": 2.0}}
    with pytest.raises(BundleDamaged, match=r"row \d+ exceeds the stated epsilon"):
        verify(bundle, pairs=20_000)


def test_without_rows_only_hashes_and_structure(bundle):
    bundle.embeddings = None
    outcome = verify(bundle)
    assert (outcome.pairs, outcome.scores) == (0, 0)
    assert "not audited" in str(outcome)


def test_the_command(bundle, capsys):
    assert run(cli.app, "textveil", ["verify", str(bundle.path), "--pairs", "5000"]) == 0
    assert "all within the stated epsilon" in capsys.readouterr().out
    (bundle.path / "law.json").write_bytes(b"{}")
    assert run(cli.app, "textveil", ["verify", str(bundle.path)]) == 1
    assert capsys.readouterr().err.count("\n") == 1
