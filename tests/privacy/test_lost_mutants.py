"""Changes of the code that once no test noticed: each has a test of its own here, which is why it exists."""

import math
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from small_bundles import coarse, contents, scattered, small_bundle, table_of
from textveil.audit import pure_ldp_levels
from textveil.audit.capped import CappedAudit
from textveil.bundle.layout import TABLE
from textveil.errors import BundleDamaged
from textveil.mechanisms.baselines.santext import CappedSanText
from textveil.mechanisms.baselines.table import CAPPED, wrong_weight
from textveil.mechanisms.noise.discrete import NoiseTable


def test_the_check_that_a_look_up_does_not_increase_is_left_out() -> None:
    """One step up by 1 is within rounding of every exponent, so no other check sees it."""
    built = coarse(contents(scattered(24, 3, seed=1), k=5, exponents=("4",), tails=(CAPPED,)), 9)
    name = next(name for name in built.tensors[TABLE] if name.startswith("weights."))
    weights = built.tensors[TABLE][name]
    table = table_of(built)
    table.level_parameters(CAPPED, Decimal(4), name, None)
    steps = 0
    for place in (np.flatnonzero(weights[1:] == weights[:-1]) + 1)[-20:]:
        stepped = weights.copy()
        stepped[place] += 1
        if wrong_weight(stepped, Decimal(4), table.grid) is None:
            table.tensors[name] = stepped
            with pytest.raises(BundleDamaged, match="do not cover its scores"):
                table.level_parameters(CAPPED, Decimal(4), name, None)
            steps += 1
    assert steps


@pytest.mark.parametrize("counts", [(10, 10, 10, 2), (8, 9, 8, 7, 1), (1, 1, 1, 1, 1, 1)])
def test_the_first_tail_that_is_one_output_is_left_out(counts: Sequence[int]) -> None:
    """By one step either way: a table that ends in a small tail has its largest ratio there, or nowhere."""
    table = NoiseTable(tuple(counts))
    singles = [Fraction(max(pair), min(pair)) for pair in pairwise(counts[:-1])]
    for clamped_from in range(len(counts)):
        tails = [sum(counts[n:]) for n in range(clamped_from, len(counts))]
        ratios = [Fraction(near, far) for near, far in pairwise(tails)]
        assert table.largest_ratio(clamped_from) == max([*singles, *ratios], default=Fraction(1))
    last = len(counts) - 1
    assert table.largest_ratio(last - 1) > table.largest_ratio(last)


@pytest.mark.parametrize("mechanism", ["santext", "santext+"])
def test_the_pure_level_counts_stored_words_alone(tmp_path: Path, mechanism: str) -> None:
    """An output that few inputs store has its smallest probability in the tail of another one."""
    bundle = small_bundle(tmp_path / "b", scattered(24, 3, seed=2), k=4, exponents=["6"], tails=(CAPPED,))
    ((key, parameters),) = [each for each in bundle.levels[0].parameters.items() if each[0][0] == mechanism]
    assert key == (mechanism, CAPPED)
    drawn = CappedSanText.of(bundle.table, mechanism, parameters)
    channel = drawn.channel
    base, look_up = channel.base.tolist(), channel.score_weights.tolist()
    rows = []  # by hand, from what is stored
    for neighbors, scores in zip(bundle.table.neighbors.tolist(), bundle.table.scores.tolist(), strict=True):
        score = dict(zip(neighbors, scores, strict=True))
        row = [base[y] * look_up[score.get(y, scores[-1])] for y in range(bundle.symbols)]
        rows.append([Fraction(weight, sum(row)) for weight in row])
    shares = [column for column in zip(*rows, strict=True) if any(column)]
    level = max(math.log(max(column) / min(column)) for column in shares)
    for stated in (CappedAudit(drawn).pure_loss()[0], pure_ldp_levels([channel])[0][0]):
        assert level <= stated <= level + 1e-9
