"""What comes out for a token is a function of its symbol or kind, its case pattern and fresh randomness.

With a fixed stream in the place of the entropy, texts that differ in spellings alone must come out the same. With all
of the uniform integers enumerated, words must come out by the exact law, independently. Each check is also run with
the faults that a developer is likely to plant, and must fail. What whole texts become, equal words, caps and statements
among it, is compared with the second reader (``tests/contract/test_whole_texts.py``).
"""

from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from faulty_mentions import BY_CHECK, FAULTS
from mention_checks import (
    CHECKS,
    OF_A_KIND,
    SPELLED,
    check_consistent,
    check_one_word,
    check_secrets,
    check_skeletons,
    check_slots,
    check_spellings,
    check_two_words,
    integers,
)
from small_staircase import CASED_ROLES, CASED_WORDS, NEIGHBORS, ROLES, WORDS, small_staircase
from textveil import Sanitizer
from textveil.errors import DocumentTooLong
from textveil.mechanisms import entropy
from textveil.mechanisms.staircase.slots import SlotStaircases
from textveil.mechanisms.staircase.staircase import Staircase, StaircaseLevel
from textveil.text import Options


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Sanitizer:
    return Sanitizer.load(small_staircase(tmp_path_factory.mktemp("small"), words=SPELLED))


@pytest.fixture
def drawing(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Sanitizes texts with one stream or script of uniform words."""

    def draw(sanitizer: Sanitizer, texts: list[str], words: Callable[[int], Any], **options: Any) -> list[Any]:
        monkeypatch.setattr(entropy, "random_uint64", words)
        return sanitizer.sanitize_batch(texts, **options)

    return draw


# --- spellings -----------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_what_comes_out_does_not_depend_on_spellings(small: Sanitizer, drawing: Callable[..., Any]) -> None:
    check_spellings(small, drawing)


# --- the law -------------------------------------------------------------------------------------------------------

LAW = StaircaseLevel(name="tiny", epsilon=Decimal("1.5"), share=Fraction(2, 5))


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Sanitizer:
    """Three outputs and a total so small that all uniform integers of two words can be enumerated."""
    outputs = [WORDS.index(word) for word in ("doctor", "nurse", "cancer")]
    base, roles = np.ones(len(WORDS), np.uint32), np.zeros_like(ROLES)
    base[outputs[:2]], roles[outputs] = 2, 15
    folder = small_staircase(tmp_path_factory.mktemp("tiny"), words=SPELLED, base=base, roles=roles)
    sanitizer = Sanitizer.load(folder)
    for options in (Options(), Options(consistent=True)):
        plan: Any = sanitizer._get_plan(options)
        allowed = np.isin(np.arange(len(WORDS)), outputs)
        small_law = Staircase.from_table(plan.mechanism.any_case.table, LAW, allowed, unit=1)
        slots = SlotStaircases(small_law, small_law)
        small = replace(plan, mechanism=slots)
        sanitizer._plans.update({key: small for key, one in sanitizer._plans.items() if one is plan})
    return sanitizer


@pytest.fixture
def fresh_cased(cased: Sanitizer) -> Sanitizer:
    """Return a bundle whose outputs depend on the case of their slot, before any plan."""
    return Sanitizer(cased.bundle)


@pytest.fixture
def small_cased(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Sanitizer:
    """Return the same with three outputs, two of them with a capital, to enumerate all uniform integers of a word."""
    outputs = np.isin(CASED_WORDS, ["doctor", "nurse", "mark"])
    base = np.where(np.isin(CASED_WORDS, ["doctor", "nurse"]), 2, 1).astype(np.uint32)
    folder = small_staircase(
        tmp_path_factory.mktemp("cased"), words=CASED_WORDS, base=base, roles=np.where(outputs, CASED_ROLES, 0)
    )
    monkeypatch.setattr("textveil.text.staircase_plans.find_staircase_level", lambda *_: LAW)
    real = Staircase.from_table.__func__  # type: ignore[attr-defined]
    monkeypatch.setattr(Staircase, "from_table", classmethod(lambda cls, *of: real(cls, *of, unit=1)))
    return Sanitizer.load(folder)


def test_the_total_is_small(tiny: Sanitizer) -> None:
    assert len(integers(tiny, "zorblax")) == (5 + 3 * 2) * 5
    assert NEIGHBORS.shape[1] == 4


@pytest.mark.parametrize("check", [check_one_word, check_two_words, check_consistent])
def test_words_come_out_by_the_exact_law(
    tiny: Sanitizer, drawing: Callable[..., Any], check: Callable[..., None]
) -> None:
    check(tiny, drawing)


def test_slots_have_the_outputs_of_their_case(small_cased: Sanitizer, drawing: Callable[..., Any]) -> None:
    check_slots(small_cased, drawing)


@pytest.mark.parametrize("bundle", ["small", "cased"])
def test_what_was_sanitized_keeps_its_skeleton(
    request: pytest.FixtureRequest, drawing: Callable[..., Any], bundle: str
) -> None:
    check_skeletons(request.getfixturevalue(bundle), drawing)


@pytest.mark.slow
def test_the_skeleton_with_its_case_does_not_tell_inputs_apart(cased: Sanitizer, drawing: Callable[..., Any]) -> None:
    """Drawn words of one case may stand for each other: one stream gives one text, of unknown words too."""
    check_spellings(cased, drawing)


def test_kinds_come_out_uniformly_whatever_the_string(small: Sanitizer, drawing: Callable[..., Any]) -> None:
    for members in OF_A_KIND.values():
        (kind,) = {small.preview(member)[0][1] for member in members}
        wanted = small.distribution(members[0])
        assert wanted.symbol == f"<{kind}>"
        assert set(wanted.weights) == {1}
        for member in members:
            assert small.distribution(member) == wanted
            number = np.arange(len(wanted.words), dtype=np.uint64)
            texts = [member.lower()] * len(number) if member.islower() else [member] * len(number)
            outputs = drawing(small, texts, lambda count, number=number: number[:count])
            assert [result.text.lower() for result in outputs] == list(wanted.words)
            assert {result.tokens for result in outputs} == {0}


def test_marks_come_out_uniformly_and_independently(small: Sanitizer, drawing: Callable[..., Any]) -> None:
    every = np.array(list(product(range(11), repeat=2)), np.uint64).ravel()
    for gap in ("..", " ,\n!", "?-"):
        results = drawing(small, [gap] * 121, lambda count: every[:count], sanitize_punctuation=True)
        assert len({result.text for result in results}) == 121
        assert all(len(result.text) == 3 and result.text[1] == " " for result in results)


# --- consistent draws ----------------------------------------------------------------------------------------------


def test_many_names_are_refused_without_a_drawn_word(small: Sanitizer) -> None:
    with pytest.raises(DocumentTooLong):
        small.sanitize("John Mary 5, " * 1000, consistent=True)
    assert small.sanitize("John Mary 5, " * 1000, consistent=True, consistent_cap=3000).tokens == 0


# --- what nobody else may see ---------------------------------------------------------------------------------------


def test_a_mapping_stays_where_it_is(small: Sanitizer, drawing: Callable[..., Any]) -> None:
    check_secrets(small, drawing)


# --- planted faults ------------------------------------------------------------------------------------------------

SEEN = [(check, fault) for check in CHECKS for fault in BY_CHECK[check]]


@pytest.mark.parametrize(("name", "fault"), SEEN)
def test_a_planted_fault_is_seen(
    request: pytest.FixtureRequest, drawing: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, name: str, fault: str
) -> None:
    check = CHECKS[name]
    exact_laws = (check_one_word, check_two_words, check_consistent)
    of = {check_slots: "small_cased", check_skeletons: "fresh_cased"}
    sanitizer = request.getfixturevalue(of.get(check, "tiny" if check in exact_laws else "small"))
    for owner, attribute, faulty in FAULTS[fault]():
        monkeypatch.setattr(owner, attribute, faulty)
    with pytest.raises(AssertionError):
        check(sanitizer, drawing)
