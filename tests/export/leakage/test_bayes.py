"""Bayes-optimal recovery equals its definition: exactly for one release, by enumeration for several."""

from fractions import Fraction

import numpy as np
import plain_statistics as plain
import pytest
import small_bundles
from defined_weights import outputs
from planted import planted
from textveil_export.leakage import bayes
from textveil_export.leakage.word_statistics import find_candidates, load_randomizers

COIN = Fraction(3, 10)
SEED = 20_877


def rates_of_each(bundle, **options):
    """Return the recovery rates of every output distribution, by level and mechanism."""
    found = {}
    for number, (key, channel) in enumerate(load_randomizers(bundle).items()):
        stream = (options.get("seed", SEED), number)
        found[key] = bayes.measure_recovery(
            channel, find_candidates(channel), trials=options.get("trials", 20), stream=stream
        )
    return found


@pytest.mark.slow
@pytest.mark.parametrize("base", [False, True])
@pytest.mark.parametrize("k", [pytest.param(1, marks=pytest.mark.full), 5, None])
@pytest.mark.parametrize("geometry", plain.GEOMETRIES)
def test_one_release_is_exact(built, geometry, k, base):
    bundle, laws = built(geometry, k, base)
    found = rates_of_each(bundle)
    for level, mechanism, rows in laws:
        rates = found[level, mechanism]
        shares = plain.prior(bundle, plain.candidates(bundle, mechanism))
        expected = sum(max(shares[x] * rows[x][y] for x in shares) for y in range(bundle.symbol_count))
        assert rates["bayes_recovery"]["1"] == {"rate": pytest.approx(float(expected), abs=6e-7)}
        if mechanism == "santext":
            assert "bayes_recovery_with_kept_words" not in rates
            continue
        kept = {x for x, role in enumerate(bundle.table.roles.tolist()) if role & 4}
        everybody = plain.prior(bundle, list(range(bundle.symbol_count + 1)))
        whole = [
            [(COIN if x in kept else 1) * share + (1 - COIN) * (x in kept and x == y) for y, share in enumerate(row)]
            for x, row in enumerate(rows)
        ]
        assert all(sum(row) == 1 for row in whole)
        expected = sum(max(everybody[x] * whole[x][y] for x in everybody) for y in range(bundle.symbol_count))
        with_kept = rates["bayes_recovery_with_kept_words"]
        assert with_kept == {"1": {"rate": pytest.approx(float(expected), abs=6e-7)}}


_COLUMNS = "randomizer.compute_columns(outputs)"
RATE_FAULTS = {
    "the mean posterior": ("joint[np.arange(len(outputs)), guesses]", "joint.mean(axis=1)"),
    "the prior of other words": ("columns * prior", "columns * prior[::-1]"),
    "no base measure": (_COLUMNS, f"{_COLUMNS} / np.maximum(randomizer.base[outputs, None], 1)"),
    "no coin": (_COLUMNS, "randomizer.without_coin.compute_columns(outputs)"),
}


@pytest.mark.slow
@pytest.mark.parametrize("fault", RATE_FAULTS)
def test_a_planted_fault_in_the_exact_rate_is_detected(built, monkeypatch, fault):
    monkeypatch.setattr(bayes, "guess_from_one_release", planted(bayes.guess_from_one_release, RATE_FAULTS[fault]))
    with pytest.raises(AssertionError):
        test_one_release_is_exact(built, "scattered", 5, True)


def test_the_prior_is_in_rank_order():
    prior = bayes.make_zipf_prior(20_878)
    assert prior.sum() == pytest.approx(1)
    assert prior[0] / prior[-1] == pytest.approx((20_878 + 2.7) / 3.7)
    assert prior[1] / prior[0] == pytest.approx(3.7 / 4.7)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """Six words: all outcomes of ten releases can be enumerated."""
    vectors = small_bundles.scattered(6, 3, 9)
    lists = small_bundles.Lists(share=0.7, never_output=(3,))
    options = {"k": 3, "exponents": ["1", "4"], "lists": lists}
    return small_bundles.small_bundle(tmp_path_factory.mktemp("tiny") / "b", vectors, **options)


@pytest.fixture(scope="module")
def enumerated(tiny):
    """Compute the recovery rates over all outcomes, by level, mechanism and number of releases."""
    rates = {}
    for level, mechanism, rows in plain.laws(tiny):
        shares = plain.prior(tiny, plain.candidates(tiny, mechanism))
        rates |= {(level, mechanism, n): plain.recovery(rows, shares, n) for n in bayes.RELEASE_COUNTS}
    return rates


def errors(bundle, enumerated, trials=10_000):
    """By how many standard errors each simulated rate is off the enumerated one."""
    found = rates_of_each(bundle, trials=trials)
    off = []
    for (*law, releases), expected in enumerated.items():
        rate = found[tuple(law)]["bayes_recovery"][str(releases)]
        error = (rate["high"] - rate["low"]) / 2 / 1.959964
        off.append(abs(rate["rate"] - expected) / error)
    return off


def test_enumeration_agrees_with_the_sum_for_one_release(tiny):
    for _, mechanism, rows in plain.laws(tiny):
        shares = plain.prior(tiny, plain.candidates(tiny, mechanism))
        direct = sum(max(shares[x] * rows[x][y] for x in shares) for y in outputs(tiny, mechanism))
        assert plain.recovery(rows, shares, 1) == pytest.approx(float(direct))


@pytest.mark.slow
def test_several_releases_agree_with_enumeration(tiny, enumerated):
    off = errors(tiny, enumerated)
    assert len(off) == 2 * 2 * 3
    assert max(off) < 4.5  # the seed is fixed: this either holds or does not
    assert np.mean(np.array(off) < 1.959964) > 0.8


SIMULATION_FAULTS = {
    "posteriors without normalizers": ("logs -= log_totals", "pass"),
    "no prior": ("guess_inputs(logs, prior)", "guess_inputs(logs, np.ones(len(prior)))"),
    "always the likeliest word": ("* cumulative[-1]", "* 0"),
    "the same output every time": (
        "(len(batch), RELEASE_COUNTS[-1]))",
        "(len(batch), 1)).repeat(RELEASE_COUNTS[-1], 1)",
    ),
    "intervals a twentieth as wide": ("margins = ", "margins = 0.05 * "),
}


@pytest.mark.slow
@pytest.mark.parametrize("fault", SIMULATION_FAULTS)
def test_a_planted_fault_in_the_simulation_is_detected(tiny, enumerated, monkeypatch, fault):
    monkeypatch.setattr(bayes, "simulate_releases", planted(bayes.simulate_releases, SIMULATION_FAULTS[fault]))
    assert max(errors(tiny, enumerated)) > 6


@pytest.mark.slow
def test_intervals_cover_as_often_as_they_say(tiny, enumerated):
    """Two hundred simulations of one law: 95 % intervals hold the enumerated rate in all but about ten of them."""
    (level, mechanism), channel = list(load_randomizers(tiny).items())[-1]
    prior = bayes.restrict_prior(bayes.make_zipf_prior(channel.input_count), find_candidates(channel))
    covered = 0
    for number in range(200):
        rate = bayes.simulate_releases(channel, prior, trials=500, stream=(7, number))[2]
        covered += rate.low <= enumerated[level, mechanism, 2] <= rate.high
    assert 180 <= covered <= 199


def test_a_simulation_is_reproducible_whatever_the_number_of_cores(tiny, monkeypatch):
    first = rates_of_each(tiny, trials=300)
    monkeypatch.setattr("textveil_export.parallel.cpu_count", lambda: 1)
    assert rates_of_each(tiny, trials=300) == first
    assert rates_of_each(tiny, trials=300, seed=1) != first
