"""The rule that randomizes every word: the tokens of a segment, and how their outputs are joined."""

import pytest
from textveil import Sanitizer
from textveil.errors import OptionError
from textveil.text.segmentation import LOWER, TITLE, UPPER, find_case_pattern
from textveil.text.token_rules import RANDOMIZED_BY_KEY, ClassifiedToken, TokenRole
from textveil.text.token_rules.every_word import EveryWordRule


@pytest.fixture(scope="module")
def rule(tiny: Sanitizer) -> EveryWordRule:
    return EveryWordRule(tiny.bundle.symbol_ids)


def said(rule: EveryWordRule, segment: str) -> list[tuple[str | None, int, bool]]:
    """Key, ``None`` for what the vocabulary lacks, case and wholeness of the tokens."""
    tokens = [token for _, token in rule.classify_token(segment)]
    assert {token.role for token in tokens} == {TokenRole.RANDOMIZED}
    return [(token.key if token.key in rule.ids else None, token.case, token.is_whole) for token in tokens]


@pytest.mark.parametrize(
    ("segment", "spelling", "case"),
    [
        ("doctor", "doctor", LOWER),
        ("Doctor", "doctor", TITLE),
        ("DOCTOR", "doctor", UPPER),
        ("Ｄoctor", "doctor", TITLE),
        ("Straße", "straße", TITLE),
        ("Cafe\u0301", "café", TITLE),
        ("ЖУК", "жук", UPPER),
        ("color", "color", LOWER),
    ],
)
def test_known_words(rule: EveryWordRule, segment: str, spelling: str, case: int) -> None:
    assert said(rule, segment) == [(spelling, case, True)]


@pytest.mark.parametrize(
    "segment",
    ["zzz", "17", "doctor1", "doctor@boston", "@doctor", "doc\u00adtor", "doc\u200dtor", "dосtоr", "😀", "\0", "\ud800",
     "$", "the_doctor", "STRASSE", "ﬅ", "doctor.boston", "%20", "x" * 10_000, "doctor@boston's", "2020's", "the1n't"],
)  # fmt: skip
def test_unknown_words(rule: EveryWordRule, segment: str) -> None:
    """One token, ``<unk>``, and never whole: nothing unknown is kept."""
    assert [(key, whole) for key, _, whole in said(rule, segment)] == [(None, False)]


def test_plain_words_are_what_the_rule_says(rule: EveryWordRule) -> None:
    """Words of ASCII letters take a fast path; there too a word outside the vocabulary is ``<unk>``."""
    for word in ("the", "Doctor", "BOSTON", "color"):
        assert [*rule.classify_plain([word.lower()], [find_case_pattern(word)])] == [RANDOMIZED_BY_KEY]
        assert said(rule, word) == [(word.lower(), find_case_pattern(word), True)]


@pytest.mark.parametrize(
    ("segment", "stem", "clitic", "cases"),
    [
        ("doctor's", "doctor", "'s", (LOWER, LOWER)),
        ("Doctor’s", "doctor", "'s", (TITLE, LOWER)),
        ("DOCTOR'S", "doctor", "'s", (UPPER, UPPER)),
        ("zzz's", None, "'s", (LOWER, LOWER)),
        ("wasn't", "was", "n't", (LOWER, LOWER)),
        ("WASN’T", "was", "n't", (UPPER, UPPER)),
        ("we'll", None, None, (LOWER, LOWER)),
        ("Ｄｏｃｔｏｒ's", "doctor", "'s", (TITLE, LOWER)),
        ("I'm", None, None, (TITLE, LOWER)),
    ],
)
def test_clitics(
    rule: EveryWordRule, segment: str, stem: str | None, clitic: str | None, cases: tuple[int, int]
) -> None:
    assert said(rule, segment) == [(stem, cases[0], True), (clitic, cases[1], True)]
    assert "".join(spelled for spelled, _ in rule.classify_token(segment)) == segment


@pytest.mark.parametrize(
    ("words", "written"),
    [
        ("nurse river", "nurse river"),
        ("Nurse 's", "Nurse's"),
        ("'s nurse", "'s nurse"),
        ("nurse n't", "nurse not"),
        ("NURSE N'T", "NURSE NOT"),
        ("Was n't", "Wasn't"),
        ("straße", "straße"),
    ],
)
def test_the_outputs_of_a_word_and_its_clitic(rule: EveryWordRule, words: str, written: str) -> None:
    parts = words.split()
    assert rule.join_outputs(parts, [False] * len(parts), apart=False) == written
    assert rule.join_outputs(parts, [False] * len(parts), apart=True) == words


def test_one_token_alone(rule: EveryWordRule) -> None:
    assert rule.classify_alone("Doctor") == ClassifiedToken(TokenRole.RANDOMIZED, LOWER, "doctor")
    assert not rule.classify_alone(",").is_whole
    assert rule.classify_alone("17").key is None
    for several in ("", "the doctor", "don't", "!?"):
        with pytest.raises(OptionError, match="expected one word"):
            rule.classify_alone(several)
