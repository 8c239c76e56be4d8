"""Options give a plan: levels by name and by epsilon, the coin, kept words, and statements."""

import math
import shutil
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from damaged import certify
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from textveil import Sanitizer
from textveil.errors import OptionError, UnknownLevel
from textveil.mechanisms.coin import ReplacementCoin
from textveil.text import is_gap
from textveil.text.levels import find_epsilon_and_kind, find_level
from textveil.text.sanitizer import make_plan
from textveil.text.statement import CERTIFIED, PURE_LDP, TEXTBOOK


def plan(sanitizer: Sanitizer, **options: Any) -> Any:
    """Return a plan; each mechanism and its promise have attributes of their own."""
    return make_plan(sanitizer.bundle, **options)


def certified(source: Path, folder: Path, epsilon: dict[str, float]) -> Sanitizer:
    """Return the same bundle with some levels certified at an epsilon: a certificate, and labels in the manifest."""
    shutil.copytree(source, folder)
    certify(folder, {name: {"epsilon_certified": value} for name, value in epsilon.items()}, epsilon)
    return Sanitizer.load(folder)


# --- levels --------------------------------------------------------------------------------------------------------


def test_a_level_goes_by_its_epsilon(english: Sanitizer) -> None:
    for level in english.bundle.santext_levels:
        for mechanism in level.parameters:
            epsilon = english.bundle.get_certified_epsilon(level, mechanism)
            assert find_epsilon_and_kind(english.bundle, level, mechanism) == (epsilon, CERTIFIED)
            for options in (
                {"epsilon": epsilon},
                {"epsilon": str(epsilon)},
                {"epsilon": f"{epsilon:.3f}"},
                {"epsilon": Decimal(str(epsilon))},
            ):
                terms = plan(english, mechanism=mechanism, **options).terms
                assert (terms.level, terms.epsilon, terms.promise.epsilon_kind) == (f"{epsilon:g}", epsilon, CERTIFIED)
                assert terms.bundle == english.bundle.content_hash


def test_the_default_is_the_default(english: Sanitizer) -> None:
    bundle = english.bundle
    assert english.terms().protect == bundle.default_mode == "names"
    terms = english.terms(mechanism="staircase")
    assert terms.mechanism == bundle.default_mechanism == "staircase"
    assert terms.level == bundle.default_staircase_level == "10"
    assert terms.protect == bundle.default_staircase_mode == "words"
    terms = plan(english, mechanism=bundle.default_table_mechanism).terms
    assert terms.mechanism == "santext+"
    assert terms.level == "10"
    assert terms.promise.replacement_probability == pytest.approx(0.3, abs=2**-60)
    assert not terms.sanitize_punctuation
    assert plan(english, mechanism="santext").terms.level == "10"


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.floats(allow_nan=False, allow_infinity=False) | st.integers())
@example(4.000000001)
@example(-4.0)
@example(10**400)
def test_epsilon_matches_exactly_or_not_at_all(tiny: Sanitizer, epsilon: float) -> None:
    if epsilon in (4, 16):
        assert plan(tiny, epsilon=epsilon).terms.epsilon == epsilon
    else:
        with pytest.raises(UnknownLevel):
            plan(tiny, epsilon=epsilon)


def test_every_epsilon_that_is_listed_is_accepted(make_bundle: Callable[..., Path], tmp_path: Path) -> None:
    """This includes epsilons with more digits than a person would choose."""
    path = make_bundle(levels={"rough": "1.0000001", "fine": "6.172839455"})
    bundles = [Sanitizer.load(path), certified(path, tmp_path / "certified", {"rough": 3.14159265358979, "fine": 9})]
    for sanitizer in bundles:
        with pytest.raises(UnknownLevel) as refused:
            plan(sanitizer, epsilon=5)
        listed = str(refused.value).removeprefix("no such level: 5; santext+ has the levels ").split(", ")
        assert len(listed) == 2
        for epsilon in listed:
            assert plan(sanitizer, epsilon=epsilon).terms.level == epsilon


def test_a_certified_level_goes_by_its_certificate(tiny_path: Path, tmp_path: Path) -> None:
    sanitizer = certified(tiny_path, tmp_path / "bundle", {"low": 2.5})
    uncertified = Sanitizer.load(tiny_path).bundle
    assert sanitizer.bundle.mechanism_hash == uncertified.mechanism_hash
    assert sanitizer.bundle.content_hash != uncertified.content_hash
    terms = plan(sanitizer, epsilon=2.5).terms
    promise = terms.promise
    assert (terms.level, promise.epsilon, promise.epsilon_kind, promise.rounding_slack) == ("2.5", 2.5, CERTIFIED, 0)
    with pytest.raises(UnknownLevel, match=r"has the levels 2\.5, 16$"):
        plan(sanitizer, epsilon=5)
    assert plan(sanitizer, epsilon=4).terms == terms  # the textbook epsilon, which selected it before
    other = plan(sanitizer, epsilon=16).terms
    assert (other.level, other.promise.epsilon_kind) == ("16", TEXTBOOK)
    assert other.promise.rounding_slack > 0
    assert find_level(sanitizer.bundle, "santext", None).name == sanitizer.bundle.default_level


def test_a_listed_epsilon_comes_before_an_alias(tiny_path: Path, tmp_path: Path) -> None:
    """The certified epsilon of the weak level is the textbook epsilon of the strong one."""
    sanitizer = certified(tiny_path, tmp_path / "bundle", {"low": 2.5, "high": 4})
    assert plan(sanitizer, epsilon=4).terms.level == "4"
    chosen = [find_level(sanitizer.bundle, "santext", epsilon).name for epsilon in (2.5, 4, 16)]
    assert chosen == ["low", "high", "high"]


def test_levels_are_laws_of_their_own(tiny: Sanitizer) -> None:
    own = [tiny.distribution("doctor", epsilon=epsilon).compute_probability("doctor") for epsilon in (4, 16)]
    assert own[0] < own[1]


# --- the coin ------------------------------------------------------------------------------------------------------


@given(st.fractions(min_value=0, max_value=1))
@example(Fraction(1))
@example(Fraction(1, 2**64))
@example(Fraction(1, 2**65))
@example(Fraction(3, 2**65))
def test_the_coin_is_the_probability_rounded_up(probability: Fraction) -> None:
    if probability == 0:
        with pytest.raises(OptionError):
            ReplacementCoin.from_probability(probability)
        return
    threshold = ReplacementCoin.from_probability(probability).threshold
    assert 1 <= threshold <= 2**64
    assert Fraction(threshold - 1, 2**64) < probability <= Fraction(threshold, 2**64)


@pytest.mark.parametrize("probability", ["0.3", 0.3, Fraction(3, 10), Decimal("0.3"), " 0.3 ", "3e-1"])
def test_a_decimal_is_taken_exactly(probability: object) -> None:
    assert ReplacementCoin.from_probability(probability).threshold == -(-3 * 2**64 // 10)  # type: ignore[arg-type]


def test_coins_fall_by_their_threshold() -> None:
    edge = -(-3 * 2**64 // 10)
    words = np.array([0, edge - 1, edge, 2**64 - 1], np.uint64)
    assert ReplacementCoin.from_probability("0.3").draw_replaced(words).tolist() == [True, True, False, False]
    assert ReplacementCoin.from_probability(1).draw_replaced(words).all()
    assert ReplacementCoin.from_probability("1e-999999999999").threshold == 1  # not an integer of as many digits


@pytest.mark.parametrize(
    "value", ["", "canary", "0", 0, 0.0, -0.1, 1.0001, "-1", float("nan"), "inf", None, [], "1/0", True, b"0.3"]
)
def test_what_is_no_probability_is_refused(value: object) -> None:
    with pytest.raises(OptionError, match="replacement probability") as refused:
        ReplacementCoin.from_probability(value)  # type: ignore[arg-type]
    assert "canary" not in str(refused.value)


@pytest.mark.parametrize(
    ("probability", "epsilon_0"), [("0.3", 1.203973), ("0.5", 0.693148), (1, 0), ("1e-3", 6.907756)]
)
def test_the_mixture_is_charged(tiny: Sanitizer, probability: str, epsilon_0: float) -> None:
    terms = plan(tiny, replacement_probability=probability).terms
    assert terms.promise.epsilon_0 == epsilon_0
    assert terms.promise.epsilon_0 >= math.log(1 / terms.promise.replacement_probability) - 1e-12
    assert plan(tiny, mechanism="santext").terms.promise.epsilon_0 == 0


# --- who may be kept -----------------------------------------------------------------------------------------------


def test_common_words_may_be_kept_and_nothing_else(tiny: Sanitizer) -> None:
    keepable = plan(tiny).mechanism.is_keepable
    common = [index for word, index in tiny.bundle.symbol_ids.items() if tiny.bundle.table.roles[index] & 4]
    assert set(np.flatnonzero(keepable)) == set(common)
    assert not keepable[-1]  # <unk>


@pytest.mark.parametrize(
    ("deny", "denied"),
    [
        ([], ""),
        (["the"], "the"),
        (["The", "  OF "], "the of"),
        (["the of", "and, to"], "the of and to"),
        (["ｔｈｅ"], "the"),
        (["the’s"], "the 's"),
        (["zzz", "17", "x@y.z", "", " ", "😀"], ""),
        (["doctor"], ""),
        (("the",), "the"),
        ({"the"}, "the"),
        ({"the": 1}, "the"),
        (["in\nside"], "in side"),
        (["\ufeffthe"], "the"),
    ],
)
def test_denied_words_are_not_keepable(tiny: Sanitizer, deny: object, denied: str) -> None:
    before, after = plan(tiny).mechanism.is_keepable, plan(tiny, deny=deny).mechanism.is_keepable
    gone = {tiny.bundle.vocabulary[index] for index in np.flatnonzero(before & ~after)}
    assert gone == set(denied.split())
    assert not (after & ~before).any()


def test_denied_english_words(english: Sanitizer) -> None:
    """Every common word of the built-in bundle can be denied, and then has a row over the sensitive outputs alone."""
    rng = np.random.default_rng(5)
    kept = np.flatnonzero(english.bundle.table.roles & 4)
    outputs = set(english.distribution("zzyzzx", mechanism="santext+").words)
    for index in rng.choice(kept, 20, replace=False):
        word = english.bundle.vocabulary[index]
        if is_gap(word):  # no coin keeps a mark
            continue
        least = Fraction(7, 10) - Fraction(1, 2**60)
        assert english.distribution(word, mechanism="santext+").compute_probability(word) >= least
        law = english.distribution(word, mechanism="santext+", deny=[word.upper()])
        assert law.compute_probability(word) == 0
        assert set(law.words) == outputs


# --- krr and random ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", ["0.001", "1", 5, 30, "29.999", "1e-30"])
def test_krr_takes_any_epsilon_in_its_range(tiny: Sanitizer, epsilon: object) -> None:
    terms = plan(tiny, mechanism="krr", epsilon=epsilon).terms
    assert terms.epsilon == float(str(epsilon))
    assert (terms.promise.epsilon_kind, terms.level, terms.promise.rounding_slack) == (PURE_LDP, None, 0)
    law = tiny.distribution("doctor", mechanism="krr", epsilon=epsilon)  # type: ignore[arg-type]
    ratio = Fraction(max(law.weights), min(law.weights))
    assert math.log(ratio) <= float(str(epsilon)) + 1e-15
    assert math.log(ratio) >= float(str(epsilon)) - 4e-5


def test_random_learns_nothing(tiny: Sanitizer) -> None:
    assert plan(tiny, mechanism="random").terms.epsilon == 0
