"""The audit of the installed sampler passes a sound one, and detects planted faults with the stated power."""

import math
import os
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import binomtest
from small_label_bundle import write_index
from small_staircase import small_staircase
from textveil.bundle import LabelBundle, TextBundle, open_bundle
from textveil.mechanisms.staircase import Staircase, StaircaseLevel, StaircaseTable
from textveil.mechanisms.staircase import staircase as staircase_module
from textveil_training.audit import audit_sampler
from textveil_training.audit import sampler as audit

DRAWS = 100_000


@pytest.fixture(autouse=True)
def _accuse_a_sound_sampler_never(monkeypatch: pytest.MonkeyPatch) -> None:
    """Set the error of a comparison: a user's audit may err once in a million times, these tests never."""
    monkeypatch.setattr(audit, "ALPHA", 1e-11)


def made(seed: int = 1, symbols: int = 400, epsilon: str = "4") -> Staircase:
    """Return a staircase with a base like that of words: few common ones, many rare ones."""
    generator = np.random.default_rng(seed)
    base = np.maximum(1, (1e6 / np.arange(1, symbols + 1)).astype(np.uint32))
    others = [generator.permutation(np.delete(np.arange(symbols), word))[:20] for word in range(symbols)]
    neighbors = np.array([[word, *rest] for word, rest in enumerate(others)], np.uint16)
    table = StaircaseTable(neighbors, base, np.full(symbols, 15, np.uint8))
    level = StaircaseLevel(name="one", epsilon=Decimal(epsilon), share=Fraction(1, 20))
    return Staircase.from_table(table, level, np.ones(symbols, dtype=bool))


def test_the_pair_is_tight() -> None:
    """No other pair and output comes closer to the promise, and the output is nearly all that comes out."""
    staircase = made()
    likely, rare, output = audit.find_tight_pair(staircase)
    rows = np.array([staircase.compute_exact_row(word) for word in range(400)], dtype=object)
    shares = np.array([row / sum(row) for row in rows], dtype=np.float64)
    losses = np.log(shares.max(axis=0) / shares.min(axis=0))
    found = math.log(shares[likely, output] / shares[rare, output])
    assert found == pytest.approx(losses.max(), abs=1e-3)
    assert shares[likely, output] > 0.5 * staircase.near_probability


@pytest.mark.statistical
def test_a_sound_sampler_passes_and_shows_most_of_its_epsilon() -> None:
    """A lower bound at 95 % is above what it bounds once in twenty times, but never by ten standard errors."""
    found = audit_sampler(made(), DRAWS)
    assert found.faults == ()
    assert 3 < found.realized < found.exact + 0.4
    assert found.exact <= 4
    assert 0 < found.detectable_error < 0.6


def wrong_tail(self, rows, row_of, u, w):  # type: ignore[no-untyped-def]
    """Plant a fault: spread the rest of the budget over the base itself."""
    position = np.where(u < self.unit * self.base_sum, u // self.unit, w % self.base_sum)
    near = staircase_module.count_at_most(
        rows.dealt, row_of, np.maximum(u - self.unit * self.base_sum, 0) // self.factor
    )
    k = rows.stored.shape[1]
    stored = rows.stored.ravel()[row_of * k + np.minimum(near, k - 1)]
    outputs = np.searchsorted(self.sums, np.minimum(position, self.base_sum - 1), side="right")
    return np.where((u >= self.unit * self.base_sum) & (near < k), stored, outputs)


def scarce() -> Staircase:
    """Words whose neighbors take less than the budget: much is left over."""
    table = made().table
    table = StaircaseTable(table.neighbors[:, :2], table.base[::-1].copy(), table.roles)
    return Staircase.from_table(
        table, StaircaseLevel(name="one", epsilon=Decimal(4), share=Fraction(1, 4)), np.ones(400, dtype=bool)
    )


def floating(totals, random_uint64, *, bits=64):  # type: ignore[no-untyped-def]
    shares = (random_uint64(len(totals)) >> np.uint64(40)).astype(np.float32) / np.float32(2**24)
    return (shares.astype(np.float64) * totals).astype(np.int64)


@pytest.mark.statistical
def test_remainders_of_any_total_are_uniform() -> None:
    assert audit.find_uniformity_faults(3 << 40, DRAWS) == []
    assert audit.find_uniformity_faults(61, DRAWS) == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_random_stream_that_a_fork_repeats_is_detected(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not audit.detect_fork_repeats()
    generator = np.random.default_rng(1)
    monkeypatch.setattr(audit, "random_uint64", lambda count: generator.integers(0, 2**64, count, dtype=np.uint64))
    assert audit.detect_fork_repeats()


def of_larger_factor(more: float) -> Callable[..., Any]:
    drawing, real = made(epsilon=str(4 + math.log(more))), Staircase.draw_symbols
    return lambda self, *given: real(drawing, *given)


#: What is planted where, in which sampler, and what the audit says. A stream that a fork repeats is always seen.
FAULTS: dict[str, tuple[object, str, Any, Callable[[], Staircase], str]] = {
    "a wrong tail": (Staircase, "_select_outputs", wrong_tail, scarce, "outputs occur"),
    "three times the factor": (Staircase, "draw_symbols", of_larger_factor(3), made, "exceeds the stated"),
    "1.5 times the factor": (Staircase, "draw_symbols", of_larger_factor(1.5), made, "outputs occur"),
    "floating point of 24 bits": (audit, "draw_uniform_below", floating, made, "too few random bits"),
}
_RUNS = 60


@pytest.mark.statistical
@pytest.mark.parametrize("name", FAULTS)
def test_a_planted_fault_is_detected(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module, attribute, fault, sampler, said = FAULTS[name]
    drawn = sampler()
    assert audit_sampler(drawn, DRAWS).faults == ()
    monkeypatch.setattr(module, attribute, fault)
    assert any(said in line for line in audit_sampler(drawn, DRAWS).faults)


@pytest.mark.full
@pytest.mark.statistical
@pytest.mark.parametrize("name", FAULTS)
def test_the_power_of_the_audit(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Audits of 100,000 draws again and again, with a fault planted: how often it is seen."""
    module, attribute, fault, sampler, said = FAULTS[name]
    drawn = sampler()
    monkeypatch.setattr(module, attribute, fault)
    seen = sum(any(said in line for line in audit_sampler(drawn, DRAWS).faults) for _ in range(_RUNS))
    least = binomtest(seen, _RUNS, alternative="greater").proportion_ci(0.95).low
    print(f"{name}: seen in {seen} of {_RUNS} audits of {DRAWS:,} draws; power at least {least:.2f} (95 %)")
    assert least > 0.9


@pytest.mark.statistical
def test_the_command_audits_bundles_and_reports_faults(
    tmp_path: Path, run: Callable[..., tuple[int, str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    for bundle in (small_staircase(tmp_path / "staircase"), write_index(tmp_path / "index")):
        code, out, _ = run("audit", "--bundle", bundle, "--draws", 20_000)
        assert (code, out.splitlines()[-1]) == (0, "no fault found")
        assert "realized at least" in out
    assert open_bundle(tmp_path / "staircase", TextBundle).staircase_levels
    assert open_bundle(tmp_path / "index", LabelBundle).randomizers
    monkeypatch.setattr(Staircase, "draw_symbols", lambda self, inputs, source: np.zeros(len(inputs), np.int64))
    code, _, err = run("audit", "--bundle", tmp_path / "index", "--draws", 20_000)
    assert code == 1
    assert "outputs occur" in err
