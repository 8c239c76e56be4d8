"""An unknown string leaves nothing but its position in any output of this package, on any path.

A canary is a string that no output may contain. It is planted in texts, files, options and errors; then every output,
message, log record, representation and remaining file of a run is searched for it.
"""

import itertools
import json
import logging
import os
import re
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from canaries import CANARIES, SECRET, hidden, told
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from textveil import Sanitizer, TextveilError
from textveil.errors import InputError, OptionError
from textveil.text import Options, segmentation

#: Common words are kept almost always: the lightest that SanText+ goes.
LIGHTEST: dict[str, Any] = {"mechanism": "santext+", "replacement_probability": "1e-18"}
reading = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


def options_of(sanitizer: Sanitizer) -> list[dict[str, Any]]:
    """Every mechanism, at its lightest and at its strictest, in both modes."""
    first, last = "7", "12.5"
    laws: list[dict[str, Any]] = [
        {"protect": "words"},
        {"epsilon": "12", "protect": "all"},
        {"protect": "words", "consistent": True},
        {**LIGHTEST, "epsilon": last},
        {**LIGHTEST, "epsilon": first},
        {"mechanism": "santext", "epsilon": last},
        {"mechanism": "santext", "epsilon": first},
        {"mechanism": "krr", "epsilon": 30},
        {"mechanism": "krr", "epsilon": "0.1"},
        {"mechanism": "random"},
    ]
    return [{**law, **mode} for law in laws for mode in ({}, {"sanitize_punctuation": True})]


def prints_kinds(options: dict[str, Any]) -> bool:
    """Whether the options are those of the staircase."""
    return options.get("mechanism") is None


def forms(canary: str, known: set[str]) -> set[str]:
    """Return the recognizable forms of a canary: as it is, composed or not, and decoded unless that matches by chance.

    ``™`` decoded occurs in ``department``, and ``the%20and`` is two words that any text has.
    """
    certain = {canary, unicodedata.normalize("NFC", canary), unicodedata.normalize("NFD", canary)}
    decoded = {unquote(canary), unicodedata.normalize("NFKC", canary), unicodedata.normalize("NFKD", canary)}
    decoded = {form for form in decoded if len(form) > 5 and not known.issuperset(re.findall(r"\w+", form.casefold()))}
    return {form.casefold() for form in certain | decoded}


def leaks(text: str, canary: str, known: set[str]) -> list[str]:
    haystack = text.casefold()
    return [form for form in forms(canary, known) if form in haystack]


@pytest.fixture(scope="module")
def known(english: Sanitizer) -> set[str]:
    return set(english.bundle.symbol_ids)


@pytest.fixture(scope="module")
def alphabet(known: set[str]) -> set[str]:
    return {character for spelling in known for character in spelling}


@pytest.fixture(scope="module")
def of_kinds(english: Sanitizer) -> set[str]:
    """Characters of everything that the lists of kinds can print."""
    assert english.bundle.template is not None
    entries = (
        line.partition("\t")[0]
        for kind in english.bundle.template.entity_types
        for line in kind.utf_8.decode().split("\n")
    )
    return {character for entry in entries for character in entry + entry.upper()}


# --- outputs -------------------------------------------------------------------------------------------------------


def test_the_canaries_are_worth_planting(english: Sanitizer, known: set[str]) -> None:
    assert len(CANARIES) == len(set(CANARIES)) > 100
    for canary in CANARIES:
        assert canary.casefold() not in known
        assert leaks(f"The {canary} said.", canary, known)
        assert not leaks("The nurse said.", canary, known)


@pytest.mark.slow
@pytest.mark.parametrize("around", ["{}", "The {} said.", "({})", "“{}”, {}", "the\t{}\r\n{}\n"])
@pytest.mark.parametrize("times", [2, pytest.param(5, marks=pytest.mark.full)])
def test_no_canary_comes_out(english: Sanitizer, known: set[str], around: str, times: int) -> None:
    """``::1`` is two marks and a number, which may become another number that begins with 1 by chance."""
    texts = [around.replace("{}", canary) for canary in CANARIES]
    gaps = set(re.findall(r"\W", around))
    for options in options_of(english):
        for _ in range(times):
            for canary, result in zip(CANARIES, english.sanitize_batch(texts, **options), strict=True):
                found = [form for form in leaks(result.text, canary, known) if form not in gaps]
                found = [form for form in found if not (prints_kinds(options) and form == "::1")]
                assert not found, f"{canary!a} under {options}"


def test_nothing_but_the_vocabulary_comes_out(english: Sanitizer, known: set[str], of_kinds: set[str]) -> None:
    """Stronger than a search: except for gaps, every printed word is in the vocabulary or on a list of surrogates."""
    letters = {character for word in known for character in word + word.upper()} | {" "}
    text = " ".join(CANARIES)
    passed = {character for character in text if unicodedata.category(character)[0] == "P"}
    for options in options_of(english):
        out = english.sanitize(text, **options).text
        allowed = letters | of_kinds if prints_kinds(options) else letters
        assert set(out) <= allowed | (set() if options.get("sanitize_punctuation") else passed)


@pytest.mark.slow
@settings(reading, max_examples=300)
@given(
    st.text(st.characters(categories=["L", "N", "S", "Cf", "Mn"]), min_size=6, max_size=20),
    st.sampled_from(["{}", "the {} and", "@{}", "{}@the", "{}.com/", "www.{}", "{}'s", "1{}"]),
)
def test_no_invented_word_comes_out(
    english: Sanitizer, alphabet: set[str], of_kinds: set[str], word: str, shape: str
) -> None:
    """Words of six characters and more that hold one of no word of the vocabulary."""
    unseen = [character for character in word if character.casefold() not in alphabet]
    for options in options_of(english)[1::6]:
        out = english.sanitize(shape.replace("{}", word), **options).text
        foreign = [character for character in unseen if not (prints_kinds(options) and character in of_kinds)]
        assert not any(character in out for character in foreign if unicodedata.category(character)[0] != "P")


def test_addresses_of_common_words_are_one_token(english: Sanitizer) -> None:
    for canary in ("the@and", "doctor@boston.com", "@the", "http://the.and/of", "www.the", "the.and/of", "the%20and"):
        result = english.sanitize(canary, **LIGHTEST)
        assert result.tokens == 1
        law = english.distribution(canary, **LIGHTEST)
        assert law.symbol == "<unk>"


@pytest.mark.full
@pytest.mark.slow
def test_the_law_of_a_canary_is_that_of_the_unknown(english: Sanitizer) -> None:
    """The test computes the exact distribution: every canary has an unknown token, and none is an output."""
    unknown = english.distribution("zzyzzx", **LIGHTEST)
    plan: Any = english._get_plan(Options(**LIGHTEST))
    for canary in CANARIES:
        segments = segmentation.split_text(canary)
        words = [segment for segment in segments if not segmentation.is_gap(segment)]
        pieces = [piece for word in words for piece in plan.rule.classify_token(word, starts_sentence=False)]
        tokens = [plan.find_symbol_id(token) for _, token in pieces]
        assert english.bundle.symbol_count in tokens, ascii(canary)
        assert canary.casefold() not in unknown.words
        if len(segments) == len(tokens) == 1:
            assert english.distribution(canary, **LIGHTEST) == unknown


# --- what the library says -----------------------------------------------------------------------------------------


@pytest.fixture
def quiet(caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]) -> Callable[[], str]:
    """Everything that was logged or printed, at every level."""
    caplog.set_level(logging.NOTSET)
    return lambda: "".join(record.getMessage() for record in caplog.records) + "".join(capfd.readouterr())


def test_results_and_statements_do_not_tell(english: Sanitizer, known: set[str], quiet: Callable[[], str]) -> None:
    for canary, options in itertools.product(CANARIES[::7], options_of(english)[::4]):
        result = english.sanitize(f"the {canary} and", **options)
        statement = result.statement
        told = [repr(result), repr(statement), str(statement), statement.summary(), json.dumps(statement.to_dict())]
        told += [repr(english), repr(english.terms(**options)), str(result)]
        for said in told:
            assert not leaks(said, canary, known)
    assert quiet() == ""


@pytest.mark.parametrize(
    "options",
    [
        {"mechanism": SECRET}, {"epsilon": SECRET}, {"mechanism": "krr", "epsilon": SECRET},
        {"style": SECRET}, {"replacement_probability": SECRET}, {"mechanism": "random", "deny": [SECRET]},
        {"deny": SECRET},
    ],
    ids=str,
)  # fmt: skip
def test_errors_about_options_do_not_tell(
    english: Sanitizer, options: dict[str, Any], quiet: Callable[[], str]
) -> None:
    with pytest.raises(OptionError) as refused:
        english.sanitize(SECRET, **options)
    assert hidden(told(refused.value, suppressed=False))
    assert quiet() == ""


def test_errors_about_words_do_not_tell(english: Sanitizer) -> None:
    for call in (
        lambda: english.distribution(SECRET),
        lambda: english.distance(SECRET, "the"),
        lambda: english.distance("the", SECRET),
        lambda: english.sanitize(SECRET.encode()),  # type: ignore[arg-type]
        lambda: english.sanitize_batch(["the", SECRET, [SECRET]]),  # type: ignore[list-item]
        lambda: Sanitizer.load(SECRET),
        lambda: Sanitizer.load(expect_id=SECRET),
    ):
        with pytest.raises(TextveilError) as refused:
            call()
        assert hidden(told(refused.value, suppressed=False))


def test_bad_bytes_do_not_tell(tmp_path: Path) -> None:
    from textveil_cli.console import read_lines

    path = tmp_path / "bad.txt"
    path.write_bytes(f"the\n{SECRET} ".encode() + b"\xff " + SECRET.encode())
    descriptor = os.open(path, os.O_RDONLY)
    try:
        with pytest.raises(InputError) as refused:
            for _ in read_lines(descriptor, "input 1"):
                pass
    finally:
        os.close(descriptor)
    assert hidden(told(refused.value, suppressed=False))
    assert refused.value.__cause__ is None  # a UnicodeDecodeError holds the whole input
