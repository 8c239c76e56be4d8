"""Sets of characters for the tokenizer, and the pattern of an ordinary word.

The definitions are in docs/format-staircase.md, "Segments".
"""

from typing import NamedTuple

import regex

from textveil.lazy import CHARACTERS, LazyPattern, load_data

_MARKS = load_data(CHARACTERS)["marks"]
HARD_BREAKS = _MARKS["hard"]  # a URL ends at these marks and at white space
SOFT_BREAKS = _MARKS["soft"].replace("[", r"\[").replace("]", r"\]")
TRIM_PATTERN = TRIMMED_MARKS = _MARKS["trimmed"]
TRIMMED_URL_MARKS = TRIMMED_MARKS + _MARKS["soft"]
#: Characters that may separate two numbers of a group.
NUMBER_SEPARATORS = load_data(CHARACTERS)["gaps"]["between_numbers"]

#: Start and end of a part of a text.
TextSpan = tuple[int, int]


class CharacterClasses(NamedTuple):
    """Sets of characters, as the inside of brackets in a pattern, for one of the two engines."""

    blank: str  # White_Space
    mark: str  # general category P
    letter: str  # letters of ordinary words
    attached: str  # may follow a letter; empty in ASCII
    connector: str  # underscores
    inner: str  # marks that may be between two letters of one word
    first: str  # first characters of a trigger


UNICODE_CLASSES = CharacterClasses(
    r"\p{White_Space}",
    r"\p{P}",
    r"[\p{L}&&\p{WB=ALetter}]",
    r"[[\p{WB=Extend}\p{WB=Format}\p{WB=ZWJ}]--\p{S}]",
    r"\p{Pc}",
    r"\p{WB=MidLetter}\p{WB=MidNumLet}'",
    r"^\p{White_Space}[\p{L}&&\p{WB=ALetter}][\p{P}--[@＠﹫\\.:;%/(\[{\p{Pc}]]",
)
ASCII_CLASSES = CharacterClasses(
    r" \t-\r", r"!-#%-*,-/:;?@\[-\]_{}", "A-Za-z", "", "_", ".:'", r"^ \t-\rA-Za-z!\"#&')*,\-?\]}"
)


def make_two_letter_pattern(c: CharacterClasses) -> str:
    """Return the pattern of two letters, the first with its attached characters."""
    return f"[{c.letter}]" + (f"[{c.attached}]*+" if c.attached else "") + f"[{c.letter}]"


def make_word_pattern(c: CharacterClasses) -> str:
    """Return the pattern of an ordinary word: letters, with single marks between two letters.

    The rules are WB4 to WB7 of UAX #29. Dots of a domain name are none of these marks. The first alternative is a word
    without marks, the most frequent case. The second advances one character at a time to the first position where a
    word may end, and repeats no group: a repeated group needs memory for each repetition, and CPython 3.11.0 to 3.11.4
    match a possessive one incorrectly.
    """
    solid = f"{c.letter}{c.attached}"
    goes_on = rf"(?!(?!\.{make_two_letter_pattern(c)}|(?<=[wW]{{3}})\.)[{c.inner}][{c.letter}])"
    letters = f"[{c.letter}][{solid}]*+{goes_on}"
    marked = f"(?>[{c.letter}][{solid}{c.inner}]*?(?<=[{solid}])(?![{solid}]){goes_on})"
    return f"(?:{letters}|{marked})"


#: Searches backward for the last break before a position.
BREAK_BEFORE = LazyPattern(regex.compile, rf"(?r)[\p{{White_Space}}{HARD_BREAKS}{SOFT_BREAKS}]")
