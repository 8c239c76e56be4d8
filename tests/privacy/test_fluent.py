"""In every context the draw is the staircase of that context, to the last integer, and loses no more than it states.

Small tables are enumerated whole: every pair of uniform integers, every input, in many contexts. The check is also run
on copies with a planted fault, and must fail.
"""

import sys
from collections import Counter
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from defined_staircase import defined_row
from faulty_staircase import IN_CONTEXTS, faulty
from hypothesis import given, settings
from hypothesis import strategies as st
from small_context import defined_factors, elements, random_context
from textveil.errors import BundleDamaged
from textveil.mechanisms.staircase import ContextTable, FluentStaircase, Staircase, StaircaseLevel, StaircaseTable

SYMBOLS, KINDS, UNIT = 7, 2, 2
#: Epsilon, share, own share, and which symbols come out.
SETTINGS = [
    ("1.5", Fraction(1, 3), Fraction(1, 4), np.ones(SYMBOLS, bool)),
    ("2", Fraction(2, 3), Fraction(1), np.arange(SYMBOLS) % 4 != 1),  # neighbors do not hold it: much is left over
    ("1", Fraction(1, 10**6), Fraction(1), np.ones(SYMBOLS, bool)),
]


def table(seed: int, k: int = 4) -> StaircaseTable:
    """A table of a few words with random neighbors and bases of 1 to 3."""
    generator = np.random.default_rng(seed)
    rows = [[x, *generator.permutation([y for y in range(SYMBOLS) if y != x])[: k - 1]] for x in range(SYMBOLS)]
    base = generator.integers(1, 4, SYMBOLS).astype(np.uint32)
    roles = np.full(SYMBOLS, 15, np.uint8)
    return StaircaseTable.from_tensors({"neighbours": np.array(rows, np.uint16), "base": base, "roles": roles}, SYMBOLS)


def built(number: int, kind: type[FluentStaircase] = FluentStaircase) -> tuple[FluentStaircase, dict[str, Any]]:
    epsilon, share, own, outputs = SETTINGS[number]
    plain = Staircase.of(
        table(number),
        StaircaseLevel(name="a level", epsilon=Decimal(epsilon), share=share, own_share=own),
        outputs,
        UNIT,
    )
    arrays = random_context(number + 3, symbols=SYMBOLS, kinds=KINDS)
    return kind(plain, ContextTable.from_tensors(arrays, SYMBOLS, KINDS)), arrays


def some_contexts(seed: int, count: int) -> Any:
    return np.random.default_rng(seed).integers(0, elements(SYMBOLS, KINDS), (count, 4))


def definition(staircase: FluentStaircase, arrays: dict[str, Any], context: Any) -> list[list[Fraction]]:
    """All rows in one context, by definition, nothing of it taken from the code."""
    plain, factors = staircase.plain, defined_factors(arrays, context)
    base = [int(b) * factors[k] for b, k in zip(plain.base, arrays["classes"], strict=True)]
    share, own = plain.level.share, plain.level.own_share
    budget = max(1, sum(base) * share.numerator // share.denominator)
    cap = budget * own.numerator // own.denominator
    known = {"budget": budget, "own_cap": cap, "factor": plain.factor, "unit": UNIT}
    rows = [defined_row(base, row.tolist(), own=x, **known) for x, row in enumerate(plain.table.neighbors)]
    return [*rows, defined_row(base, [], own=None, **known)]


def drawn(staircase: FluentStaircase, token: int, context: Any) -> list[Fraction]:
    """The distribution of the draw, from every pair of uniform integers."""
    one = staircase._line(np.array([token]), context[None])
    total, left = int(one.total[0]), int(one.left[0])
    u, w = np.divmod(np.arange(total * left), left)
    lines = type(one)(**{name: np.repeat(part, len(u), axis=0) for name, part in vars(one).items()})
    counts = Counter(staircase._select(lines, u, w).tolist())
    return [Fraction(counts[y], len(u)) for y in range(SYMBOLS)]


def check_draws(kind: type[FluentStaircase]) -> None:
    for number in range(len(SETTINGS)):
        staircase, arrays = built(number, kind)
        for context in some_contexts(number, 4):
            for token, row in enumerate(definition(staircase, arrays, context)):
                assert drawn(staircase, token, context) == row


@pytest.mark.parametrize("number", range(len(SETTINGS)))
def test_contexts_differ(number: int) -> None:
    _, arrays = built(number)
    assert len({tuple(defined_factors(arrays, context)) for context in some_contexts(number, 4)}) > 2


def test_every_integer_goes_to_its_output() -> None:
    check_draws(FluentStaircase)


@pytest.mark.parametrize("fault", IN_CONTEXTS)
def test_a_planted_fault_is_seen(fault: str) -> None:
    with pytest.raises((AssertionError, ValueError)):
        check_draws(faulty(fault, FluentStaircase))


@settings(max_examples=30)
@given(st.integers(0, 10**6), st.sampled_from(range(len(SETTINGS))))
def test_rows_sum_to_one_and_no_context_loses_more(seed: int, number: int) -> None:
    staircase, arrays = built(number)
    (context,) = some_contexts(seed, 1)
    wanted = definition(staircase, arrays, context)
    assert all(sum(row) == 1 for row in wanted)
    exact = [staircase.at(context).exact_row(token) for token in range(SYMBOLS + 1)]
    assert [[Fraction(weight, sum(row)) for weight in row] for row in exact] == wanted
    most = 1 + Fraction(staircase.plain.factor, UNIT)
    for column in zip(*wanted, strict=True):
        assert max(column) <= most * min(column)
    outputs = np.array([column[0] > 0 for column in zip(*wanted, strict=True)])
    assert (outputs == SETTINGS[number][3]).all()  # every output has a base in every context


def test_a_base_of_an_input_would_lose_more() -> None:
    """Why a context must not hold an input: rows of two contexts have no bound."""
    staircase, arrays = built(0)
    contexts = some_contexts(0, 12)
    rows = [row for context in contexts for row in definition(staircase, arrays, context)]
    largest = max(max(column) / min(column) for column in zip(*rows, strict=True))
    assert largest > 1 + Fraction(staircase.plain.factor, UNIT)


def test_mentions_are_drawn_each_in_its_own_context(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many at once are what each is alone, whatever block it is in."""
    monkeypatch.setattr("textveil.mechanisms.staircase.fluent._BLOCK", 5)
    staircase, _ = built(0)
    inputs, contexts = np.arange(23) % (SYMBOLS + 1), some_contexts(1, 23)
    words = np.random.default_rng(5).integers(0, 1 << 64, 46, dtype=np.uint64)
    starts = range(0, 23, 5)
    script = [part for at in starts for part in (words[at : min(at + 5, 23)], words[23 + at : 23 + min(at + 5, 23)])]
    together = staircase.draw(inputs, contexts, lambda count: script.pop(0))
    for number in range(23):
        one = slice(number, number + 1)
        own = iter([words[one], words[23:][one]])
        alone = staircase.draw(inputs[one], contexts[one], lambda count, own=own: next(own))
        assert alone[0] == together[number]


def test_two_words_of_entropy_for_every_mention_whatever_it_is() -> None:
    staircase, _ = built(1)
    asked: list[int] = []

    def words(count: int) -> Any:
        asked.append(count)
        return np.zeros(count, np.uint64)

    for tokens in ([0], [SYMBOLS], [0, 1, 2, SYMBOLS, 0]):
        asked.clear()
        staircase.draw(np.array(tokens), some_contexts(2, len(tokens)), words)
        assert asked == [len(tokens)] * 2


def test_a_draw_takes_the_same_steps_wherever_it_ends() -> None:
    """Who sees them would know which way it went. A library's search ends sooner in one place than in another."""
    staircase, _ = built(0)
    found = set()
    for token, context in zip(np.arange(8).repeat(3), some_contexts(1, 24), strict=True):
        line = staircase._line(np.array([token]), context[None])
        for u in np.linspace(0, int(line.total[0]) - 1, 40).astype(np.int64):
            steps: list[str] = []

            def watch(frame: Any, event: str, of: Any, steps: list[str] = steps) -> None:
                steps.append(of.__name__ if event == "c_call" else f"{event} {frame.f_code.co_name}")

            sys.setprofile(watch)
            staircase._select(line, np.array([u]), np.array([u % int(line.left[0])]))
            sys.setprofile(None)
            found.add(tuple(steps))
    (every,) = found
    assert every.count("call at_most") == 4
    assert "searchsorted" not in every


def test_what_a_level_says_of_itself_holds_in_every_context() -> None:
    for number in range(len(SETTINGS)):
        staircase, _ = built(number)
        for context in some_contexts(number, 40):
            there = staircase.at(context)
            assert there.near <= staircase.near * (1 + 1e-12)
            assert there.guess_gain <= staircase.guess_gain * (1 + 1e-12)


def test_totals_that_are_too_large_are_refused() -> None:
    plain = built(0)[0].plain
    arrays = random_context(0, symbols=SYMBOLS, kinds=KINDS, weights=(1, 2**32 - 1))
    context = ContextTable.from_tensors(arrays, SYMBOLS, KINDS)
    FluentStaircase(plain, context)
    heavy = Staircase.of(plain.table, plain.level, plain.base > 0, 1 << 26)
    with pytest.raises(BundleDamaged, match="too large"):
        FluentStaircase(heavy, context)
