"""Word statistics of levels equal their definitions in rationals, and ``statistics.json`` stores them."""

import json
import shutil
from math import log

import numpy as np
import plain_statistics as plain
import pytest
import small_bundles
from damaged import read_json, sign_manifest
from planted import planted
from textveil import Sanitizer
from textveil.bundle import open_bundle
from textveil.bundle.text_bundle import TextBundle
from textveil.errors import BundleDamaged, BundleVersion
from textveil.mechanisms import EqualityScores, ScoreRandomizer
from textveil.text import format_epsilon, summarize_levels
from textveil_cli.console import run
from textveil_export import cli
from textveil_export.certify.certificate import certify_bundle
from textveil_export.leakage import word_statistics
from textveil_export.leakage.word_statistics import (
    load_randomizers,
    measure_spread,
    measure_statistics,
    summarize_values,
)
from textveil_export.text.write import write_certificate, write_statistics


def spread_of_each(bundle):
    """Return the spread of every mechanism, by level and mechanism."""
    return {key: measure_spread(channel) for key, channel in load_randomizers(bundle).items()}


def assert_as_defined(bundle, laws):
    found = spread_of_each(bundle)
    for level, mechanism, rows in laws:
        measured = found.pop((level, mechanism))
        words, inputs = plain.outputs(bundle, mechanism), plain.candidates(bundle, mechanism)
        assert measured.unchanged == pytest.approx([float(rows[x][x]) for x in words], rel=1e-14)
        assert measured.likeliest == pytest.approx([float(max(rows[x])) for x in words], rel=1e-14)
        assert measured.likely_outputs.tolist() == [plain.likely_outputs(rows[x]) for x in words]
        assert measured.likely_inputs.tolist() == [plain.likely_inputs(rows, y, inputs) for y in words]
    assert not found


@pytest.mark.slow
@pytest.mark.parametrize("base", [False, True])
@pytest.mark.parametrize("k", [pytest.param(1, marks=pytest.mark.full), 5, None])
@pytest.mark.parametrize("geometry", plain.GEOMETRIES)
def test_every_number_is_as_defined(built, geometry, k, base):
    assert_as_defined(*built(geometry, k, base))


FAULTS = {
    "the weight of the word before": ("_measure_rows", ("len(words)), words]", "len(words)), words - 1]")),
    "a tenth is left out": ("_measure_rows", ("totals // EXCLUDED_DIVISOR", "totals // 10")),
    "weights are not sorted": ("_measure_rows", ("weights.sort(axis=1)", "pass")),
    "twice the share": ("_count_likely_inputs", ("LIKELY_SHARE", "2 * LIKELY_SHARE")),
    "the largest of another input": ("_count_likely_inputs", ("max(axis=1", "max(axis=0")),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_detected(built, monkeypatch, fault):
    function, change = FAULTS[fault]
    monkeypatch.setattr(word_statistics, function, planted(getattr(word_statistics, function), change))

    def seen(case):
        try:
            assert_as_defined(*case)
        except (AssertionError, ValueError):
            return True
        return False

    assert any(map(seen, [built("simplex", 1), built("scattered", None)]))


def test_a_mass_of_just_95_percent_is_enough():
    """Of forty words that are equally likely it takes 38."""
    weights, base = np.ones(2, dtype=np.int64), np.ones(40, dtype=np.int64)
    channel = ScoreRandomizer(scores=EqualityScores(40), score_weights=weights, base=base)
    assert measure_spread(channel).likely_outputs.tolist() == [38] * 40


def test_values_are_summarized_by_mean_quantiles_and_histogram():
    values = np.array([3, 1, 2, 2, 10])
    found = summarize_values(values, np.array([1, 2, 4, 11]))
    assert found["mean"] == 3.6
    assert found["quantiles"] == {"min": 1, "0.05": 1, "0.25": 2, "0.5": 2, "0.75": 3, "0.95": 10, "max": 10}
    assert found["histogram"] == {"edges": [1, 2, 4, 11], "counts": [1, 3, 1]}


@pytest.mark.parametrize("space", [np.linspace, np.geomspace])
@pytest.mark.parametrize("largest", [1, 2, 7, 300, 20_877])
def test_bins_of_whole_numbers_hold_all_of_them(largest, space):
    edges = word_statistics._round_edges(space(1, largest + 1, 51))
    assert (np.diff(edges) >= 1).all()
    assert edges[0] == 1
    assert edges[-1] == largest + 1
    assert np.histogram(np.arange(1, largest + 1), edges)[0].sum() == largest


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """Return a certified bundle, and its statistics."""
    bundle = plain.small(tmp_path_factory.mktemp("measured") / "b", "scattered", 5)
    bundle = write_certificate(bundle, certify_bundle(bundle))
    return bundle, measure_statistics(bundle, trials=200)


def test_the_summary_says_what_was_found(measured):
    bundle, found = measured
    for level, mechanism, rows in plain.laws(bundle):
        law = found["levels"][level][mechanism]
        words = plain.outputs(bundle, mechanism)
        shares = sorted(float(rows[x][x]) for x in words)
        assert law["unchanged"]["mean"] == pytest.approx(np.mean(shares), rel=1e-5)
        assert law["unchanged"]["quantiles"]["0.5"] == pytest.approx(shares[(len(shares) - 1) // 2], rel=1e-5)
        assert law["rarely_unchanged"] == pytest.approx(np.mean([share < 0.01 for share in shares]), rel=1e-5)
        likely = [plain.likely_outputs(rows[x]) for x in words]
        assert law["likely_outputs"]["quantiles"]["max"] == max(likely)
        assert law["hartley_entropy"]["quantiles"]["max"] == pytest.approx(log(max(likely)), rel=1e-5)
        largest = [float(max(rows[x])) for x in words]
        assert law["min_entropy"]["quantiles"]["min"] == pytest.approx(-log(max(largest)), rel=1e-4)
        for name in ("unchanged", "likely_outputs", "likely_inputs", "min_entropy", "hartley_entropy"):
            histogram = law[name]["histogram"]
            assert sum(histogram["counts"]) == len(words)
            assert len(histogram["edges"]) == len(histogram["counts"]) + 1
        assert found["mechanisms"][mechanism]["words"] == len(words)
        assert found["mechanisms"][mechanism]["candidates"] == len(plain.candidates(bundle, mechanism))


class TestStatisticsInABundle:
    """``textveil-export statistics``: the file, and what must be refused."""

    @pytest.fixture
    def bundle(self, measured, tmp_path):
        """Return a copy of the measured bundle, without statistics."""
        return open_bundle(shutil.copytree(measured[0].path, tmp_path / "b"), TextBundle)

    def test_the_table_its_certificate_and_labels_stay(self, measured, bundle):
        labels = bundle.manifest["levels"]
        written = write_statistics(bundle, measured[1])
        again = Sanitizer.load(bundle.path, expect_id=written.content_hash).bundle
        assert again.content_hash != bundle.content_hash
        assert written.statistics == again.statistics
        assert again.statistics["levels"] == measured[1]["levels"]
        assert again.statistics["mechanism_hash"] == bundle.mechanism_hash
        assert again.manifest["levels"] == labels
        assert again.certificate == bundle.certificate is not None

    def test_writing_twice_changes_nothing(self, measured, bundle):
        write_statistics(bundle, measured[1])
        before = {path.name: path.read_bytes() for path in bundle.path.iterdir()}
        write_statistics(bundle, measure_statistics(bundle, trials=200))
        assert {path.name: path.read_bytes() for path in bundle.path.iterdir()} == before

    def test_a_new_certificate_leaves_them(self, measured, bundle):
        write_statistics(bundle, measured[1])
        assert write_certificate(bundle, certify_bundle(bundle)).statistics is not None

    def test_histograms_take_one_line_each(self, measured, bundle):
        write_statistics(bundle, measured[1])
        lines = (bundle.path / "statistics.json").read_text().splitlines()
        assert sum('"counts": [' in line and line.endswith("]") for line in lines) == 5 * 4

    @pytest.mark.parametrize(
        ("key", "value", "error"),
        [
            ("mechanism_hash", "0" * 64, BundleDamaged),
            ("format", "other", BundleVersion),
            ("format_version", 1, BundleVersion),
            ("levels", {}, BundleDamaged),
            ("levels", {"l0": {"santext": 1}}, BundleDamaged),
        ],
    )
    def test_a_changed_statistics_file_is_refused(self, measured, bundle, key, value, error):
        write_statistics(bundle, measured[1])
        record = read_json(bundle.path / "statistics.json")
        (bundle.path / "statistics.json").write_text(json.dumps({**record, key: value}))
        sign_manifest(bundle.path, read_json(bundle.path / "manifest.json"))
        with pytest.raises(error):
            Sanitizer.load(bundle.path)

    def test_the_statistics_of_another_table_are_refused(self, measured, bundle, tmp_path):
        write_statistics(bundle, measured[1])
        other = write_statistics(plain.small(tmp_path / "other", "simplex", 5), measured[1])
        (other.path / "statistics.json").replace(bundle.path / "statistics.json")
        sign_manifest(bundle.path, read_json(bundle.path / "manifest.json"))
        with pytest.raises(BundleDamaged, match=r"belongs to another mechanism\.json"):
            Sanitizer.load(bundle.path)

    def test_the_command_prints_and_writes_statistics(self, bundle, capsys):
        assert run(cli.app, "textveil-export", ["statistics", str(bundle.path), "--trials", "50", "--seed", "3"]) == 0
        printed = capsys.readouterr().out
        constants = open_bundle(bundle.path, TextBundle).statistics["constants"]
        assert (constants["simulated_words"], constants["seed"]) == (50, 3)
        for mechanism in ("santext", "santext+"):
            assert all(
                f"\n{format_epsilon(level.epsilon)} " in printed for level in summarize_levels(bundle, mechanism)
            )

    @pytest.mark.parametrize("option", ["--statistics", "--no-statistics"])
    def test_a_new_bundle_has_statistics_by_default(self, tmp_path, option, capsys):
        vectors = tmp_path / "vectors.txt"
        rows = small_bundles.scattered(40, 6, 3)
        names = small_bundles.spellings(40)
        vectors.write_text("".join(f"{n} {' '.join(map(str, row))}\n" for n, row in zip(names, rows, strict=True)))
        chosen = [] if option == "--statistics" else [option]
        arguments = "table --lists none -k 4 --exponent 3 --mechanisms santext".split()
        places = ["--vectors", str(vectors), "-o", str(tmp_path / "b")]
        assert run(cli.app, "textveil-export", [*arguments, *chosen, *places]) == 0
        bundle = open_bundle(tmp_path / "b", TextBundle)
        assert (bundle.statistics is not None) == (option == "--statistics")
        assert bundle.content_hash in capsys.readouterr().out
