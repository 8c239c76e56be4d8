"""Samplers follow the stored weights exactly: each integer selects the output that owns it, and no other.

Small samplers are enumerated completely. ``select`` runs over every uniform integer of a row, ``uniform_below`` over
every word of a few bits and every second word after a rejected one, and ``Sanitizer`` over texts whose random words
are all the integers of a row in turn. The risk is one boundary: an integer too many for one word and too few for the
next changes no text visibly, and breaks the guarantee where it takes a word's last integer. Each check therefore also
runs on copies of the code with one such fault, and must fail.
"""

import itertools
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from decimal import Decimal
from functools import cache
from itertools import product
from types import SimpleNamespace
from typing import Any

import faulty_sampling
import numpy as np
import pytest
import small_bundles
from dealt import deals_exactly
from defined_weights import defined_weights
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from planted import planted
from textveil import Sanitizer
from textveil.bundle import TextBundle
from textveil.mechanisms import entropy
from textveil.mechanisms import integer_sampling as sampling
from textveil.mechanisms.baselines.santext import SanText
from textveil.mechanisms.baselines.table import LevelParameters
from textveil.mechanisms.integer_sampling import MAX_TOTAL, WeightRows
from textveil_export.text.level_weights import LevelSetting, compute_score_weights, make_level_parameters

Words = NDArray[np.uint64]

GEOMETRIES = {
    "scattered": small_bundles.scattered(18, 6, seed=11),
    "lattice": small_bundles.lattice(),
    "clusters": small_bundles.clusters(seed=12),
}
EXPONENTS = ("1.5", "3")
CASES = [(name, k) for name in GEOMETRIES for k in (1, 2, 7, None)]


@cache
def in_memory(geometry: str, k: int | None) -> Any:
    return small_bundles.in_memory(GEOMETRIES[geometry], k=k, exponents=EXPONENTS)


def laws(geometry: str, k: int | None, shift: int | None) -> Iterator[tuple[WeightRows, list[list[int]]]]:
    """Yield the proposals of samples of all inputs, and their weights by definition.

    Score 0 weighs ``2**shift``, or the shipped weight. Every mechanism and exponent occurs, and the first exponent
    again with a base measure of its own.
    """
    bundle = in_memory(geometry, k)
    everyone = np.arange(bundle.symbol_count + 1)
    largest = int(
        bundle.metric.compute_scores(
            np.concatenate([d for _, d in bundle.metric.iterate_squared_blocks(everyone)])
        ).max()
    )
    found = []
    for exponent in map(Decimal, EXPONENTS):
        if shift is None:
            found.append(make_level_parameters(bundle.table, LevelSetting(exponent), largest))
        else:
            weights = np.maximum(1, compute_score_weights(exponent, largest, shift))
            found.append(LevelParameters(exponent, weights, None))
    base = np.random.default_rng(13).integers(1, 4, bundle.symbol_count).astype(np.uint32)
    found.append(replace(found[0], base=base, weights=-(-found[0].weights // 4)))
    for mechanism, level_law in product(("santext", "santext+"), found):
        law = SanText.from_table(bundle.table, bundle.metric, mechanism, level_law)
        yield law.compute_proposals(everyone), proposed(bundle, law, defined_weights(bundle, mechanism, level_law))


def proposed(bundle: SimpleNamespace, law: SanText, weights: list[list[int]]) -> list[list[int]]:
    """Return the proposal weights: a word without a stored entry gets the weight of the last one, an upper bound."""
    last = law.weights[bundle.table.scores[:, -1]].tolist()
    rows = zip(weights, bundle.table.neighbors.tolist(), last, strict=True)
    base = law.base.tolist()
    return [[w if y in stored else tail * base[y] for y, w in enumerate(row)] for row, stored, tail in rows]


# One row, one integer.


@pytest.mark.slow
@pytest.mark.parametrize(("geometry", "k"), CASES)
def test_every_integer_of_every_row(geometry: str, k: int | None) -> None:
    for rows, weights in laws(geometry, k, 8):
        assert rows.totals.tolist() == [sum(row) for row in weights]
        assert [rows.compute_weights(row).tolist() for row in range(len(weights))] == weights
        assert deals_exactly(sampling.select_outputs, rows, weights)


@pytest.mark.slow
@pytest.mark.parametrize(("geometry", "k"), CASES)
def test_every_boundary_of_the_weights_that_ship(geometry: str, k: int | None) -> None:
    """At full width the integers are too many; the test tries the first and the last integer of each word.

    The order of the blocks is that of docs/format-santext.md: stored words first, nearest first, then one block of
    ``tail`` for every output by id. In between the result cannot change: it is a count of sums that are at most ``u``.
    """
    for rows, weights in laws(geometry, k, None):
        assert rows.totals.tolist() == [sum(row) for row in weights]
        assert int(rows.totals.max()) < MAX_TOTAL
        for row, expected in enumerate(weights):
            tail = int(rows.tail[row])
            position, uniform, owner = 0, [], []
            units = [tail * q for q in np.diff(rows.base, prepend=0).tolist()]
            stored = [(y, expected[y] - units[y]) for y in rows.stored[row].tolist()]
            for y, size in stored + list(enumerate(units)):
                if size:
                    uniform += [position, position + size // 2, position + size - 1]
                    owner += [y] * 3
                position += size
            assert position == sum(expected)
            assert rows.compute_weights(row).tolist() == expected
            assert sampling.select_outputs(rows, np.full(len(owner), row), np.array(uniform)).tolist() == owner


@pytest.mark.parametrize("fault", faulty_sampling.SELECT)
def test_a_fault_in_select_is_seen(fault: str) -> None:
    rows, weights = next(laws("scattered", 7, 8))
    assert deals_exactly(sampling.select_outputs, rows, weights)
    assert not deals_exactly(planted(sampling.select_outputs, faulty_sampling.SELECT[fault]), rows, weights)


@given(st.data())
def test_any_rows(data: st.DataObject) -> None:
    """Rows that no exporter writes: zero excess anywhere, repeated stored words, gaps in the base measure."""
    symbols = data.draw(st.integers(1, 9))
    k = data.draw(st.integers(1, 9))
    count = data.draw(st.integers(1, 3))
    base = data.draw(st.lists(st.integers(0, 3), min_size=symbols, max_size=symbols).filter(any))
    stored = data.draw(st.lists(st.integers(0, symbols - 1), min_size=count * k, max_size=count * k))
    excess = data.draw(st.lists(st.integers(0, 5), min_size=count * k, max_size=count * k))
    tail = data.draw(st.lists(st.integers(1, 4), min_size=count, max_size=count))
    weights = [[tail[row] * q for q in base] for row in range(count)]
    for place in range(count * k):
        weights[place // k][stored[place]] += excess[place]
    rows = WeightRows(
        stored=np.array(stored).reshape(count, k),
        cumulative=np.cumsum(np.array(excess).reshape(count, k), axis=1),
        tail=np.array(tail),
        base=np.cumsum(base),
    )
    assert [rows.compute_weights(row).tolist() for row in range(count)] == weights
    assert deals_exactly(sampling.select_outputs, rows, weights)


# Integers from words.


def uniform_is_exact(uniform_below: Callable[..., Any], bits: int = 5) -> bool:
    """Whether every residue of every total comes from exactly as many pairs of words as any other.

    All totals up to ``2**bits`` with all first and all second words, side by side in one batch, so that neighbors
    have different totals. With ``m = 2**bits // total`` accepted words for each residue and ``R`` rejected ones, each
    residue must come from ``m 2**bits`` pairs whose first word is accepted and from ``R m`` whose second is. The
    other ``R**2`` pairs get a third word, 0, and must all become 0.
    """
    size = 1 << bits
    grid = list(itertools.product(range(size), range(size), range(1, size + 1)))
    first, second, totals = (np.array(column) for column in zip(*grid, strict=True))
    accepted = size // totals * totals
    rejected_once = first >= accepted
    rejected_twice = rejected_once & (second >= accepted)
    queue = [first, second[rejected_once], np.zeros(np.count_nonzero(rejected_twice), np.int64)]
    asked: list[int] = []

    def words(count: int) -> Words:
        asked.append(count)
        return np.resize(queue.pop(0), count).astype(np.uint64)

    try:
        drawn = uniform_below(totals, words, bits=bits)
    except IndexError:  # it asks for a fourth word
        return False
    if asked != [len(grid), int(rejected_once.sum()), int(rejected_twice.sum())] or (drawn >= totals).any():
        return False
    for total in range(1, size + 1):
        each, rejected = size // total, size % total
        expected = np.full(total, each * size + rejected * each)
        expected[0] += rejected**2
        if not np.array_equal(np.bincount(drawn[totals == total], minlength=total), expected):
            return False
    return True


def test_every_pair_of_words_of_five_bits() -> None:
    assert uniform_is_exact(entropy.draw_uniform_below)


@pytest.mark.slow
@pytest.mark.parametrize("fault", faulty_sampling.UNIFORM_BELOW)
def test_a_fault_in_uniform_below_is_seen(fault: str) -> None:
    assert not uniform_is_exact(planted(entropy.draw_uniform_below, faulty_sampling.UNIFORM_BELOW[fault]))


@given(st.lists(st.one_of(st.integers(1, MAX_TOTAL), st.integers(0, 62).map(lambda n: 1 << n)), min_size=1, max_size=8))
def test_the_last_accepted_word_at_full_width(totals: list[int]) -> None:
    """Words of 64 bits: the largest multiple of the total is where acceptance ends, to the word."""
    edge = [2**64 // total * total for total in totals]
    last = np.array([word - 1 for word in edge], dtype=np.uint64)
    drawn = entropy.draw_uniform_below(np.array(totals), lambda count: last)
    assert drawn.tolist() == [total - 1 for total in totals]
    rounds = [np.array([word % 2**64 for word in edge], dtype=np.uint64)]
    beyond = [position for position, word in enumerate(edge) if word < 2**64]
    rounds.append(np.array([totals[position] - 1 for position in beyond], dtype=np.uint64))
    again = entropy.draw_uniform_below(np.array(totals), lambda count: rounds.pop(0))
    assert again.tolist() == [total - 1 if i in beyond else 0 for i, total in enumerate(totals)]


# Text in, text out.


def scripted(monkeypatch: pytest.MonkeyPatch, *rounds: list[int]) -> None:
    """Lets the sanitizer draw from these words; each call must ask for exactly as many as the next round has."""
    queue = [np.array(words, dtype=np.uint64) for words in rounds]

    def words(count: int) -> Words:
        turn = queue.pop(0)
        assert count == len(turn)
        return turn

    monkeypatch.setattr(entropy, "random_uint64", words)


def unseen(sanitizer: Sanitizer) -> str:
    """Return a word outside the vocabulary."""
    return next(word for word in ("quokka", "zebra") if word not in sanitizer.bundle.symbol_ids)


def test_every_integer_through_the_sanitizer(bundle: TextBundle, monkeypatch: pytest.MonkeyPatch) -> None:
    """A text that repeats one word as often as its row has integers, drawn from each integer once."""
    sanitizer = Sanitizer(bundle)
    for word in [*sanitizer.bundle.vocabulary, unseen(sanitizer)]:
        law = sanitizer.distribution(word, mechanism="random")
        scripted(monkeypatch, list(range(law.total)), [])  # nothing is replaced by another of its kind
        result = sanitizer.sanitize(" ".join([word] * law.total), mechanism="random")
        assert result.tokens == law.total
        assert Counter(result.text.split(" ")) == dict(zip(law.words, law.weights, strict=True))
