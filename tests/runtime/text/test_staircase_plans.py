"""Options of the staircase are refused with one line each, and its statements are exact to the letter."""

import math
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from small_staircase import small_staircase
from textveil import Sanitizer
from textveil.errors import OptionError, UnknownLevel, UnknownMechanism
from textveil.release import compute_largest_odds, round_up
from textveil.text import Options
from textveil.text.guarantees import NOTION, round_guess_gain

# --- options -------------------------------------------------------------------------------------------------------

CHOICES = "protect must be one of names, words, all"
REFUSED: list[tuple[dict[str, Any], str]] = [
    *(({"protect": wrong}, CHOICES) for wrong in ("x", "", "none", "function-words")),
    ({"protect": "Words"}, f"{CHOICES}; did you mean words?"),
    *(({"protect": wrong}, "protect must be a string") for wrong in (("words",), ["words"], 5, True)),
    ({"protect": "names"}, "this bundle has no lists for the mode names: use the built-in bundle"),
    *(
        ({name: wrong}, f"{name} must be true{', false or corpus' if name == 'consistent' else ' or false'}")
        for name in ("consistent", "sanitize_punctuation")
        for wrong in ("no", "false", 0, 1, [])
    ),
    ({"consistent_cap": 5}, "consistent_cap works only with consistent: set consistent, or omit consistent_cap"),
    *(
        (
            {"consistent": True, "consistent_cap": wrong},
            "consistent_cap must be an integer, at least 1",
        )
        for wrong in (0, -1, 2.0, "5", True)
    ),
    ({"replacement_probability": 1}, "the staircase does not support replacement_probability: omit it"),
    *(({name: "private"}, f'{name} must be a list of words, such as ["doctor"]') for name in ("deny", "allow")),
    *(({name: "private"}, f'{name} must be a list, such as ["city"]') for name in ("keep", "tag", "drop")),
    ({"epsilon": "much"}, "epsilon must be a number, such as 10"),
]


@pytest.mark.parametrize(("options", "message"), REFUSED, ids=lambda value: str(value)[:60])
def test_wrong_options_are_refused_in_one_line(small: Sanitizer, options: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError) as refused:
        small.sanitize("doctor", **options)
    assert str(refused.value) == message


@pytest.mark.parametrize(("epsilon", "named"), [(7, ": 7"), ("8.5001", ""), ("4111111111111111", "")])
def test_an_unknown_level_lists_those_there_are(small: Sanitizer, epsilon: Any, named: str) -> None:
    with pytest.raises(UnknownLevel) as refused:
        small.terms(epsilon=epsilon)
    assert str(refused.value) == f"no such level{named}; epsilon must be one of 6, 8.5"


def test_a_plan_shows_no_denied_word(small: Sanitizer) -> None:
    plan = small._get_plan({"mechanism": "staircase", "deny": ("canary",)})
    assert "canary" in plan.rule.denied  # type: ignore[attr-defined]
    assert "canary" not in repr(plan)


def test_levels_go_by_epsilon(small: Sanitizer) -> None:
    ways: list[Options] = [{}, {"epsilon": "8.50"}, {"epsilon": 8.5}]
    for options in ways:
        assert small.terms(**options) == small.terms(epsilon=8.5, mechanism="staircase")
    assert small.terms(epsilon=6).epsilon == 6


def test_the_rung_is_the_default_of_the_bundle(small: Sanitizer, tmp_path: Path) -> None:
    assert small.terms(protect="words") == small.terms(protect=None) == small.terms()
    other = Sanitizer.load(small_staircase(tmp_path, mode="all"))
    assert (small.terms().protect, other.terms().protect) == ("words", "all")


@pytest.mark.parametrize(
    "options", [{"protect": "all"}, {"protect": "names"}, {"consistent": True}, {"consistent_cap": 5}]
)
@pytest.mark.parametrize("mechanism", ["santext+", "santext", "krr", "random"])
def test_options_of_the_staircase_belong_to_it_alone(tiny: Sanitizer, mechanism: str, options: dict[str, Any]) -> None:
    with pytest.raises(OptionError, match=f"^{mechanism.replace('+', '.')} does not support {next(iter(options))}: "):
        tiny.sanitize("doctor", mechanism=mechanism, **options)
    assert tiny.terms(mechanism="santext", protect=None) == tiny.terms(mechanism="santext")


def test_a_mechanism_that_a_bundle_does_not_have_is_refused(small: Sanitizer, tiny: Sanitizer) -> None:
    for mechanism in ("santext", "santext+", "random"):
        with pytest.raises(
            UnknownMechanism, match=r"^this bundle contains staircase only: .*/english-santext from the repository$"
        ):
            small.sanitize("doctor", mechanism=mechanism)
    with pytest.raises(UnknownMechanism, match=r"^this bundle contains santext, santext\+ only: "):
        tiny.sanitize("doctor", mechanism="staircase")
    for mechanism in ("", "canary"):
        with pytest.raises(UnknownMechanism, match=r"^unknown mechanism: choose among "):
            small.sanitize("doctor", mechanism=mechanism)


def test_distributions_are_of_one_drawn_word(small: Sanitizer) -> None:
    for wrong in ("", " ", "two words", "doctor's", "don't.", "."):
        with pytest.raises(
            OptionError, match=r"^expected one word: write a single word, without blanks and punctuation$"
        ):
            small.distribution(wrong)
    with pytest.raises(
        OptionError,
        match='the mode `words` keeps this function word, so it has no output distribution: use protect="all"',
    ):
        small.distribution("the")
    assert small.distribution("the", protect="all").symbol == "the"
    assert small.distribution("The").symbol == "<unk>"


def test_distributions_are_those_of_the_slot(cased: Sanitizer) -> None:
    lower, title = cased.distribution("doctor"), cased.distribution("Doctor")
    assert set(lower.words) - set(title.words) == {"mark"}
    assert cased.distribution("DOCTOR").words == title.words
    assert cased.distribution("Doctor", sanitize_punctuation=True) == lower
    assert cased.distribution("doctor", consistent=True) == lower
    assert cased.distribution("Doctor", consistent=True) == title
    assert cased.distribution("Mark").symbol == "<given-name>"
    assert cased.distribution("mark").symbol == "mark"


def test_a_statement_has_the_worse_of_two_slots(cased: Sanitizer) -> None:
    for epsilon in ("6", "8.5"):
        plan: Any = cased._get_plan({"epsilon": epsilon})
        slots = plan.mechanism
        assert slots.any_case.near_probability != slots.lower_case.near_probability
        promise: Any = cased.terms(epsilon=epsilon).promise
        assert promise.near == round_up(max(slots.any_case.near_probability, slots.lower_case.near_probability))
        gain = max(slots.any_case.guess_gain, slots.lower_case.guess_gain)
        assert promise.guess_gain == round_guess_gain(gain)


# --- statements ----------------------------------------------------------------------------------------------------


def test_the_paragraph_to_the_letter(small: Sanitizer) -> None:
    result = small.sanitize("The doctor, John: zorblax, nurse 5", consistent=True)
    assert result.statement.summary() == (
        "Epsilon 8.5 per distinct randomized word: no output is more than 4,915 times as likely for one word as for "
        "another, even for an observer who knows all other words. All words outside the vocabulary count as the same "
        "word. A random name or number replaces each listed name and each number, and reveals only its type. The "
        "output also reveals: function words, "
        "punctuation and white space, case, types of names and numbers, the number and order of words, which words are "
        "equal. The text as a whole is not protected (3 distinct randomized words: epsilon 25.5)."
    )
    terms = small.terms()
    one = replace(terms, promise=replace(terms.promise, epsilon=Decimal(1))).statement(1).summary()  # type: ignore[type-var]
    assert one.startswith("Epsilon 1 per randomized word: ")
    assert one.endswith(" (1 randomized word: epsilon 1).")
    other = small.sanitize("the doctor", protect="all", epsilon=6).statement.summary()
    assert other.startswith("Epsilon 6 per randomized word: no output is more than 404 times ")
    assert other.endswith(" words. The text as a whole is not protected (2 randomized words: epsilon 12).")


LISTED, AT = "Replaced at random: listed names, numbers", "epsilon 8.5 per word, possibly unchanged."


@pytest.mark.parametrize(
    ("options", "tokens", "line"),
    [
        ({}, 4, f"Kept: function words. {LISTED}. Randomized: 4 other words, {AT}"),
        ({"protect": "all"}, 9, f"Kept: punctuation. {LISTED}. Randomized: 9 other words, {AT}"),
        (
            {"epsilon": "6"},
            1,
            f"Kept: function words. {LISTED}. Randomized: 1 other word, epsilon 6 per word, possibly unchanged.",
        ),
        ({}, 0, f"Kept: function words. {LISTED}. Randomized: 0 other words, {AT}"),
        (
            {"consistent": True},
            1200,
            f"Kept: function words. {LISTED}. Randomized: 1,200 other distinct words, epsilon 8.5 per distinct word, "
            "possibly unchanged.",
        ),
        (
            {"protect": "all", "sanitize_punctuation": True},
            2,
            f"Revealed: the number and order of words. {LISTED}, punctuation. Randomized: 2 other words, {AT}",
        ),
    ],
)
def test_the_line_to_the_letter(small: Sanitizer, options: dict[str, Any], tokens: int, line: str) -> None:
    statement = small.terms(**options).statement(tokens)
    assert statement.format_line() == statement.to_dict()["line"] == f"{line} The text as a whole is not protected."


@pytest.mark.parametrize(
    ("options", "tokens", "line"),
    [
        ({"mechanism": "krr", "epsilon": 2.5}, 3, "Randomized: 3 tokens, epsilon 2.5 per token (pure local DP)."),
        (
            {"mechanism": "fbdd", "epsilon": 2},
            1,
            "Randomized: 1 token, epsilon 2 d per token (textbook metric DP, floating point; d is the distance of two "
            "words).",
        ),
    ],
)
def test_the_line_of_what_draws_everything(tiny: Sanitizer, options: dict[str, Any], tokens: int, line: str) -> None:
    said = tiny.terms(**options).statement(tokens).format_line()
    assert said == f"Kept: punctuation. {line} The text as a whole is not protected."
    bare = tiny.terms(mechanism="random", sanitize_punctuation=True).statement(tokens).format_line()
    drawn = "1 token" if tokens == 1 else f"{tokens} tokens"
    assert (
        bare == f"Revealed: the number and order of words. Randomized: {drawn}, uniformly, independently of the text."
    )
    kept = tiny.terms(mechanism="santext+").statement(tokens).format_line()
    assert kept.startswith("Kept: punctuation, common words chosen at random. ")


def test_the_fields_of_a_statement(small: Sanitizer) -> None:
    statement = small.sanitize("The doctor and John").statement
    fields = statement.to_dict()
    others = ("not_protected", "neighborhood_probability", "line", "summary")
    assert {key: fields[key] for key in fields if key not in others} == {
        "mechanism": "staircase",
        "level": "8.5",
        "epsilon_per_word": 8.5,
        "epsilon_notion": "pure local DP",
        "guarantee": NOTION,
        "share": "1/25",
        "guess_gain": 31.8,
        "max_odds_ratio": 4915,
        "protect": "words",
        "revealed_parts": [
            "function words", "punctuation and white space", "case", "types of names and numbers",
            "the number and order of words",
        ],
        "consistent": False,
        "randomized_words": 2,
        "epsilon_text": 17.0,
        "sanitize_punctuation": False,
        "bundle": small.bundle.content_hash,
    }  # fmt: skip
    assert 0.99 < fields["neighborhood_probability"] < 1
    assert statement.bundle_hash == small.bundle.content_hash
    assert [loss.epsilon for loss in statement.losses] == [Decimal("8.5")]
    plain, cipher = (small.terms(consistent=flag).not_protected for flag in (False, True))
    assert [item for item in cipher if "cipher" in item]
    assert not [item for item in plain if "cipher" in item]
    assert any("as a whole" in item for item in plain)


@pytest.mark.parametrize("epsilon", ["0.001", "1", "6", "8.5", "10", "16"])
def test_bounds_are_rounded_up(epsilon: str) -> None:
    assert math.exp(float(epsilon)) <= compute_largest_odds(Decimal(epsilon)) <= math.exp(float(epsilon)) + 1.001
    assert round_guess_gain(31.7101) == 31.8
