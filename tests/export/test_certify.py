"""Certified epsilons against brute force in exact rationals, and against planted faults."""

import hashlib
import json
import math
import os
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import small_bundles
from textveil import Sanitizer
from textveil.audit import Audit
from textveil.console import run
from textveil.errors import BundleDamaged
from textveil.mechanisms import TableLaw
from textveil_export import certify as certification
from textveil_export import cli
from textveil_export.certificate_writer import write_certificate
from textveil_export.certify import CertificationError, certify, worst_ratios

GEOMETRIES = {
    "scattered": lambda: small_bundles.scattered(24, 6, 1),
    "twins": lambda: small_bundles.twins(24, 6, 2),
    "collinear": lambda: small_bundles.line(20),
    "outlier": lambda: small_bundles.outlier(20, 3),
    "clusters": lambda: small_bundles.clusters(4),
    "simplex": lambda: small_bundles.simplex(18),
}

ROUND = ("scattered", "twins", "clusters", "simplex")  # no word is very far from all others


def brute_force(bundle, law, inputs):
    """Largest loss per distance and largest loss over all pairs and outputs: every ratio one by one, no bound."""
    rows = law.rows(np.arange(bundle.table.symbols + 1))
    probabilities = []
    for x in range(bundle.table.symbols + 1):
        weights = [int(w) for w in rows.weights(x)]
        total = sum(weights)
        probabilities.append([Fraction(w, total) for w in weights])
    outputs = [y for y in range(bundle.table.symbols) if law.base[y]]
    per_distance = pure = 0.0
    for x in inputs:
        for other in inputs:
            if x == other:
                continue
            ratio = max(probabilities[x][y] / probabilities[other][y] for y in outputs)
            loss = math.log(ratio.numerator) - math.log(ratio.denominator)
            squared = bundle.table.squared_distance(bundle.embeddings, x, other)
            distance = math.sqrt(Fraction(squared, bundle.table.median_squared_distance))
            per_distance = max(per_distance, loss / distance)
            pure = max(pure, loss)
    return per_distance, pure


@pytest.mark.parametrize("geometry", GEOMETRIES)
@pytest.mark.parametrize("k", [1, 2, 5, None])
def test_certificates_equal_brute_force(tmp_path, geometry, k):
    bundle = small_bundles.small_bundle(
        tmp_path / "b", GEOMETRIES[geometry](), k=k, exponents=["1.5", "9"] if geometry in ROUND else ["0.5", "2.5"]
    )
    certificates = certify(bundle)
    everybody = range(bundle.table.symbols + 1)
    sensitive = [x for x in everybody if x == bundle.table.symbols or not bundle.table.roles[x] & 4]
    for level in bundle.levels:
        for mechanism in ("santext", "santext+"):
            law = TableLaw.of(bundle.table, mechanism, level.laws[mechanism])
            certificate = certificates[level.name][mechanism]
            expected, pure = brute_force(bundle, law, everybody)
            assert expected - 1e-12 <= certificate.epsilon_certified <= expected + 1.1e-4
            assert pure - 1e-12 <= certificate.epsilon_pure_ldp <= pure + 1.1e-4
            expected, _ = brute_force(bundle, law, sensitive)
            assert expected <= certificate.epsilon_certified_sensitive <= expected + 1.1e-4
            assert certificate.infinite_ratios == 0
            assert certificate.epsilon_certified <= certificate.epsilon_textbook + 1


def test_the_attaining_pair_attains(tmp_path):
    bundle = small_bundles.small_bundle(tmp_path / "b", GEOMETRIES["scattered"](), k=5, exponents=["6"])
    law = TableLaw.of(bundle.table, "santext", bundle.levels[0].laws["santext"])
    ((worst, _),) = worst_ratios(bundle.table, bundle.embeddings, [Audit(law)])
    rows = law.rows(np.array([worst.first, worst.second]))
    shares = [rows.weights(i) / rows.totals[i] for i in (0, 1)]
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.log(shares[0] / shares[1])
    ratios[~(shares[0] > 0)] = -np.inf
    assert ratios.max() / worst.distance == pytest.approx(worst.ratio, rel=1e-9)
    if worst.output >= 0:
        assert ratios.argmax() == worst.output


def test_a_planted_fault_moves_the_certificate(tmp_path):
    """One score too small by a hundredth of a unit at the binding pair: the audit of the finished table sees it."""
    bundle = small_bundles.small_bundle(tmp_path / "b", GEOMETRIES["scattered"](), k=5, exponents=["6"])
    level_law = bundle.levels[0].laws["santext"]
    ((worst, _),) = worst_ratios(
        bundle.table, bundle.embeddings, [Audit(TableLaw.of(bundle.table, "santext", level_law))]
    )
    scores = bundle.table.scores.copy()
    row = scores[worst.second].astype(np.int64)
    row[1:] += 600  # every other word of the other input's row pushed a tenth of a unit away
    scores[worst.second] = row
    weights = np.concatenate([level_law.weights, np.full(600, level_law.weights[-1])])
    faulty = replace(bundle.table, scores=scores)
    faulty_law = TableLaw.of(faulty, "santext", replace(level_law, weights=weights))
    ((after, _),) = worst_ratios(bundle.table, bundle.embeddings, [Audit(faulty_law)])
    assert after.ratio > worst.ratio * 1.02


def test_equal_vectors_with_different_rows_are_refused(tmp_path):
    bundle = small_bundles.small_bundle(tmp_path / "b", GEOMETRIES["scattered"](), k=5, exponents=["6"])
    bundle.embeddings = bundle.embeddings.copy()
    bundle.embeddings[3] = bundle.embeddings[4]
    law = TableLaw.of(bundle.table, "santext", bundle.levels[0].laws["santext"])
    with pytest.raises(CertificationError, match="distance 0"):
        worst_ratios(bundle.table, bundle.embeddings, [Audit(law)])


def test_without_rows_there_is_no_metric(tmp_path):
    bundle = small_bundles.small_bundle(tmp_path / "b", GEOMETRIES["scattered"](), k=5, exponents=["6"])
    bundle.embeddings = None
    with pytest.raises(CertificationError, match="no embedding rows"):
        certify(bundle)


class TestCertificateInABundle:
    """``textveil-export certify``: the certificate, the labels, and what must be refused."""

    @pytest.fixture
    def bundle(self, tmp_path):
        return small_bundles.small_bundle(tmp_path / "b", GEOMETRIES["scattered"](), k=5, exponents=["2", "6"])

    def test_the_identity_stays_and_labels_become_certified(self, bundle, capsys):
        assert run(cli.app, "textveil-export", ["certify", str(bundle.path)]) == 0
        assert "l1" in capsys.readouterr().out
        certified = Sanitizer.load(bundle.path, expect_id=bundle.identity)
        proven = certified.bundle.certificate["levels"]["l1"]["santext"]
        terms = certified.terms(mechanism="santext", level="l1")
        assert terms.epsilon == proven["epsilon_certified"] < proven["epsilon_textbook"] == 12
        assert terms.epsilon_kind == "certified metric DP"
        assert terms.rounding_slack == 0
        assert certified.terms(mechanism="santext", epsilon=proven["epsilon_certified"]).level == "l1"

    def test_certifying_twice_changes_nothing(self, bundle):
        write_certificate(bundle, certify(bundle))
        before = {path.name: path.read_bytes() for path in bundle.path.iterdir()}
        write_certificate(bundle, certify(bundle))
        assert {path.name: path.read_bytes() for path in bundle.path.iterdir()} == before

    def test_a_dry_run_writes_nothing(self, bundle):
        before = {path.name: path.read_bytes() for path in bundle.path.iterdir()}
        assert run(cli.app, "textveil-export", ["certify", "--dry-run", str(bundle.path)]) == 0
        assert {path.name: path.read_bytes() for path in bundle.path.iterdir()} == before

    def test_the_certificate_of_another_table_is_refused(self, bundle, tmp_path):
        other = small_bundles.small_bundle(tmp_path / "c", GEOMETRIES["twins"](), k=5, exponents=["2", "6"])
        write_certificate(bundle, certify(other))
        data = (
            (bundle.path / "certificate.json").read_bytes().replace(bundle.identity.encode(), other.identity.encode())
        )
        _plant(bundle.path, data)
        with pytest.raises(BundleDamaged, match="belongs to another table"):
            Sanitizer.load(bundle.path)

    def test_a_label_below_the_certificate_is_refused(self, bundle):
        write_certificate(bundle, certify(bundle))
        manifest = json.loads((bundle.path / "manifest.json").read_text())
        manifest["levels"]["l1"]["santext"]["epsilon_certified"] -= 0.001
        (bundle.path / "manifest.json").write_text(json.dumps(manifest))
        with pytest.raises(BundleDamaged, match="less than what was proven"):
            Sanitizer.load(bundle.path)

    def test_a_label_without_a_certificate_is_refused(self, bundle):
        manifest = json.loads((bundle.path / "manifest.json").read_text())
        manifest["levels"]["l1"]["santext"]["epsilon_certified"] = 1.0
        (bundle.path / "manifest.json").write_text(json.dumps(manifest))
        with pytest.raises(BundleDamaged, match="no certificate"):
            Sanitizer.load(bundle.path)

    @pytest.mark.parametrize("failing", range(1, 4))
    @pytest.mark.parametrize("certified_before", [False, True])
    def test_an_interruption_leaves_a_sound_bundle(self, bundle, monkeypatch, failing, certified_before):
        certificates = certify(bundle)
        if certified_before:
            write_certificate(bundle, certificates)
        calls = 0
        real = os.replace

        def interrupted(source, target):
            nonlocal calls
            calls += 1
            if calls == failing:
                raise KeyboardInterrupt
            real(source, target)

        monkeypatch.setattr("textveil_export.certificate_writer.os.replace", interrupted)
        with suppress(KeyboardInterrupt):
            write_certificate(bundle, certificates)
        monkeypatch.undo()
        after = Sanitizer.load(bundle.path, expect_id=bundle.identity).bundle
        assert (after.certificate is None) == (after.certified_epsilon(after.levels[0], "santext") is None)
        assert not [path for path in bundle.path.iterdir() if path.name.startswith(".")]


def _plant(folder, certificate):
    """Puts a certificate into a bundle as a forger would, hashes and all."""
    (folder / "certificate.json").write_bytes(certificate)
    manifest = json.loads((folder / "manifest.json").read_text())
    digest = hashlib.sha256(certificate).hexdigest()
    manifest["files"]["certificate.json"] = {"sha256": digest, "bytes": len(certificate)}
    (folder / "manifest.json").write_text(json.dumps(manifest))


def test_threads_do_not_lose_the_worst_pair(tmp_path):
    """Two blocks report at once, and the one with the larger ratio is interrupted between reading and writing."""
    bundle = small_bundles.small_bundle(tmp_path / "b", GEOMETRIES["scattered"](), k=5, exponents=["6"])
    audit = Audit(TableLaw.of(bundle.table, "santext", bundle.levels[0].laws["santext"]))
    search = certification._Search(audit, np.ones(bundle.table.symbols + 1, dtype=bool))
    real = certification._worse

    def slow(worst, ratios, *where):
        result = real(worst, ratios, *where)
        time.sleep(0.05 if ratios.max() > 5 else 0)
        return result

    class Losses:
        def losses(self, first, second):
            return first.astype(float), np.full(len(first), -1)

    search.audit = Losses()
    with pytest.MonkeyPatch.context() as patch, ThreadPoolExecutor(2) as pool:
        patch.setattr(certification, "_worse", slow)
        for value in (6, 9, 5, 7):
            pool.submit(search.evaluate, np.array([value]), np.array([0]), np.array([1.0]))
    assert search.all_inputs.ratio == search.sensitive_inputs.ratio == 9
