"""SanText: every output has the weight of its own distance, and a draw by rejection has just that distribution.

The weights are held against their definition in Python's integers. ``draw_thinned`` is enumerated: every proposal with
every threshold, and after a rejection every proposal with every threshold again, so that each output must come out as
often as its weight says, to the last one. What could go wrong is what a faster loop would do: drawing again from the
tail alone, which leaves it too much mass; thresholds for words that need none; a rejected word that tosses SanText+'s
coin again. Each of these is planted, and the same checks must find it.
"""

import itertools
from collections.abc import Callable
from decimal import Decimal
from functools import cache
from types import SimpleNamespace
from typing import Any

import faulty_sampling
import numpy as np
import pytest
import small_bundles
from defined_weights import defined_weights
from numpy.typing import NDArray
from planted import planted
from textveil.mechanisms import IsolatedSlots, entropy
from textveil.mechanisms import integer_sampling as sampling
from textveil.mechanisms.baselines.santext import SanText
from textveil.mechanisms.baselines.santext_plus import SanTextPlus
from textveil.mechanisms.baselines.table import KEPT_ROLE, LevelParameters
from textveil.mechanisms.coin import ReplacementCoin
from textveil.mechanisms.integer_sampling import WeightRows

Words = NDArray[np.uint64]

GEOMETRIES = {
    "scattered": small_bundles.scattered(24, 8, seed=61),
    "lattice": small_bundles.lattice(),
    "outlier": small_bundles.outlier(24, seed=62),
    "clusters": small_bundles.clusters(seed=63),
}
#: Small enough to enumerate: nine words, six outputs of ``santext``, four of ``santext+``.
FEW = small_bundles.Lists(share=0.6, sensitive=(1,), never_output=(2, 5, 7))


@cache
def in_memory(geometry: str, k: int | None) -> Any:
    few = geometry == "few"
    vectors = small_bundles.scattered(9, 3, seed=64) if few else GEOMETRIES[geometry]
    lists = FEW if few else small_bundles.MIXED
    return small_bundles.in_memory(vectors, k=k, exponents=("1",), lists=lists)


def level_law(
    bundle: SimpleNamespace, scale: int, exponent: float, past_end: int = 0, base: Any = None
) -> LevelParameters:
    """Weights ``scale exp(-exponent s / grid)``, at least 1; optionally ending before the largest score."""
    largest = max(
        int(bundle.metric.compute_scores(block).max())
        for _, block in bundle.metric.iterate_squared_blocks(_all(bundle))
    )
    scores = np.arange(max(largest - past_end, int(bundle.table.scores.max())) + 1)
    weights = np.maximum(1, np.rint(scale * np.exp(-exponent * scores / bundle.table.grid))).astype(np.int64)
    return LevelParameters(Decimal(exponent), weights, base)


def _all(bundle: SimpleNamespace) -> NDArray[np.intp]:
    return np.arange(bundle.symbol_count + 1)


def exact_law(bundle: SimpleNamespace, mechanism: str, law: LevelParameters) -> SanText:
    return SanText.from_table(bundle.table, bundle.metric, mechanism, law)


# The weights.


def test_words_that_are_not_stored_are_never_heavier_than_the_tail() -> None:
    """What thinning relies on: of stored words the weight is at least the tail's, of all others at most."""
    for geometry in GEOMETRIES:
        for k in (1, 2, 5):
            bundle = in_memory(geometry, k)
            law = exact_law(bundle, "santext", level_law(bundle, 1 << 40, 3))
            for x in _all(bundle):
                weights, row = (
                    law.randomizer.compute_input_weights(np.array([x]))[0],
                    law.compute_proposals(np.array([x])),
                )
                stored = np.isin(np.arange(len(weights)), row.stored[0])
                assert (weights[stored] >= row.tail[0]).all()
                assert (weights[~stored] <= row.tail[0]).all()


# The draw.


def blocks(rows: WeightRows, row: int) -> list[int]:
    """Who owns each integer of a row of proposals, by docs/format-santext.md: stored words, then the tail by id."""
    excess = np.diff(rows.cumulative[row], prepend=0).tolist()
    owner = [y for y, size in zip(rows.stored[row].tolist(), excess, strict=True) for _ in range(size)]
    for y, units in enumerate(np.diff(rows.base, prepend=0).tolist()):
        owner += [y] * (units * int(rows.tail[row]))
    return owner


def thins_exactly(draw_thinned: Callable[..., Any], law: SanText, weights: list[list[int]]) -> bool:
    """Whether every output comes out just as often as its weight says, over all words of two rounds.

    A row has ``Z`` proposals and ``T`` thresholds, so ``N = Z T`` ways through a round, of which ``T weight(x, y)`` end
    with ``y`` and ``R`` with a rejection. Over all ``N^2`` ways through two rounds ``y`` comes out
    ``T weight(x, y) (N + R)`` times; the ``R^2`` ways that are rejected twice get words of 0 and become the owner of 0.
    All rows are drawn side by side, and each call must ask for as many words as docs/format-santext.md says.
    """
    rows = law.compute_proposals(np.arange(len(weights)))
    sizes = [(int(z), int(t)) for z, t in zip(rows.totals, rows.tail, strict=True)]
    ways = [np.indices((z, t, z, t)).reshape(4, -1) for z, t in sizes]
    row = np.repeat(np.arange(len(weights)), [way.shape[1] for way in ways])
    first_proposal, first_threshold, second_proposal, second_threshold = np.concatenate(ways, axis=1)
    owners = [np.array(blocks(rows, x)) for x in range(len(weights))]
    heavy = np.array(weights) // np.maximum(law.base, 1)
    script: list[Any] = []
    pending = np.arange(len(row))
    for proposals, thresholds in ((first_proposal, first_threshold), (second_proposal, second_threshold)):
        x, u = row[pending], proposals[pending]
        in_tail = u >= rows.cumulative[x, -1]
        script += [u, thresholds[pending[in_tail]]] if len(pending) else []
        output = np.concatenate([np.array([], dtype=np.intp), *(owners[r][u[x == r]] for r in range(len(weights)))])
        pending = pending[in_tail & (thresholds[pending] >= heavy[x, output])]
    expected = np.zeros((len(weights), len(weights[0])), dtype=np.int64)
    for x, row_weights in enumerate(weights):
        total, tail = sizes[x]
        rejected = total * tail - tail * sum(row_weights)
        expected[x] = [tail * weight * (total * tail + rejected) for weight in row_weights]
        expected[x, owners[x][0]] += rejected**2

    def words(count: int) -> Words:
        turn = script.pop(0) if script else np.zeros(len(pending), dtype=np.int64)
        if len(turn) != count and (script or count > len(pending)):
            raise LookupError
        return turn[:count].astype(np.uint64)

    try:
        drawn = draw_thinned(rows, row, lambda r, y: law.compute_weights(r, y), words)
    except (LookupError, ValueError):  # it asks for other words, or does not fit its own arrays
        return False
    counts = np.zeros_like(expected)
    np.add.at(counts, (row, drawn), 1)
    return not script and np.array_equal(counts, expected)


def enumerable(k: int, mechanism: str, base: Any = None, past_end: int = 0) -> tuple[SanText, list[list[int]]]:
    bundle = in_memory("few", k)
    law = level_law(bundle, 5, 1.2, past_end, base)
    return exact_law(bundle, mechanism, law), defined_weights(bundle, mechanism, law)


@pytest.mark.parametrize("mechanism", ["santext", "santext+"])
@pytest.mark.parametrize("k", [1, 2, 3, 6])
def test_every_way_through_two_rounds(k: int, mechanism: str) -> None:
    law, weights = enumerable(k, mechanism)
    assert len({tuple(row) for row in weights}) > 3
    assert thins_exactly(sampling.draw_thinned, law, weights)


def test_every_way_with_a_base_measure_and_past_the_end() -> None:
    base = np.array([1, 2, 0, 1, 1, 3, 1, 0, 2], dtype=np.uint8)
    assert thins_exactly(sampling.draw_thinned, *enumerable(2, "santext+", base))
    assert thins_exactly(sampling.draw_thinned, *enumerable(2, "santext", past_end=3000))


@pytest.mark.parametrize("fault", faulty_sampling.DRAW_THINNED)
def test_a_fault_in_draw_thinned_is_seen(fault: str) -> None:
    law, weights = enumerable(2, "santext")
    assert not thins_exactly(planted(sampling.draw_thinned, faulty_sampling.DRAW_THINNED[fault]), law, weights)


def test_an_exact_law_draws_from_its_own_rows() -> None:
    """Tokens of one batch draw what each would draw alone, whatever their order."""
    law, _ = enumerable(2, "santext")
    inputs = np.array([8, 3, 9, 3, 0, 8, 8])

    def stream(start: int) -> Callable[[int], Words]:
        calls = itertools.count(start)
        return lambda count: np.full(count, next(calls), dtype=np.uint64)

    for start in range(40):
        alone = [law.draw_symbols(np.array([x]), stream(start)).item() for x in inputs]
        assert law.draw_symbols(inputs, stream(start)).tolist() == alone


# The coin of SanText+.


def sample_plan() -> tuple[SanTextPlus, list[int]]:
    """SanText+ with a coin of one half, and its common words."""
    bundle = in_memory("scattered", 2)
    law = exact_law(bundle, "santext+", level_law(bundle, 1 << 40, 3))
    keepable = np.append((bundle.table.roles & KEPT_ROLE) != 0, False)
    return SanTextPlus(law, ReplacementCoin.from_probability("0.5"), keepable), np.flatnonzero(keepable).tolist()


def keeps_by_the_coin(draw: Callable[..., Any], patch: pytest.MonkeyPatch) -> bool:
    """Whether of each common word just as many stay as the coin says, one word of randomness each.

    Coins alternate, so exactly half of the tokens are kept; all other words are of a seeded generator.
    """
    plan, common = sample_plan()
    chance, asked = np.random.default_rng(66), []

    def words(count: int) -> Words:
        asked.append(count)
        if len(asked) == 1:
            return (np.arange(count, dtype=np.uint64) % np.uint64(2)) << np.uint64(63)
        return chance.integers(0, 2**64, count, dtype=np.uint64)

    patch.setattr(entropy, "random_uint64", words)
    inputs = np.repeat(common, 200)
    outputs = draw(plan, inputs, IsolatedSlots.make_equal(len(inputs)), entropy.random_uint64)
    assert len(asked) > 10, "no draw was rejected"
    return asked[0] == len(inputs) and np.array_equal(outputs == inputs, np.arange(len(inputs)) % 2 == 1)


def test_the_coin_is_tossed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """However often the draw of a replacement starts again; common words are not outputs, so none comes back."""
    assert keeps_by_the_coin(SanTextPlus.draw_symbols, monkeypatch)


def test_a_coin_that_is_tossed_in_every_round_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """A rejected replacement that tosses the coin of its token again keeps more common words than it should."""
    one_round = planted(sampling.draw_thinned, faulty_sampling.REJECTED_IS_NAMED)

    def tosses_again(plan: SanTextPlus, inputs: NDArray[np.int64], *given: object) -> NDArray[np.int64]:
        outputs, drawn = inputs.copy(), np.arange(len(inputs))
        while len(drawn):
            kept = ~plan.coin.draw_replaced(entropy.random_uint64(len(drawn)))
            outputs[drawn[kept]], drawn = inputs[drawn[kept]], drawn[~kept]
            outputs[drawn] = plan.santext.draw_symbols(inputs[drawn], entropy.random_uint64)
            drawn = drawn[outputs[drawn] < 0]
        return outputs

    monkeypatch.setattr(sampling, "draw_thinned", one_round)
    assert not keeps_by_the_coin(tosses_again, monkeypatch)
