"""Certified epsilons against brute force in exact rationals, and against planted faults."""

import hashlib
import json
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import small_bundles
from brute_force import Losses, sensitive_inputs
from defined_weights import defined_weights
from interruption import interrupted
from textveil import Sanitizer
from textveil.audit.capped import CappedAudit
from textveil.bundle import open_bundle
from textveil.bundle.text import TextBundle
from textveil.errors import BundleDamaged, IdentityMismatch
from textveil.mechanisms.baselines.santext import CappedSanText
from textveil.mechanisms.baselines.table import CAPPED, EXACT
from textveil_cli.console import run
from textveil_export import cli
from textveil_export.certify import certificate as certification
from textveil_export.certify.capped import worst_ratios
from textveil_export.certify.certificate import certify, false_labels
from textveil_export.certify.worst_pair import Worst, Worsts
from textveil_export.certify.worst_pair import sensitive_inputs as all_sensitive
from textveil_export.errors import CertificationError
from textveil_export.text.write import write_bundle, write_certificate

GEOMETRIES = {
    "scattered": small_bundles.scattered(24, 6, 1),
    "twins": small_bundles.twins(24, 6, 2),
    "collinear": small_bundles.line(20),
    "outlier": small_bundles.outlier(20, 3),
    "clusters": small_bundles.clusters(4),
    "simplex": small_bundles.simplex(18),
}

ROUND = ("scattered", "twins", "clusters", "simplex")  # no word is very far from all others


def worst_of(bundle, law):
    """The search over all inputs for one mechanism with a capped tail."""
    (worst,) = worst_ratios(bundle.metric, [CappedAudit(law)], all_sensitive(bundle.table))
    return worst.over_all


@cache
def small_contents(geometry, k):
    exponents = ["1.5", "9"] if geometry in ROUND else ["0.5", "2.5"]
    return small_bundles.contents(GEOMETRIES[geometry], k=k, exponents=exponents)


def assert_certified(bundle, certificates):
    """Every number of every certificate is that of brute force, rounded up."""
    for level in bundle.levels:
        for mechanism in ("santext", "santext+"):
            weights = defined_weights(bundle, mechanism, level.parameters[mechanism, CAPPED])
            certificate = certificates[level.name][mechanism][CAPPED]
            losses = Losses.of(bundle, mechanism, weights)
            expected, pure = losses.per_distance(), losses.pure()
            assert expected - 1e-12 <= certificate.epsilon_certified <= expected + 1.1e-4
            assert expected - 1.1e-4 <= certificate.attained.epsilon <= expected + 1e-12
            assert pure - 1e-12 <= certificate.epsilon_pure_ldp <= pure + 1.1e-4
            expected = losses.per_distance(sensitive_inputs(bundle))
            assert expected <= certificate.epsilon_certified_sensitive <= expected + 1.1e-4
            assert certificate.infinite_ratios == 0
            assert certificate.epsilon_certified <= certificate.epsilon_textbook + 1


@pytest.mark.slow
@pytest.mark.parametrize("geometry", GEOMETRIES)
@pytest.mark.parametrize("k", [1, pytest.param(2, marks=pytest.mark.full), 5, None])
def test_certificates_equal_brute_force(tmp_path, geometry, k):
    bundle = write_bundle(small_contents(geometry, k), tmp_path / "b")
    assert_certified(bundle, certify(bundle))


@pytest.mark.slow
@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_with_a_base_measure(tmp_path, geometry):
    built = small_contents(geometry, 5)
    for mechanism, dtype in (("santext", np.uint8), ("santext+", np.uint16)):
        base = np.random.default_rng(7).integers(1, 256, built.law["symbols"]).astype(dtype)
        built = small_bundles.with_base(built, 1, mechanism, CAPPED, base)
    bundle = write_bundle(built, tmp_path / "b")
    assert_certified(bundle, certify(bundle))


@pytest.mark.slow
@pytest.mark.parametrize("geometry", GEOMETRIES)
@pytest.mark.parametrize("k", [1, pytest.param(2, marks=pytest.mark.full), 5, None])
def test_a_table_that_can_be_trusted_is_searched_faster_to_the_same_end(tmp_path, geometry, k):
    bundle = write_bundle(small_contents(geometry, k), tmp_path / "b")
    sensitive = all_sensitive(bundle.table)
    for level in bundle.levels:
        audits = [
            CappedAudit(CappedSanText.of(bundle.table, mechanism, law))
            for (mechanism, _), law in level.parameters.items()
        ]
        careful, trusting = (
            worst_ratios(bundle.metric, audits, sensitive, trusted=trusted) for trusted in (False, True)
        )
        for one, other in zip(careful, trusting, strict=True):
            assert (one.over_all.ratio, one.over_sensitive.ratio) == (other.over_all.ratio, other.over_sensitive.ratio)


def test_the_attaining_pair_attains(tmp_path):
    bundle = small_bundles.small_bundle(tmp_path / "b", GEOMETRIES["scattered"], k=5, exponents=["6"])
    law = CappedSanText.of(bundle.table, "santext", bundle.levels[0].parameters["santext", CAPPED])
    worst = worst_of(bundle, law)
    rows = law.rows(np.array([worst.first, worst.second]))
    shares = [rows.weights(i) / rows.totals[i] for i in (0, 1)]
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.log(shares[0] / shares[1])
    ratios[~(shares[0] > 0)] = -np.inf
    assert ratios.max() / worst.distance == pytest.approx(worst.ratio, rel=1e-9)
    attained = certify(bundle)["l0"]["santext"][CAPPED].attained
    names = [*bundle.vocabulary, "<unk>"]
    assert (attained.input, attained.other_input) == (names[worst.first], names[worst.second])
    if attained.output != certification.ANY_OTHER:
        assert attained.output == names[ratios.argmax()]


def test_a_planted_fault_moves_the_certificate(tmp_path):
    """One row of scores too large by a tenth of a unit at the binding pair: the audit of the finished table sees it."""
    bundle = small_bundles.small_bundle(tmp_path / "b", GEOMETRIES["scattered"], k=5, exponents=["6"])
    level_law = bundle.levels[0].parameters["santext", CAPPED]
    worst = worst_of(bundle, CappedSanText.of(bundle.table, "santext", level_law))
    scores = bundle.table.scores.copy()
    row = scores[worst.second].astype(np.int64)
    row[1:] += 600  # every other word of the other input's row pushed a tenth of a unit away
    scores[worst.second] = row
    weights = np.concatenate([level_law.weights, np.full(600, level_law.weights[-1])])
    faulty = replace(bundle.table, scores=scores)
    after = worst_of(bundle, CappedSanText.of(faulty, "santext", replace(level_law, weights=weights)))
    assert after.ratio > worst.ratio * 1.02


def with_one_vector_twice(bundle):
    """Words 3 and 4 get the same vector; the table stays as it was."""
    rows = bundle.metric.rows.copy()
    rows[3] = rows[4]
    return replace(bundle, metric=replace(bundle.metric, rows=rows))


def test_equal_vectors_with_different_rows_are_refused(tmp_path):
    bundle = small_bundles.small_bundle(tmp_path / "b", GEOMETRIES["scattered"], k=5, exponents=["6"])
    bundle = with_one_vector_twice(bundle)
    with pytest.raises(CertificationError, match="distance 0"):
        worst_of(bundle, CappedSanText.of(bundle.table, "santext", bundle.levels[0].parameters["santext", CAPPED]))


def test_equal_vectors_with_equal_rows_cost_nothing(tmp_path):
    """As ``<unk>`` may lie where a word does: no epsilon is needed to hide which of the two it was."""
    bundle = small_bundles.small_bundle(tmp_path / "b", GEOMETRIES["scattered"], k=5, exponents=["6"])
    bundle = with_one_vector_twice(bundle)
    neighbors, scores = bundle.table.neighbors.copy(), bundle.table.scores.copy()
    neighbors[3], scores[3] = neighbors[4], scores[4]
    bundle = replace(bundle, santext_table=replace(bundle.table, neighbors=neighbors, scores=scores))
    worst = worst_of(bundle, CappedSanText.of(bundle.table, "santext", bundle.levels[0].parameters["santext", CAPPED]))
    assert 0 < worst.ratio < np.inf
    assert worst.distance > 0


def test_without_rows_there_is_no_metric(tmp_path):
    bundle = small_bundles.small_bundle(tmp_path / "b", GEOMETRIES["scattered"], k=5, exponents=["6"])
    bundle = replace(bundle, metric=None)
    with pytest.raises(CertificationError, match="no embedding rows"):
        certify(bundle)


class TestCertificateInABundle:
    """``textveil-export certify``: the certificate, the labels, and what must be refused."""

    @pytest.fixture(params=[(CAPPED,), (EXACT, CAPPED)], ids=" ".join)
    def bundle(self, tmp_path, request):
        return small_bundles.small_bundle(
            tmp_path / "b", GEOMETRIES["scattered"], k=5, exponents=["2", "6"], tails=request.param
        )

    def test_labels_become_certified_and_the_identity_another(self, bundle, capsys):
        assert run(cli.app, "textveil-export", ["certify", str(bundle.path)]) == 0
        assert "l1" in capsys.readouterr().out
        with pytest.raises(IdentityMismatch):
            Sanitizer.load(bundle.path, expect_id=bundle.identity)
        certified = Sanitizer.load(bundle.path)
        assert certified.bundle.law_identity == bundle.law_identity == certified.bundle.certificate["identity"]
        assert certified.bundle.certificate["format_version"] == 2
        for tail in bundle.tails:
            proven = certified.bundle.certificate["levels"]["l1"]["santext"][tail]
            terms = certified.terms(mechanism="santext", level="l1", tail=tail)
            assert terms.epsilon == proven["epsilon_certified"] < proven["epsilon_textbook"] == 12
            assert proven["attained"]["epsilon"] <= proven["epsilon_certified"]
            assert terms.epsilon_kind == "certified metric DP"
            assert terms.rounding_slack == 0
            assert certified.terms(mechanism="santext", epsilon=terms.epsilon, tail=tail).level == "l1"

    def test_certifying_twice_changes_nothing(self, bundle):
        write_certificate(bundle, certify(bundle))
        before = {path.name: path.read_bytes() for path in bundle.path.iterdir()}
        write_certificate(bundle, certify(bundle))
        assert {path.name: path.read_bytes() for path in bundle.path.iterdir()} == before

    def test_a_dry_run_writes_nothing(self, bundle):
        before = {path.name: path.read_bytes() for path in bundle.path.iterdir()}
        assert run(cli.app, "textveil-export", ["certify", "--dry-run", str(bundle.path)]) == 0
        assert {path.name: path.read_bytes() for path in bundle.path.iterdir()} == before

    @pytest.mark.slow
    def test_the_certificate_of_another_table_is_refused(self, bundle, tmp_path):
        other = small_bundles.small_bundle(
            tmp_path / "c", GEOMETRIES["twins"], k=5, exponents=["2", "6"], tails=(EXACT, CAPPED)
        )
        write_certificate(bundle, certify(other))
        certificate = (bundle.path / "certificate.json").read_text()
        data = certificate.replace(bundle.law_identity, other.law_identity).encode()
        _plant(bundle.path, data)
        with pytest.raises(BundleDamaged, match="belongs to another table"):
            Sanitizer.load(bundle.path)

    def test_a_label_below_the_certificate_is_refused(self, bundle):
        write_certificate(bundle, certify(bundle))
        manifest = json.loads((bundle.path / "manifest.json").read_text())
        manifest["levels"]["l1"]["santext"][bundle.default_tail]["epsilon_certified"] -= 0.001
        (bundle.path / "manifest.json").write_text(json.dumps(manifest))
        with pytest.raises(BundleDamaged, match="less than what was proven"):
            Sanitizer.load(bundle.path)

    def test_each_false_label_is_found(self, bundle, capsys):
        """A label and its certificate that both lie, under hashes that fit: it loads, and is named; others are not."""
        certificates = certify(bundle)
        write_certificate(bundle, certificates)
        original = {path: path.read_bytes() for path in bundle.path.iterdir()}
        assert false_labels(open_bundle(bundle.path, TextBundle), certificates) == []
        labels = [(level, key) for level in bundle.levels for key in level.parameters]
        for level, (mechanism, tail) in labels:
            _lie(bundle.path, level.name, mechanism, tail)
            said = false_labels(open_bundle(bundle.path, TextBundle), certificates)
            assert [line.split(" says")[0] for line in said] == [
                f"false label: level {level.name}, {mechanism}, {tail} tail"
            ]
            for path, content in original.items():
                path.write_bytes(content)
        for level, key in labels:
            _lie(bundle.path, level.name, *key)
        assert run(cli.app, "textveil-export", ["certify", "--dry-run", str(bundle.path)]) == 1
        told = capsys.readouterr()
        assert told.out.count("false label: ") == len(labels)
        assert f"{len(labels)} labels of this bundle are less than what was proven" in told.err
        assert run(cli.app, "textveil-export", ["certify", str(bundle.path)]) == 0
        assert false_labels(open_bundle(bundle.path, TextBundle), certificates) == []

    def test_a_label_without_a_certificate_is_refused(self, bundle):
        manifest = json.loads((bundle.path / "manifest.json").read_text())
        manifest["levels"]["l1"]["santext"][bundle.default_tail]["epsilon_certified"] = 1.0
        (bundle.path / "manifest.json").write_text(json.dumps(manifest))
        with pytest.raises(BundleDamaged, match="no certificate"):
            Sanitizer.load(bundle.path)

    @pytest.mark.slow
    @pytest.mark.parametrize("failing", range(1, 4))
    @pytest.mark.parametrize("certified_before", [False, True])
    def test_an_interruption_leaves_a_sound_bundle(self, bundle, monkeypatch, failing, certified_before):
        certificates = certify(bundle)
        if certified_before:
            write_certificate(bundle, certificates)
        with interrupted(monkeypatch, failing):
            write_certificate(bundle, certificates)
        after = open_bundle(bundle.path, TextBundle)
        assert after.law_identity == bundle.law_identity
        for tail in bundle.tails:
            assert (after.certificate is None) == (after.certified_epsilon(after.levels[0], "santext", tail) is None)
        assert not [path for path in bundle.path.iterdir() if path.name.startswith(".")]


def _plant(folder, certificate):
    """Puts a certificate into a bundle as a forger would, hashes and all."""
    (folder / "certificate.json").write_bytes(certificate)
    manifest = json.loads((folder / "manifest.json").read_text())
    digest = hashlib.sha256(certificate).hexdigest()
    manifest["files"]["certificate.json"] = {"sha256": digest, "bytes": len(certificate)}
    (folder / "manifest.json").write_text(json.dumps(manifest))


def test_threads_do_not_lose_the_worst_pair(monkeypatch):
    """Two blocks report at once, and the one with the larger ratio is interrupted between reading and writing."""
    real = Worst.or_worse

    def slow(worst, losses, *where):
        result = real(worst, losses, *where)
        time.sleep(0.05 if losses.max() > 5 else 0)
        return result

    monkeypatch.setattr(Worst, "or_worse", slow)
    worsts = Worsts(np.ones(10, dtype=bool))
    with ThreadPoolExecutor(2) as pool:
        for value in (6, 9, 5, 7):
            pool.submit(worsts.add, np.array([float(value)]), np.array([value]), np.array([0]), np.array([1.0]))
    assert worsts.over_all == worsts.over_sensitive == Worst(9.0, 9, 0, 1.0)


def _lie(folder, level, mechanism, tail):
    """Lowers one label by a hundredth, and what the certificate says of it."""
    manifest = json.loads((folder / "manifest.json").read_text())
    certificate = json.loads((folder / "certificate.json").read_text())
    for said in (manifest, certificate):
        entry = said["levels"][level][mechanism][tail]
        entry["epsilon_certified"] = round(entry["epsilon_certified"] - 0.01, 6)
    (folder / "manifest.json").write_text(json.dumps(manifest))
    _plant(folder, json.dumps(certificate).encode())
