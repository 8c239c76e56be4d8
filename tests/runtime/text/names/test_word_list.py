"""Lists of words to randomize: refused entries, possible outputs, and the privacy statement."""

import pickle
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from drawn_words import strict_words
from small_names import write_names
from textveil import Sanitizer
from textveil.errors import OptionError, UnknownLevel, UnknownMechanism
from textveil.text.names.word_list import MIN_WORDS

ENGLISH = Sanitizer.load()
WORDS = strict_words(ENGLISH.bundle, 130)
NAMES: dict[str, Any] = {"protect": "names"}

UNFIT = "are not single words of two or more lower-case letters"
REFUSED: list[tuple[Callable[[list[str]], list[str]], str]] = [
    (lambda words: [*words, "heart attack"], f"randomize: entries 131 of the list {UNFIT}"),
    (lambda words: ["zorblax7", *words], f"randomize: entries 1 of the list {UNFIT}"),
    (
        lambda words: [words[0], "12", "", "x", "Zorblax", "zorb-lax", "crohn's"],
        f"randomize: entries 2, 3, 4, 5, 6, and more of the list {UNFIT}",
    ),
    (lambda words: [*words, "ｚorb"], f"randomize: entries 131 of the list {UNFIT}"),
    (lambda words: [*words, words[3]], "randomize: entries 131 of the list repeat earlier entries: remove them"),
    (
        lambda words: ["the", *words, "and"],
        "randomize: entries 1, 132 of the list are function words or parts of HTML: remove them",
    ),
    (
        lambda words: [*words, "quot"],
        "randomize: entries 131 of the list are function words or parts of HTML: remove them",
    ),
    (
        lambda words: [*words, "baker", "friday"],
        "randomize: entries 131, 132 of the list are also names: use deny for them",
    ),
    (
        lambda words: [],
        f"randomize needs at least {MIN_WORDS} vocabulary words that are not denied, and has 0",
    ),
    (
        lambda words: words[:99],
        "randomize needs at least 100 vocabulary words that are not denied, and has 99: with fewer",
    ),
    (
        lambda words: [*words[:99], "zorblax"],
        "randomize needs at least 100 vocabulary words that are not denied, and has 99",
    ),
]


@pytest.mark.parametrize(("changed", "message"), REFUSED, ids=lambda value: value if isinstance(value, str) else "")
def test_lists_that_are_refused(changed: Callable[[list[str]], list[str]], message: str) -> None:
    with pytest.raises(OptionError) as refused:
        ENGLISH.sanitize("he", randomize=changed(WORDS), **NAMES)
    said = str(refused.value)
    assert said.startswith(message)
    assert "\n" not in said
    assert not any(word in said for word in ("zorb", "attack", "crohn", "baker"))


def test_a_list_of_the_least_length_is_drawn() -> None:
    word = WORDS[0]
    assert ENGLISH.sanitize(word, randomize=WORDS[:MIN_WORDS], **NAMES).text in WORDS[:MIN_WORDS]


@pytest.mark.parametrize(
    "options", [{"epsilon": 8}, {"epsilon": 6}, {"randomize": WORDS, "sanitize_punctuation": True}], ids=str
)
def test_options_that_belong_to_draws(options: dict[str, Any]) -> None:
    with pytest.raises(OptionError, match="the mode 'names' does not support"):
        ENGLISH.terms(**NAMES, **options)


def test_other_rungs_bundles_and_levels_refuse(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="randomize: only the mode 'names' supports this"):
        ENGLISH.sanitize("he", protect="words", randomize=WORDS)
    with pytest.raises(OptionError, match="randomize must be a list of words"):
        ENGLISH.sanitize("he", randomize="zorblax", **NAMES)  # type: ignore[arg-type]
    with pytest.raises(UnknownLevel):
        ENGLISH.sanitize("he", randomize=WORDS, epsilon=7, **NAMES)
    listed = Sanitizer.load(write_names(tmp_path / "bundle"))
    with pytest.raises(UnknownMechanism, match="this bundle contains the lists of the mode names only"):
        listed.sanitize("he", randomize=WORDS, **NAMES)


def test_words_without_a_row_are_drawn_and_never_come_out() -> None:
    """Two of these words share one row; so does a spelling that the vocabulary prints differently."""
    merged = next(
        word
        for word, id in ENGLISH.bundle.symbol_ids.items()
        if word.isalpha() and word.islower() and len(word) > 3 and word.isascii()
        if (printed := ENGLISH.bundle.vocabulary[id]) != word and printed.islower() and printed not in WORDS
    )
    given = [*WORDS, "zorblax", "flimp", merged]
    rows = {
        word: ENGLISH.distribution(word, randomize=given, **NAMES) for word in ("zorblax", "flimp", merged, WORDS[2])
    }
    assert rows["zorblax"] == rows["flimp"]
    assert all(sorted(row.words) == sorted(WORDS) for row in rows.values())
    assert ENGLISH.sanitize("zorblax", randomize=given, **NAMES).text in WORDS
    with pytest.raises(
        OptionError, match="in the mode 'names' a word has no output distribution: use protect='words' or protect='all"
    ):
        ENGLISH.distribution("other", randomize=given, **NAMES)


def test_denied_words_are_neither_drawn_nor_come_out_and_drawn_ones_are_not_allowed() -> None:
    first, second = WORDS[:2]
    plan = {**NAMES, "randomize": WORDS, "deny": [first.upper()], "allow": [first, second]}
    assert first not in ENGLISH.distribution(second, **plan).words
    assert ENGLISH.preview(f"{first} {second}", **plan) == [(first, "word"), (" ", "gap"), (second, "randomized")]


@pytest.mark.parametrize("level", ENGLISH.bundle.staircase_levels, ids=lambda level: level.name)
def test_a_draw_is_spread_over_several_words(level: Any) -> None:
    """At most half of the budget goes to the word itself, and no guess gains much more than the spread permits."""
    options = {**NAMES, "randomize": WORDS, "epsilon": level.epsilon}
    for word in WORDS[::20]:
        row = ENGLISH.distribution(word, **options)
        assert row.compute_probability(word) <= Fraction(1, 2)
        assert row.compute_probability(word) > 0
    facts = ENGLISH.terms(**options).statement(0).to_dict()["randomize"]
    assert (facts["words"], facts["epsilon_per_word"]) == (130, float(level.epsilon))
    assert 1 < facts["guess_gain"] < 14


def test_statements() -> None:
    options: dict[str, Any] = {**NAMES, "randomize": WORDS, "epsilon": 6}
    said = ENGLISH.sanitize(f"he saw the {WORDS[0]}", **options).statement
    facts = said.to_dict()
    assert (facts["level"], facts["epsilon_text"], facts["kept_words"]) == ("6", None, 3)
    assert facts["guarantee"].endswith("no bound for kept words; epsilon 6 for each randomized word that differs")
    assert "Randomized: 1 word of a public list of 130, epsilon 6 per word. All other words" in said.format_line()
    assert facts["randomized_words"] == 1
    several = ENGLISH.sanitize_documents([[f"{WORDS[0]}, {WORDS[1]}", WORDS[0]], ["he saw"]], **options)
    assert [document.randomized_words for document in several] == [3, 0]
    assert (
        pickle.loads(pickle.dumps(ENGLISH.sanitize(WORDS[0], **options))).statement.to_dict()["randomized_words"] == 1
    )
    assert any("that it is on the list" in item for item in said.not_protected)
    assert said.spend.epsilon_units is None
    assert ENGLISH.terms(**NAMES).statement(0).to_dict()["randomize"] is None
    assert "randomized" not in ENGLISH.terms(**NAMES).statement(0).format_line().lower()
    assert WORDS[0] not in repr(facts["randomize"])
    assert sorted(WORDS) == ENGLISH.canonical_options(**options)["randomize"]


def test_with_a_capital_a_word_of_the_list_is_replaced_as_a_name() -> None:
    word = next(word for word in WORDS if ENGLISH.preview(f"He left. {word.title()} came", **NAMES)[4][1] == "kept")
    assert ENGLISH.preview(f"He left. {word.title()} came", randomize=WORDS, **NAMES)[4][1] not in (
        "kept",
        "randomized",
    )
    assert word not in ENGLISH.sanitize(f"{word.upper()} {word.title()}", randomize=WORDS, **NAMES).text.lower().split()


def test_drawn_words_are_read_as_drawn_again() -> None:
    options: dict[str, Any] = {**NAMES, "randomize": WORDS}
    out = ENGLISH.sanitize(" ".join(WORDS), **options).text
    assert {what for piece, what in ENGLISH.preview(out, **options) if piece != " "} == {"randomized"}
    assert set(out.split()) <= set(WORDS)


def test_restore_leaves_drawn_words_as_they_came_out() -> None:
    result = ENGLISH.sanitize(f"Anna Novak saw the {WORDS[0]}", randomize=WORDS, **NAMES)
    drawn = result.text.split()[-1]
    assert result.restore(result.text) == f"Anna Novak saw the {drawn}"
