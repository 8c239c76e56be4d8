"""Look-up and writing: what a segment becomes, and how outputs are spelled."""

import pytest
from textveil import Sanitizer
from textveil.text.lexicon import GAP, Lexicon, Word
from textveil.text.segmentation import LOWER, TITLE, UPPER


@pytest.fixture(scope="module")
def lexicon(tiny: Sanitizer) -> Lexicon:
    return Lexicon(tiny.bundle)


@pytest.fixture(scope="module")
def unknown(tiny: Sanitizer) -> int:
    return tiny.bundle.symbols


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
        ("color", "colour", LOWER),
    ],
)
def test_known_words(tiny: Sanitizer, lexicon: Lexicon, segment: str, spelling: str, case: int) -> None:
    word = lexicon.word(segment)
    assert word == Word((tiny.bundle.ids[spelling],), True, (case,))
    assert lexicon.word(segment, carry_case=False).cases == (LOWER,)


@pytest.mark.parametrize(
    "segment",
    ["zzz", "17", "doctor1", "doctor@boston", "@doctor", "doc\u00adtor", "doc\u200dtor", "dосtоr", "😀", "\0", "\ud800",
     "$", "the_doctor", "STRASSE", "ﬅ", "doctor.boston", "%20", "x" * 10_000],
)  # fmt: skip
def test_unknown_words(lexicon: Lexicon, unknown: int, segment: str) -> None:
    """One token, ``<unk>``, and never whole: nothing unknown is kept."""
    word = lexicon.word(segment)
    assert word.inputs == (unknown,)
    assert not word.whole


@pytest.mark.parametrize("gap", [" ", "\n", "...", "—", " \u00a0", "'"])
def test_gaps(tiny: Sanitizer, lexicon: Lexicon, unknown: int, gap: str) -> None:
    assert lexicon.word(gap) is GAP
    marks = [character for character in gap if not character.isspace()]
    expected = tuple(tiny.bundle.ids.get(mark, unknown) for mark in marks)
    assert lexicon.word(gap, sanitize_punctuation=True) == Word(expected, False, (LOWER,) * len(marks))


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
    tiny: Sanitizer,
    lexicon: Lexicon,
    unknown: int,
    segment: str,
    stem: str | None,
    clitic: str | None,
    cases: tuple[int, int],
) -> None:
    expected = tuple(unknown if part is None else tiny.bundle.ids[part] for part in (stem, clitic))
    assert lexicon.word(segment) == Word(expected, True, cases)
    assert lexicon.word(segment, carry_case=False) == Word(expected, True, (LOWER, LOWER))


def test_a_string_has_no_clitic(lexicon: Lexicon, unknown: int) -> None:
    for segment in ("doctor@boston's", "2020's", "the1n't"):
        assert lexicon.word(segment).inputs == (unknown,)


def test_pieces(pieces: Sanitizer) -> None:
    ids, lexicon = pieces.bundle.ids, Lexicon(pieces.bundle)
    unknown = pieces.bundle.symbols

    def of(spelled: str) -> tuple[int, ...]:
        return tuple(unknown if part == "?" else ids[part] for part in spelled.split())

    expected = {
        "the": ("the", True),
        "Unaffable": ("un ##aff ##able", False),
        "biopsy": ("bio ##psy", False),
        "thes": ("the ##s", False),
        "zyva": ("z ##y ##va", False),
        "zebra": ("?", True),
        "19": ("?", True),
        "news19": ("?", True),
        "don't": ("? ' t", False),
        "cafés": ("cafe ##s", False),
        "中": ("?", True),
        "\0": ("?", True),
        "the\u200dof": ("?", True),
    }
    for segment, (spelled, whole) in expected.items():
        word = lexicon.word(segment)
        assert word.inputs == of(spelled), segment
        assert word.whole is whole, segment


def test_writing(tiny: Sanitizer, lexicon: Lexicon) -> None:
    ids = tiny.bundle.ids

    def written(outputs: str, segments: list[str], strict: bool = False) -> str:
        words = [lexicon.word(segment, sanitize_punctuation=strict) for segment in segments]
        return lexicon.write(
            segments, words, iter([ids[word] for word in outputs.split()]), sanitize_punctuation=strict
        )[0]

    assert written("nurse river", ["The", " ", "doctor"]) == "Nurse river"
    assert written("nurse river", ["😀", "😀"]) == "nurse river"  # segments of text never touch; denied entries may
    assert written("nurse 's", ["Doctor's"]) == "Nurse's"
    assert written("'s nurse", ["Doctor's"]) == "'s nurse"
    assert written("nurse n't", ["😀", "x"]) == "nurse not"
    assert written("nurse n't", ["DOCTOR'S"]) == "NURSE NOT"
    assert written("was n't", ["Doctor's"]) == "Wasn't"
    assert written("nurse n't", ["x", " ", "x"]) == "nurse n't"
    assert written("nurse n't", ["x", ",", " "], strict=True) == "nurse n't"
    assert written("nurse 's", ["😀", " ", "x"]) == "nurse 's"
    assert written("nurse 's river", ["THE", "—", "X", "😀"]) == "NURSE—'s river"
    assert written("straße", ["THE"]) == "THE"[:0] + "STRASSE"
    assert written("", [" ", "…", "\n"]) == " …\n"
    assert written("nurse , 's", ["the", ",", " ", "of"], strict=True) == "nurse , 's"
    assert written("nurse", [" ", "the", "\n"], strict=True) == "nurse"
    assert written("", []) == ""
