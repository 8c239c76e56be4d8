"""Draws with an exact tail, counted: every kind of word, whatever is stored and whatever the base measure.

The random words are the operating system's. A faultless distribution is rejected with probability 1e-9 per case; one
with a fault, drawn with a seeded generator, must be rejected by the same function.
"""

from collections.abc import Callable
from functools import cache
from pathlib import Path

import faulty_sampling
import numpy as np
import pytest
import small_bundles
from defined_weights import defined_weights, outputs
from numpy.typing import NDArray
from scipy.stats import chi2
from textveil.bundle.text_bundle import Bundle
from textveil.mechanisms import entropy
from textveil.mechanisms import integer_sampling as sampling
from textveil.mechanisms.baselines.santext import CappedSanText, ExactSanText
from textveil.mechanisms.baselines.table import EXACT, OUTPUT_ROLE
from textveil.text.token_plans import table_mechanism
from textveil_export.text.write import write_bundle

pytestmark = pytest.mark.statistical

SIGNIFICANCE = 1e-9
DRAWS = 40_000
#: In the full run.
MORE_DRAWS = 200_000
#: No cell has a smaller expected count: the chi-square approximation holds far into its tail.
SMALLEST_CELL = 500

KS = (1, 5, None)
KINDS = ("output", "common word", "never an output", "unknown")


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Bundle]:
    """Bundles by ``k``, with a base measure in the mechanisms of the level ``l1``; each is written once."""

    @cache
    def open_bundle(k: int | None) -> Bundle:
        vectors = small_bundles.scattered(40, 16, seed=71)
        built = small_bundles.contents(vectors, k=k, exponents=("4", "4"), tails=(EXACT,))
        roles = built.tensors["table.safetensors"]["roles"]
        chance = np.random.default_rng(72)
        for mechanism, bit in OUTPUT_ROLE.items():
            base = np.where(roles & bit, chance.integers(1, 256, len(roles)), 0).astype(np.uint8)
            built = small_bundles.with_base(built, 1, mechanism, EXACT, base)
        folder: Path = tmp_path_factory.mktemp("bundles") / "bundle"
        return write_bundle(built, folder)

    return open_bundle


def example(bundle: Bundle, kind: str) -> int:
    """An input of each kind."""
    roles = bundle.table.roles.tolist()
    return {
        "output": outputs(bundle, "santext+")[3],
        "common word": next(x for x, role in enumerate(roles) if role & 4),
        "never an output": roles.index(0),
        "unknown": bundle.symbols,
    }[kind]


def rejects(counts: NDArray[np.int64], weights: list[int]) -> bool:
    """Whether counts are too far from a distribution to be chance: Pearson's chi-square at ``SIGNIFICANCE``.

    Outputs that expect too few draws are one cell; an output of weight 0 is rejected at once.
    """
    law = np.array([weight / sum(weights) for weight in weights])
    if counts[law == 0].any():
        return True
    expected = law * counts.sum()
    order = np.argsort(expected)
    enough = int(np.searchsorted(np.cumsum(expected[order]), SMALLEST_CELL)) + 1
    few, others = np.split(order, [max(enough, np.count_nonzero(expected < SMALLEST_CELL))])
    counts = np.append(counts[others], counts[few].sum())
    expected = np.append(expected[others], expected[few].sum())
    statistic = ((counts - expected) ** 2 / expected).sum()
    return bool(statistic > chi2.isf(SIGNIFICANCE, len(expected) - 1))


def counted(outputs_drawn: NDArray[np.int64], symbols: int) -> NDArray[np.int64]:
    return np.bincount(outputs_drawn, minlength=symbols)


def law_of(bundle: Bundle, level: int, mechanism: str) -> tuple[ExactSanText, list[list[int]]]:
    level_law = bundle.levels[level].parameters[mechanism, EXACT]
    law = table_mechanism(bundle, mechanism, level_law)
    assert isinstance(law, ExactSanText)
    return law, defined_weights(bundle, mechanism, level_law)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("level", [0, 1], ids=["uniform base", "base measure"])
@pytest.mark.parametrize("k", KS)
@pytest.mark.parametrize("draws", [DRAWS, pytest.param(MORE_DRAWS, marks=pytest.mark.full)])
def test_the_law_of_a_word(opened: Callable[..., Bundle], draws: int, k: int | None, level: int, kind: str) -> None:
    bundle = opened(k)
    x = example(bundle, kind)
    for mechanism in OUTPUT_ROLE:
        law, weights = law_of(bundle, level, mechanism)
        drawn = law.draw(np.full(draws, x), entropy.random_uint64)
        assert not rejects(counted(drawn, bundle.symbols), weights[x])


def test_words_of_one_batch(opened: Callable[..., Bundle]) -> None:
    """All inputs mixed in one batch, as texts mix them: every word has its own distribution."""
    bundle = opened(5)
    law, weights = law_of(bundle, 1, "santext")
    inputs = np.tile(np.arange(bundle.symbols + 1), 20_000)
    drawn = law.draw(inputs, entropy.random_uint64)
    for x, row in enumerate(weights):
        assert not rejects(counted(drawn[inputs == x], bundle.symbols), row)


# Faults.


def seeded(seed: int) -> Callable[[int], NDArray[np.uint64]]:
    chance = np.random.default_rng(seed)
    return lambda count: chance.integers(0, 2**64, count, dtype=np.uint64)


@pytest.mark.parametrize("fault", ["after a rejection only the tail is drawn again", "stored words are not accepted"])
def test_a_fault_in_the_sampler_is_seen(
    opened: Callable[..., Bundle], fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    bundle = opened(5)
    x = example(bundle, "output")
    law, weights = law_of(bundle, 0, "santext")
    inputs = np.full(DRAWS, x)
    assert not rejects(counted(law.draw(inputs, seeded(73)), bundle.symbols), weights[x])
    monkeypatch.setattr(sampling, "draw_thinned", faulty_sampling.draw_thinned(fault))
    assert rejects(counted(law.draw(inputs, seeded(73)), bundle.symbols), weights[x])


def test_faults_in_the_law_are_seen(opened: Callable[..., Bundle]) -> None:
    """The capped distribution, the one without its base measure, the one of a level five per cent away."""
    bundle = opened(5)
    x = example(bundle, "output")
    law, weights = law_of(bundle, 1, "santext")
    capped = CappedSanText.of(bundle.table, "santext", bundle.levels[1].parameters["santext", EXACT])
    assert rejects(counted(capped.draw(np.full(DRAWS, x), seeded(74)), bundle.symbols), weights[x])
    without_base, _ = law_of(bundle, 0, "santext")
    assert rejects(counted(without_base.draw(np.full(DRAWS, x), seeded(75)), bundle.symbols), weights[x])
    drawn = counted(law.draw(np.full(DRAWS, x), seeded(76)), bundle.symbols)
    assert not rejects(drawn, weights[x])
    steeper = [round(weight * (weight / max(weights[x])) ** 0.05) for weight in weights[x]]
    assert rejects(drawn, steeper)
