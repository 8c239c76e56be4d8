"""Public parameters of a release have ranges, and each dropped word has a coin of its own."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from textveil.errors import OptionError
from textveil.mechanisms.noise.parameters import MAX_DIMENSION, MAX_GRID, ReleaseParameters, WordDropout
from textveil.mechanisms.noise.vector import build_noise

K = 5


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"mode": "L1"}, "l1, l2 or box"),
        ({"dimension": 0}, r"the dimension must be from 1 \(box: 2\) to 4096"),
        ({"dimension": MAX_DIMENSION + 1}, r"the dimension must be from 1 \(box: 2\) to 4096"),
        ({"mode": "box", "dimension": 1}, r"the dimension must be from 1 \(box: 2\) to 4096"),
        ({"grid": 0}, "steps"),
        ({"grid": MAX_GRID + 1}, "steps"),
        ({"epsilon": "0"}, "above 0"),
        ({"epsilon": "-1"}, "above 0"),
        ({"epsilon": "16.1"}, "above 0"),
        ({"mode": "box", "epsilon": "81"}, "above 0"),
        ({"epsilon": "nan"}, "decimal number"),
        ({"epsilon": "inf"}, "decimal number"),
        ({"epsilon": "four"}, "decimal number"),
        ({"epsilon": ""}, "decimal number"),
        ({"epsilon": "1e-999999999"}, "decimal number"),
        ({"epsilon": "1e-31"}, "decimal number"),
        ({"epsilon": "0." + "1" * 39}, "decimal number"),
        ({"epsilon": 4.0}, "decimal number"),
        ({"delta": "1e-6"}, "mode l2 needs a delta; l1 and box must not have one"),
        ({"mode": "l2"}, "needs a delta"),
        ({"mode": "l2", "delta": "0"}, "above 0 and below 1"),
        ({"mode": "l2", "delta": "1"}, "above 0 and below 1"),
        ({"mode": "l2", "delta": "-1e-6"}, "above 0 and below 1"),
    ],
)
def test_parameters_out_of_range_are_refused(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        ReleaseParameters(**{"mode": "l1", "dimension": K, "grid": 1024, "epsilon": "4", **changed})


def test_parameters_at_the_ends_of_their_ranges() -> None:
    made = ReleaseParameters(mode="l1", dimension=4096, grid=65536, epsilon="1e-30")
    assert (made.exact_epsilon, made.exact_delta) == (Fraction(1, 10**30), 0)
    assert ReleaseParameters(mode="l1", dimension=1, grid=1, epsilon="0." + "1" * 38).exact_epsilon < Fraction(1, 9)


@pytest.mark.parametrize("mu", ["-0.1", "1", "1.5", "nan", "half", "1e-99", ""])
def test_dropout_out_of_range_is_refused(mu: str) -> None:
    with pytest.raises(OptionError, match="word dropout"):
        WordDropout(mu)


def test_noise_that_does_not_fit_is_refused() -> None:
    with pytest.raises(OptionError, match="coarser grid"):
        build_noise(ReleaseParameters(mode="box", dimension=384, grid=1024, epsilon="0.5"))
    with pytest.raises(OptionError, match="delta is too small for this epsilon: use a larger delta"):
        build_noise(ReleaseParameters(mode="l2", dimension=384, grid=1024, epsilon="16", delta="1e-15"))


@pytest.mark.parametrize("mu", ["1e-18", "1e-20", "0.1", "0.3", "0.5", "0.8", "0.999999999999999999999"])
def test_the_coin_drops_at_least_as_often_as_stated(mu: str) -> None:
    """It drops for the random words below ``2**64 mu``, rounded up, and no others."""
    dropout = WordDropout(mu)
    threshold = math.ceil(Fraction(mu) * 2**64)
    assert Fraction(threshold, 2**64) >= Fraction(mu)
    edge = [w for w in (0, threshold - 1, threshold, 2**64 - 1) if w < 2**64]
    words = np.array(edge, dtype=np.uint64)
    assert dropout.draw_dropped(len(edge), lambda count: words).tolist() == [w < threshold for w in edge]


def test_every_word_has_a_coin_of_its_own() -> None:
    dropped = WordDropout("0.5").draw_dropped(4_000)
    assert dropped.shape == (4_000,)
    assert 1_600 < dropped.sum() < 2_400  # 12 standard errors
    assert 1_600 < (dropped[1:] != dropped[:-1]).sum() < 2_400
    assert not WordDropout().draw_dropped(100, lambda count: pytest.fail("no coin is needed")).any()
