"""The library and ``textveil levels`` report the promises and effects of levels."""

import copy
import json
from dataclasses import replace

import pytest
from textveil import Sanitizer
from textveil.bundle import open_bundle
from textveil.bundle.text_bundle import TextBundle
from textveil.errors import BundleDamaged
from textveil.text.level_summary import summarize_levels
from textveil.text.levels import format_epsilon
from textveil_cli.reports import format_rate
from textveil_export.certify.certificate import certify_bundle
from textveil_export.leakage.word_statistics import measure_statistics
from textveil_export.text.write import write_certificate, write_statistics
from written_files import content

LEVELS = {"a": "1", "b": "3", "c": "5", "d": "9"}
#: Medians of N_x and Bayes recoveries that are easy to reason with, level by level.
UNCHANGED = (0.1, 0.3, 0.5, 0.9)
RECOVERY = (0.05, 0.2, 0.4, 0.8)


@pytest.fixture(scope="session")
def measured_path(make_bundle, tmp_path_factory):
    """Return a certified bundle with four levels, and statistics."""
    made = open_bundle(make_bundle(levels=LEVELS), TextBundle)
    return write_statistics(write_certificate(made, certify_bundle(made)), measure_statistics(made, trials=100)).path


@pytest.fixture
def bundle(measured_path):
    """Return the same bundle with round numbers for santext+."""
    bundle = open_bundle(measured_path, TextBundle)
    bundle = replace(bundle, statistics=copy.deepcopy(bundle.statistics))
    for name, unchanged, recovery in zip(LEVELS, UNCHANGED, RECOVERY, strict=True):
        law = bundle.statistics["levels"][name]["santext+"]
        law["unchanged"]["quantiles"]["0.5"] = unchanged
        law["bayes_recovery"] = {
            "1": {"rate": recovery},
            "2": {"rate": recovery, "low": recovery - 0.01, "high": recovery + 0.01},
            "5": {"rate": recovery, "low": recovery - 0.01, "high": recovery + 0.01},
            "10": {"rate": recovery, "low": recovery - 0.04, "high": recovery + 0.04},
        }
    return bundle


@pytest.fixture
def without(make_bundle):
    """Return a bundle without certificate and statistics."""
    return make_bundle()


def test_what_is_said_of_a_level_is_what_the_files_say(bundle):
    sanitizer = Sanitizer(bundle)
    for mechanism in ("santext", "santext+"):
        for name, found in zip(LEVELS, summarize_levels(bundle, mechanism), strict=True):
            terms = sanitizer.terms(mechanism=mechanism, epsilon=found.epsilon)
            assert (found.epsilon, found.epsilon_kind) == (terms.epsilon, terms.promise.epsilon_kind)
            assert found.epsilon_textbook == 2 * float(LEVELS[name])
            law = bundle.statistics["levels"][name][mechanism]
            proven = bundle.certificate["levels"][name][mechanism]
            assert found.epsilon_pure_ldp == proven["epsilon_pure_ldp"]
            assert found.measures.likely_inputs == law["likely_inputs"]["quantiles"]["0.5"]
            assert found.measures.recovery[10].high == law["bayes_recovery"]["10"]["high"]
            assert found.measures.recovery[1].low == found.measures.recovery[1].high
            assert (found.measures.recovery_with_kept_words is None) == (mechanism == "santext")


def test_the_median_share_is_that_of_the_law(measured_path):
    """The stored number equals that of the runtime's output distribution."""
    sanitizer = Sanitizer.load(measured_path)
    for found in summarize_levels(sanitizer.bundle, "santext"):
        shares = [
            float(sanitizer.distribution(word, mechanism="santext", epsilon=found.epsilon).compute_probability(word))
            for word in sanitizer.bundle.vocabulary
        ]
        assert found.measures.unchanged == pytest.approx(sorted(shares)[(len(shares) - 1) // 2], rel=1e-5)


@pytest.mark.parametrize("name", ["unchanged", "bayes_recovery", "rarely_unchanged", "likely_outputs"])
@pytest.mark.parametrize("value", [None, "much", True, {}, []])
def test_malformed_statistics_are_named(bundle, name, value):
    bundle.statistics["levels"]["b"]["santext+"][name] = value
    with pytest.raises(BundleDamaged, match=r"statistics\.json: a number is missing or malformed"):
        summarize_levels(bundle, "santext+")


def test_a_rate_is_never_printed_as_certain():
    assert [format_rate(rate) for rate in (0.0271, 0.9994, 0.9996, 1.0)] == ["2.7%", "99.9%", ">99.9%", ">99.9%"]


class TestCommands:
    """``textveil levels`` from the outside."""

    def test_levels(self, here, measured_path):
        done = here("levels", "--bundle", measured_path)
        assert done.code == 0
        lines = done.text.splitlines()
        assert max(map(len, lines)) <= 120
        heads = [line.split(";")[0] for line in lines if "guessed without a release" in line]
        assert heads == ["santext+ (the default)", "santext"]
        rows = [line.split() for line in lines if " certified " in line]
        bundle = open_bundle(measured_path, TextBundle)
        assert bundle.median_distance is not None
        levels = [level for law in ("santext+", "santext") for level in summarize_levels(bundle, law)]
        for row, level in zip(rows, levels, strict=True):
            assert row[:2] == [format_epsilon(level.epsilon), "certified"]
            assert level.epsilon_pure_ldp is not None
            assert float(row[3]) == pytest.approx(level.epsilon_textbook / bundle.median_distance, rel=1e-3)
            assert 0 <= float(row[4]) - level.epsilon_pure_ldp <= 0.01  # a bound is rounded up
            does = level.measures
            kept = (does.unchanged_low, does.unchanged, does.unchanged_high, does.unchanged_most)
            assert row[5:9] == [f"{quantile:.1%}" for quantile in kept]
            assert row[10] == format_rate(level.measures.recovery[1].rate)
            assert row[11] == format_rate(level.measures.recovery[10].rate)
        assert done.text.count("default") == 1 + 2

    def test_levels_as_json(self, here, measured_path):
        found = json.loads(here("levels", "-b", measured_path, "--json").text)
        assert len(found) == 8
        assert {"default", "mechanism", "epsilon", "epsilon_kind", "measures"} <= set(found[0])
        assert found[0]["measures"]["recovery"]["10"]["low"] <= found[0]["measures"]["recovery"]["10"]["high"]

    def test_levels_without_statistics(self, here, without):
        done = here("levels", "-b", without)
        assert done.code == 0
        assert "no statistics" in done.text
        assert [line.split()[4:11] for line in done.text.splitlines() if line.startswith("4 ")] == 2 * [["-"] * 7]

    def test_info_prints_the_share_from_the_statistics(self, here, measured_path, without):
        facts = json.loads(here("info", "-b", measured_path, "--json").text)
        for law, level in zip(facts["epsilons"], summarize_levels(open_bundle(measured_path, TextBundle)), strict=True):
            assert law["santext+"]["unchanged_median"] == level.measures.unchanged
            assert f"{level.measures.unchanged:6.1%}" in here("info", "-b", measured_path).text
        assert (
            json.loads(here("info", "-b", without, "--json").text)["epsilons"][0]["santext"]["unchanged_median"] is None
        )

    def test_nothing_is_drawn_and_the_folder_is_left_as_it_is(self, here, measured_path, monkeypatch):
        monkeypatch.setattr("textveil.mechanisms.entropy.random_uint64", lambda count: pytest.fail("entropy was read"))
        before = content(measured_path)
        assert here("levels", "-b", measured_path).code == 0
        assert content(measured_path) == before
