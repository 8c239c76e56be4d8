"""Certificates in bundles: labels, refusals, interruptions, and the command."""

import json
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
import small_bundles
from damaged import read_json, sign_manifest
from interruption import interrupted
from small_staircase import small_staircase
from textveil import Sanitizer
from textveil.bundle import TextBundle, open_bundle
from textveil.errors import BundleDamaged, ContentHashMismatch
from textveil_cli.console import run
from textveil_export import cli
from textveil_export.certify.certificate import certify_bundle, find_false_labels
from textveil_export.certify.pair_search import WorstPair, WorstPairs
from textveil_export.errors import CertificationError
from textveil_export.text.write import write_certificate

GEOMETRIES = {"scattered": small_bundles.scattered(24, 6, 1), "twins": small_bundles.twins(24, 6, 2)}


def test_a_bundle_without_santext_is_refused(tmp_path):
    with pytest.raises(CertificationError, match="no SanText to certify; its staircase mechanism is checked whenever"):
        certify_bundle(open_bundle(small_staircase(tmp_path), TextBundle))


class TestCertificateInABundle:
    """``textveil-export certify``: the certificate, the labels, and what must be refused."""

    @pytest.fixture
    def bundle(self, tmp_path):
        return small_bundles.small_bundle(tmp_path / "b", GEOMETRIES["scattered"], k=5, exponents=["2", "6"])

    def test_labels_become_certified_and_the_identity_another(self, bundle, capsys):
        assert run(cli.app, "textveil-export", ["certify", str(bundle.path)]) == 0
        assert "l1" in capsys.readouterr().out
        with pytest.raises(ContentHashMismatch):
            Sanitizer.load(bundle.path, expect_id=bundle.content_hash)
        certified = Sanitizer.load(bundle.path)
        assert certified.bundle.mechanism_hash == bundle.mechanism_hash
        assert certified.bundle.certificate["mechanism_hash"] == bundle.mechanism_hash
        assert certified.bundle.certificate["format_version"] == 3
        proven = certified.bundle.certificate["levels"]["l1"]["santext"]
        terms = certified.terms(mechanism="santext", epsilon=proven["epsilon_certified"])
        assert terms.epsilon == proven["epsilon_certified"] < proven["epsilon_textbook"] == 12
        assert proven["attained"]["epsilon"] <= proven["epsilon_certified"]
        assert terms.promise.epsilon_kind == "certified metric DP"
        promise: Any = terms.promise
        assert promise.rounding_slack == 0
        assert terms.level == str(terms.epsilon)

    def test_certifying_twice_changes_nothing(self, bundle):
        write_certificate(bundle, certify_bundle(bundle))
        before = {path.name: path.read_bytes() for path in bundle.path.iterdir()}
        write_certificate(bundle, certify_bundle(bundle))
        assert {path.name: path.read_bytes() for path in bundle.path.iterdir()} == before

    def test_a_dry_run_writes_nothing(self, bundle):
        before = {path.name: path.read_bytes() for path in bundle.path.iterdir()}
        assert run(cli.app, "textveil-export", ["certify", "--dry-run", str(bundle.path)]) == 0
        assert {path.name: path.read_bytes() for path in bundle.path.iterdir()} == before

    @pytest.mark.slow
    def test_the_certificate_of_another_table_is_refused(self, bundle, tmp_path):
        other = small_bundles.small_bundle(tmp_path / "c", GEOMETRIES["twins"], k=5, exponents=["2", "6"])
        write_certificate(bundle, certify_bundle(other))
        certificate = (bundle.path / "certificate.json").read_text()
        (bundle.path / "certificate.json").write_text(certificate.replace(bundle.mechanism_hash, other.mechanism_hash))
        sign_manifest(bundle.path, read_json(bundle.path / "manifest.json"))
        with pytest.raises(BundleDamaged, match=r"belongs to another mechanism\.json"):
            Sanitizer.load(bundle.path)

    def test_each_false_label_is_found(self, bundle, capsys):
        """A label and its certificate that both lie, under hashes that fit: it loads, and is named; others are not."""
        certificates = certify_bundle(bundle)
        write_certificate(bundle, certificates)
        original = {path: path.read_bytes() for path in bundle.path.iterdir()}
        assert find_false_labels(open_bundle(bundle.path, TextBundle), certificates) == []
        labels = [(level, mechanism) for level in bundle.santext_levels for mechanism in level.parameters]
        for level, mechanism in labels:
            _lie(bundle.path, level.name, mechanism)
            said = find_false_labels(open_bundle(bundle.path, TextBundle), certificates)
            assert [line.split(": labeled")[0] for line in said] == [f"false label: level {level.name}, {mechanism}"]
            for path, content in original.items():
                path.write_bytes(content)
        for level, mechanism in labels:
            _lie(bundle.path, level.name, mechanism)
        assert run(cli.app, "textveil-export", ["certify", "--dry-run", str(bundle.path)]) == 1
        told = capsys.readouterr()
        assert told.out.count("false label: ") == len(labels)
        assert f"{len(labels)} levels is below the certified one" in told.err
        assert run(cli.app, "textveil-export", ["certify", str(bundle.path)]) == 0
        assert find_false_labels(open_bundle(bundle.path, TextBundle), certificates) == []

    @pytest.mark.slow
    @pytest.mark.parametrize("failing", range(1, 4))
    @pytest.mark.parametrize("certified_before", [False, True])
    def test_an_interruption_leaves_a_sound_bundle(self, bundle, monkeypatch, failing, certified_before):
        certificates = certify_bundle(bundle)
        if certified_before:
            write_certificate(bundle, certificates)
        with interrupted(monkeypatch, failing):
            write_certificate(bundle, certificates)
        after = open_bundle(bundle.path, TextBundle)
        assert after.mechanism_hash == bundle.mechanism_hash
        assert (after.certificate is None) == (after.get_certified_epsilon(after.santext_levels[0], "santext") is None)
        assert not [path for path in bundle.path.iterdir() if path.name.startswith(".")]


def test_threads_do_not_lose_the_worst_pair(monkeypatch):
    """Two blocks report at once, and the one with the larger ratio is interrupted between reading and writing."""
    real = WorstPair.include_pairs

    def slow(worst, losses, *where):
        result = real(worst, losses, *where)
        time.sleep(0.05 if losses.max() > 5 else 0)
        return result

    monkeypatch.setattr(WorstPair, "include_pairs", slow)
    worsts = WorstPairs(np.ones(10, dtype=bool))
    with ThreadPoolExecutor(2) as pool:
        for value in (6, 9, 5, 7):
            pool.submit(worsts.add_pairs, np.array([float(value)]), np.array([value]), np.array([0]), np.array([1.0]))
    assert worsts.overall == worsts.among_sensitive == WorstPair(ratio=9.0, first=9, second=0, distance=1.0)


def _lie(folder, level, mechanism):
    """Lowers one label by a hundredth, and what the certificate says of it."""
    manifest, certificate = (read_json(folder / name) for name in ("manifest.json", "certificate.json"))
    for said in (manifest, certificate):
        entry = said["levels"][level][mechanism]
        entry["epsilon_certified"] = round(entry["epsilon_certified"] - 0.01, 6)
    (folder / "certificate.json").write_text(json.dumps(certificate))
    sign_manifest(folder, manifest)
