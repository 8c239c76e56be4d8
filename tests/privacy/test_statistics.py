"""What comes out of the shipped bundle, counted: the distribution of every kind of word.

The exact tests enumerate small tables; this one draws millions of tokens from the bundle that ships, with the operating
system's entropy: through the call that applications use, and, many more, through the plan that this call draws with. It
could fail where the path from text to draw does what no small table shows: a large table read at the wrong offset, a
batch that reuses words, a process that shares a stream with its child.

A test of chance has two errors, and both are computed here. It rejects a faultless one with probability 1e-9 per
word. And it is strong enough: for every word that has a likely output, the number of draws is the one at which a
fault of 2 % in that one weight is rejected with probability above 0.999 (non-central chi-square). That is the full run;
in the default run it is 4 %, and 8 % through text, where most time goes into words. The same function is run on draws
with that fault, from a seeded generator, and must reject them.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from chi_square import POWER, power, rejects
from drawn_words import KINDS, Sample
from numpy.typing import NDArray
from textveil import Sanitizer
from textveil.mechanisms import integer_sampling as sampling
from textveil.mechanisms.baselines.santext import SanText
from textveil.mechanisms.integer_sampling import Rows

pytestmark = pytest.mark.statistical

#: Through text, the default run draws one word of every kind.
FIRST = {"kept-2", "sensitive-2", "sensitive-4", "never-output-0", "clitic-not", "mark", "unknown"}
OF_TEXT = [
    *((kind, 0.08) for kind in KINDS if kind in FIRST),
    *(pytest.param(kind, 0.02, marks=pytest.mark.full) for kind in KINDS),
]
OF_PLAN = [
    *((kind, 0.04) for kind in KINDS if kind in FIRST),
    *(pytest.param(kind, 0.02, marks=pytest.mark.full) for kind in KINDS),
]


@pytest.mark.parametrize(("kind", "fault"), OF_TEXT)
def test_the_law_of_a_word(sanitizer: Sanitizer, samples: Callable[..., Sample], kind: str, fault: float) -> None:
    tested = samples(kind, fault)
    assert not rejects(tested.counts(sanitizer), tested.law)


@pytest.mark.parametrize(("kind", "fault"), OF_PLAN)
def test_the_law_of_a_word_without_its_text(
    sanitizer: Sanitizer, samples: Callable[..., Sample], kind: str, fault: float
) -> None:
    """By the plan that a text is drawn with: words take no time, and smaller faults are seen."""
    tested = samples(kind, fault)
    assert not rejects(tested.counts_without_text(sanitizer), tested.law)


def test_enough_draws(samples: Callable[..., Sample]) -> None:
    """More than a million, and for most words enough to see 2 % in one weight."""
    tested = [samples(kind) for kind in KINDS]
    assert len({one.word for one in tested}) == len(KINDS)
    assert sum(one.draws for one in tested) > 1_000_000
    assert all(power(one.law, one.faulty, one.draws) > POWER for one in tested)
    assert sum(np.count_nonzero(one.faulty > one.law) == 1 for one in tested) >= len(KINDS) - 4


@pytest.mark.parametrize("kind", KINDS)
def test_a_fault_in_the_law_is_seen(samples: Callable[..., Sample], kind: str) -> None:
    """As many draws with the fault are rejected; draws without it, by the same generator, are not."""
    tested = samples(kind)
    chance = np.random.default_rng(51)
    assert rejects(chance.multinomial(tested.draws, tested.faulty), tested.law)
    assert not rejects(chance.multinomial(tested.draws, tested.law / tested.law.sum()), tested.law)


def test_a_fault_in_the_table_is_seen(sanitizer: Sanitizer, samples: Callable[..., Sample]) -> None:
    """The same through the sampler: integers of a row with 2 % more for the word itself, drawn and rejected."""
    tested = samples("sensitive-4")
    bundle, word = sanitizer.bundle, sanitizer.bundle.ids[tested.word]
    level = next(level for level in bundle.levels if level.name == bundle.default_level)
    law = SanText.of(bundle.table, bundle.metric, "santext+", level.parameters["santext+"])
    rows = law.proposals(np.array([word]))
    chance = np.random.default_rng(52)

    def words(count: int) -> NDArray[np.uint64]:
        return chance.integers(0, 2**64, count, dtype=np.uint64)

    def counts(drawn_from: Rows) -> NDArray[np.int64]:
        outputs = sampling.draw_thinned(
            drawn_from,
            np.zeros(tested.draws, np.intp),
            lambda row, y: law.weights_of(np.full(len(row), word), y),
            words,
        )
        return np.bincount(outputs, minlength=len(tested.law))

    assert rows.stored[0, 0] == word
    more = int(law.channel.weights_from(np.array([word]))[0, word]) // 50
    assert not rejects(counts(rows), tested.law)
    assert rejects(counts(replace(rows, cumulative=rows.cumulative + more)), tested.law)


def test_an_impossible_output_is_seen(samples: Callable[..., Sample]) -> None:
    """One draw of an output that the distribution does not have is enough."""
    tested = samples("sensitive-0")
    counts = np.random.default_rng(53).multinomial(tested.draws, tested.law / tested.law.sum())
    counts[np.flatnonzero(tested.law == 0)[0]] += 1
    assert rejects(counts, tested.law)
