"""Each change of the code here once passed all tests, and now has a test of its own."""

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from small_bundles import coarse, contents, scattered, table_of
from textveil.bundle.layout import TABLE
from textveil.errors import BundleDamaged
from textveil.mechanisms.baselines.table import find_wrong_weight
from textveil.mechanisms.noise.discrete import NoiseTable


def test_the_check_that_a_look_up_does_not_increase_is_left_out() -> None:
    """An increase by 1 is within rounding of every exponent, so no other check detects it."""
    built = coarse(contents(scattered(24, 3, seed=1), k=5, exponents=("0.25",)), 13)
    name = next(name for name in built.tensors[TABLE] if name.startswith("weights."))
    weights = built.tensors[TABLE][name]
    table = table_of(built)
    table.get_level_parameters(Decimal("0.25"), name, None)
    steps = 0
    for place in (np.flatnonzero(weights[1:] == weights[:-1]) + 1)[-20:]:
        stepped = weights.copy()
        stepped[place] += 1
        if find_wrong_weight(stepped, Decimal("0.25"), table.grid) is None:
            table.tensors[name] = stepped
            with pytest.raises(BundleDamaged, match="do not cover its scores"):
                table.get_level_parameters(Decimal("0.25"), name, None)
            steps += 1
    assert steps


@pytest.mark.parametrize("counts", [(10, 10, 10, 2), (8, 9, 8, 7, 1), (1, 1, 1, 1, 1, 1), (10, 9, 3, 8)])
def test_the_first_tail_that_is_one_output_is_left_out(counts: Sequence[int]) -> None:
    """By one step either way: a table that ends in a small tail has its largest ratio there, or nowhere."""
    table = NoiseTable(tuple(counts))
    singles = [Fraction(max(pair), min(pair)) for pair in pairwise(counts[:-1])]
    for clamped_from in range(len(counts)):
        tails = [sum(counts[n:]) for n in range(clamped_from, len(counts))]
        ratios = [Fraction(near, far) for near, far in pairwise(tails)]
        assert table.compute_largest_ratio(clamped_from) == max([*singles, *ratios], default=Fraction(1))
    if counts[-1] <= counts[-2]:
        last = len(counts) - 1
        assert table.compute_largest_ratio(last - 1) > table.compute_largest_ratio(last)
