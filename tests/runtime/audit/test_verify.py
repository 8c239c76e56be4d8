"""``verify``: what holds passes, and a planted fault is found and named."""

from dataclasses import replace

import numpy as np
import pytest
import small_bundles
from textveil import Sanitizer
from textveil.audit.verify import verify_text as verify
from textveil.bundle import artifact
from textveil.errors import BundleDamaged
from textveil.mechanisms.baselines.table import CAPPED, EXACT
from textveil_cli import main as cli
from textveil_cli.console import run
from textveil_export.certify.certificate import certify


def small(folder, *tails):
    vectors = small_bundles.scattered(60, 8, 1)
    return small_bundles.small_bundle(folder, vectors, k=8, exponents=["3", "8"], tails=tails)


@pytest.fixture
def bundle(tmp_path):
    return small(tmp_path / "b", CAPPED)


@pytest.fixture
def exact_bundle(tmp_path):
    return small(tmp_path / "e", EXACT)


@pytest.fixture(params=[CAPPED, EXACT])
def either(request, tmp_path):
    """A bundle with one tail or the other."""
    return small(tmp_path / "either", request.param)


@pytest.mark.full  # every stored distance is computed again; tests/contract looks at some of them
def test_the_default_bundle_holds():
    outcome = verify(Sanitizer.load(artifact("english-santext")).bundle, pairs=100_000)
    assert outcome.pairs >= 80_000  # where samples for exact tails coincide there are fewer pairs
    assert outcome.scores >= 100_000
    assert outcome.files >= 5


def test_a_small_bundle_holds(bundle):
    outcome = verify(bundle, pairs=20_000)
    assert not outcome.certified
    assert "20,000 random pairs" in str(outcome)


def test_a_small_bundle_with_exact_tails_holds(exact_bundle, tmp_path):
    outcome = verify(exact_bundle, pairs=12_000)
    assert 4 * 15 * 14 <= outcome.pairs <= 4 * 54 * 53  # all pairs of at most 54 inputs, for four mechanisms
    assert outcome.scores == 61 * 8
    outcome = verify(small(tmp_path / "b", EXACT, CAPPED), pairs=40_000)
    assert outcome.pairs > 20_000


def with_law(bundle, level, key, law):
    """Puts another mechanism in the place of one."""
    levels = list(bundle.levels)
    levels[level] = replace(levels[level], parameters={**levels[level].parameters, key: law})
    return replace(bundle, levels=tuple(levels))


def test_a_weight_one_per_cent_off(either):
    key = "santext", either.default_tail
    law = either.levels[1].parameters[key]
    weights = law.weights.copy()
    weights[:4001] = np.maximum(weights[:4001], weights[4000] + weights[4000] // 100)  # stays non-increasing
    either = with_law(either, 1, key, replace(law, weights=weights))
    with pytest.raises(BundleDamaged, match="level l1: the weight of score 39"):
        verify(either, pairs=1000)


def test_a_distance_that_is_not_that_of_the_rows(either):
    scores = either.table.scores.copy()
    scores[7, 3:] += 1
    either = replace(either, santext_table=replace(either.table, scores=scores))
    with pytest.raises(BundleDamaged, match="row 7 stores a wrong distance"):
        verify(either, pairs=200)


def test_a_missing_neighbor_is_seen(either):
    """The nearest neighbor of row 7 replaced by a far word with the same score: the audit recomputes it."""
    neighbors = either.table.neighbors.copy()
    far = next(y for y in range(60) if y not in neighbors[7] and either.table.roles[y] & 1)
    neighbors[7, 1] = far
    either = replace(either, santext_table=replace(either.table, neighbors=neighbors))
    with pytest.raises(BundleDamaged, match="row 7 stores a wrong distance"):
        verify(either, pairs=200)


@pytest.mark.parametrize("row", [0, 7, 60])
def test_a_single_row_that_lacks_a_neighbor_is_seen(either, row):
    """The row lacks its second neighbor and reaches one further instead, all distances right."""
    table, candidates = either.table, np.flatnonzero(either.table.roles & 1)
    neighbors, scores = table.neighbors.copy(), table.scores.copy()
    ((_, squared),) = either.metric.squared_to_all(np.array([row]))
    to_all = np.minimum(either.metric.scores(squared[0]), table.scores.max())  # weights end there
    order = candidates[np.lexsort((candidates, to_all[candidates]))]
    kept = np.delete(order, 1)[:8]
    assert to_all[order[1]] < to_all[kept[-1]]
    neighbors[row], scores[row] = kept, to_all[kept]
    either = replace(either, santext_table=replace(table, neighbors=neighbors, scores=scores))
    with pytest.raises(BundleDamaged, match=rf"row {row} lacks a neighbor"):
        verify(either, pairs=200)


def test_a_loss_above_the_stated_epsilon(either):
    """Rows that reach much further than their distances allow, and a bundle that claims they do not."""
    level, tail = either.levels[1], either.default_tail
    law = replace(level.parameters["santext", tail], exponent=level.parameters["santext", tail].exponent / 16)
    either = replace(either, levels=(replace(level, parameters=dict.fromkeys(level.parameters, law)),))
    with pytest.raises(BundleDamaged, match="exponent"):
        verify(either, pairs=1000)
    either = replace(either, levels=(level,))
    either = replace(either, labels={("l1", *key): 2.0 for key in level.parameters})
    with pytest.raises(BundleDamaged, match=r"row \d+ exceeds the stated epsilon"):
        verify(either, pairs=20_000)


def test_a_loss_just_above_the_stated_epsilon(exact_bundle):
    """A label two per cent below what is certified over all pairs is found with a sample of all inputs."""
    level = exact_bundle.levels[1]
    certified = certify(exact_bundle)["l1"]
    proven = {key: certified[key[0]][EXACT].epsilon_certified for key in level.parameters}
    exact_bundle = replace(exact_bundle, levels=(level,))
    exact_bundle = replace(exact_bundle, labels={("l1", *key): epsilon for key, epsilon in proven.items()})
    assert verify(exact_bundle, pairs=20_000_000).pairs == 2 * 61 * 60
    exact_bundle = replace(exact_bundle, labels={("l1", *key): 0.98 * epsilon for key, epsilon in proven.items()})
    with pytest.raises(BundleDamaged, match=r"row \d+ exceeds the stated epsilon"):
        verify(exact_bundle, pairs=20_000_000)


def test_without_rows_only_hashes_and_structure(bundle):
    bundle = replace(bundle, metric=None)
    outcome = verify(bundle)
    assert (outcome.pairs, outcome.scores) == (0, 0)
    assert "not audited" in str(outcome)


def test_the_command(bundle, capsys):
    assert run(cli.app, "textveil", ["verify", str(bundle.path), "--pairs", "5000"]) == 0
    assert "all within the stated epsilon" in capsys.readouterr().out
    (bundle.path / "law.json").write_bytes(b"{}")
    assert run(cli.app, "textveil", ["verify", str(bundle.path)]) == 1
    assert capsys.readouterr().err.count("\n") == 1
