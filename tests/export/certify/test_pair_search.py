"""Certified epsilons hold against brute force in exact rationals, and planted faults are detected.

The certificate is a bound that can only overstate. Brute force visits every pair and every output; the truth must lie
between the attained and the certified value of the certificate, and the two close together: one grid step of score,
``alpha / (grid d)``, if the first input of the worst pair is an output, and next to nothing if it is not.
"""

from dataclasses import replace
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
import small_bundles
from brute_force import Losses, sensitive_inputs
from defined_weights import defined_weights, outputs, squared_distances
from textveil.errors import BundleDamaged
from textveil.verify import verify_text as verify
from textveil_export.certify import pair_scores, pair_search
from textveil_export.certify.certificate import certify_bundle
from textveil_export.errors import CertificationError
from textveil_export.text.write import write_bundle

#: Too long for each push: `make nightly` runs these tests.
pytestmark = pytest.mark.full

GEOMETRIES = {
    "scattered": (small_bundles.scattered(24, 6, 1), ("1.5", "9")),
    "twins": (small_bundles.twins(24, 6, 2), ("1.5", "9")),
    "collinear": (small_bundles.line(24), ("0.5", "2.5")),
    "outlier": (small_bundles.outlier(20, 3), ("0.5", "2.5")),
    "clusters": (small_bundles.clusters(4), ("1.5", "9")),
    "simplex": (small_bundles.simplex(18), ("1.5", "9")),
    "lopsided": (small_bundles.lopsided(24), ("0.5", "4")),
}
MECHANISMS = ("santext", "santext+")


@cache
def small_contents(geometry, k, base):
    vectors, exponents = GEOMETRIES[geometry]
    built = small_bundles.contents(vectors, k=k, exponents=exponents)
    if base:
        chance = np.random.default_rng(81)
        for mechanism in MECHANISMS:
            measure = chance.integers(1, 256, built.definition["vocabulary_size"]).astype(np.uint8)
            built = small_bundles.with_base(built, 1, mechanism, measure)
    return built


def open_small(folder, geometry, k, base=False):
    return write_bundle(small_contents(geometry, k, base), folder)


def assert_certified(bundle, certificates, close=True):
    """Every number of every certificate is right, and as close to the truth as is promised."""
    names = [*bundle.vocabulary, "<unk>"]
    for level in bundle.santext_levels:
        for mechanism in MECHANISMS:
            law = level.parameters[mechanism]
            losses = Losses.of(bundle, mechanism, defined_weights(bundle, mechanism, law))
            certificate = certificates[level.name][mechanism]
            attained = certificate.attained
            truth, pure = losses.per_distance(), losses.pure()
            assert attained.epsilon <= truth + 1e-12
            assert truth - 1e-12 <= certificate.epsilon_certified
            assert pure - 1e-12 <= certificate.epsilon_pure_ldp <= pure + 1e-4 + 1e-9
            sensitive = losses.per_distance(sensitive_inputs(bundle))
            assert sensitive - 1e-12 <= certificate.epsilon_certified_sensitive <= certificate.epsilon_certified
            assert certificate.infinite_ratios == 0
            assert certificate.pairs == len(names) * (len(names) - 1)
            assert certificate.epsilon_textbook == 2 * float(law.exponent)
            if not close:
                continue
            is_output = names.index(attained.input) in outputs(bundle, mechanism)
            step = float(law.exponent) / bundle.table.grid if is_output else 0.0
            rounding = 2**-19 / attained.distance + 2.1e-4  # of weights, and of the two numbers to four decimals
            assert certificate.epsilon_certified - attained.epsilon <= 1.01 * step / attained.distance + rounding
            assert certificate.epsilon_certified <= truth * 1.005 + rounding
            assert certificate.epsilon_certified_sensitive <= sensitive * 1.005 + rounding


@pytest.mark.slow
@pytest.mark.parametrize("geometry", GEOMETRIES)
@pytest.mark.parametrize("k", [1, pytest.param(2, marks=pytest.mark.full), 5, None])
def test_certificates_enclose_brute_force(tmp_path, geometry, k):
    bundle = open_small(tmp_path / "b", geometry, k)
    assert_certified(bundle, certify_bundle(bundle))


@pytest.mark.slow
@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_bundles_with_a_base_measure_are_certified_exactly(tmp_path, geometry):
    bundle = open_small(tmp_path / "b", geometry, 5, base=True)
    assert_certified(bundle, certify_bundle(bundle))


@pytest.mark.slow
@pytest.mark.parametrize("geometry", ["scattered", "clusters", "lopsided"])
def test_small_blocks_and_few_near_outputs(tmp_path, monkeypatch, geometry):
    """As in a large vocabulary: many blocks, and most outputs not among the nearest that are looked at first."""
    monkeypatch.setattr(pair_scores, "_BLOCK", 3)
    monkeypatch.setattr(pair_search, "_NEAREST_OUTPUTS", 2)
    monkeypatch.setattr(pair_search, "_SCANNED_AT_ONCE", 2)
    bundle = open_small(tmp_path / "b", geometry, 3)
    assert_certified(bundle, certify_bundle(bundle))


def test_weights_that_end_before_the_largest_score(tmp_path):
    """Scores past the end share a weight. The certificate is of this mechanism, though not as close to the truth."""
    bundle = open_small(tmp_path / "b", "scattered", 3)
    for level in bundle.santext_levels:
        for key, law in level.parameters.items():
            ended = law.weights[: int(bundle.table.scores.max()) + 1]
            assert len(ended) < len(law.weights)
            level.parameters[key] = replace(law, weights=ended)
    assert_certified(bundle, certify_bundle(bundle), close=False)


@pytest.mark.slow
def test_the_attaining_pair_and_output_attain(tmp_path):
    """The quotient at the pair and output that a certificate names is the one it states, to rounding."""
    for geometry in ("scattered", "lopsided", "clusters"):
        bundle = open_small(tmp_path / geometry, geometry, 5, base=True)
        names = [*bundle.vocabulary, "<unk>"]
        certificates = certify_bundle(bundle)
        for level in bundle.santext_levels:
            attained = certificates[level.name]["santext"].attained
            weights = defined_weights(bundle, "santext", level.parameters["santext"])
            x, other, y = (names.index(name) for name in (attained.input, attained.other_input, attained.output))
            ratio = Fraction(weights[x][y], sum(weights[x])) / Fraction(weights[other][y], sum(weights[other]))
            distance = np.sqrt(squared_distances(bundle)[x][other] / bundle.metric.median_squared)
            assert attained.distance == pytest.approx(distance, abs=1e-6)
            assert attained.epsilon == pytest.approx(np.log(float(ratio)) / distance, abs=1.1e-4)


# Faults.


@pytest.fixture
def bundle(tmp_path):
    return open_small(tmp_path / "b", "scattered", 5)


def certified(bundle, level=1):
    return certify_bundle(bundle)[bundle.santext_levels[level].name]["santext"]


def test_a_weight_that_is_one_percent_wrong_raises_the_certificate(bundle):
    """``verify`` names the score; a certificate of the faulty integers is higher, and still right."""
    before = certified(bundle)
    law = bundle.santext_levels[1].parameters["santext"]
    names = [*bundle.vocabulary, "<unk>"]
    x, other = names.index(before.attained.input), names.index(before.attained.other_input)
    ((score,),) = (bundle.metric.compute_scores(bundle.metric.compute_squared(np.array([x]), np.array([other]))),)
    weights = law.weights.copy()
    weights[score:] = np.minimum(weights[score:], weights[score] - weights[score] // 100)  # stays non-increasing
    bundle.santext_levels[1].parameters["santext"] = replace(law, weights=weights)
    with pytest.raises(BundleDamaged, match=f"level l1: the weight of score {score} does not follow"):
        verify(bundle, pairs=100)
    after = certified(bundle)
    assert after.epsilon_certified >= before.epsilon_certified + 0.005
    faulty = defined_weights(bundle, "santext", bundle.santext_levels[1].parameters["santext"])
    assert Losses.of(bundle, "santext", faulty).per_distance() <= after.epsilon_certified


def with_row(bundle, row, neighbors, scores):
    """Return the bundle with one row of its table replaced."""
    table = bundle.table
    everywhere, all_scores = table.neighbors.copy(), table.scores.copy()
    everywhere[row], all_scores[row] = neighbors, scores
    return replace(bundle, santext_table=replace(table, neighbors=everywhere, scores=all_scores))


def test_a_table_without_a_nearest_output_is_refused(bundle):
    """At its right distance: the missing word would be drawn by the tail's weight, and not by its own."""
    row = 7
    candidates = np.array(outputs(bundle, "santext"))
    scores = bundle.metric.compute_scores(bundle.metric.compute_squared(np.full(len(candidates), row), candidates))
    order = np.lexsort((candidates, scores))
    kept = np.delete(order, 1)[:5]
    bundle = with_row(bundle, row, candidates[kept], scores[kept])
    with pytest.raises(CertificationError, match="row 7 does not store the nearest outputs"):
        certify_bundle(bundle)


def test_a_table_with_a_wrong_score_is_refused(bundle):
    """One step too many: ``verify`` names the row, and it is not certified."""
    bundle = with_row(
        bundle, 7, bundle.table.neighbors[7], bundle.table.scores[7] + np.array([0, 0, 0, 0, 1], np.uint16)
    )
    with pytest.raises(BundleDamaged, match="row 7 stores a wrong distance"):
        verify(bundle, pairs=100)
    with pytest.raises(CertificationError, match="row 7 does not store the nearest outputs"):
        certify_bundle(bundle)
