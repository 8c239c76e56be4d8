"""Sets of characters that text is cut by, and the pattern of an ordinary word (format-staircase.md, "Segments")."""

from typing import NamedTuple

import regex

from textveil.lazy import LatePattern

HARD = r'"“”„«»'  # with white space: what ends a URL
SOFT = r"‹›()\[\]{};—…"
TRIM = r".,:!?'‘’*_"
TRIMMED = ".,:!?'‘’*_"
TRIMMED_URL = TRIMMED + "‹›()[]{};—…"
#: What may stand between two numbers of a group.
BETWEEN = "() \u00a0\u2009\u202f"

#: Start and end of a part of a text.
Span = tuple[int, int]


class Classes(NamedTuple):
    """Sets of characters, as the inside of brackets in a pattern, for one of the two engines."""

    blank: str  # White_Space
    mark: str  # general category P
    letter: str  # letters of ordinary words
    attached: str  # what goes on after a letter; none in ASCII
    connector: str  # underscores
    inner: str  # marks that may stand between two letters of one word
    first: str  # what a trigger may begin with


ANY = Classes(
    r"\p{White_Space}",
    r"\p{P}",
    r"[\p{L}&&\p{WB=ALetter}]",
    r"[[\p{WB=Extend}\p{WB=Format}\p{WB=ZWJ}]--\p{S}]",
    r"\p{Pc}",
    r"\p{WB=MidLetter}\p{WB=MidNumLet}'",
    r"^\p{White_Space}[\p{L}&&\p{WB=ALetter}][\p{P}--[@＠﹫\\.:;%/(\[{\p{Pc}]]",
)
ASCII = Classes(r" \t-\r", r"!-#%-*,-/:;?@\[-\]_{}", "A-Za-z", "", "_", ".:'", r"^ \t-\rA-Za-z!\"#&')*,\-?\]}")


def two_letters(c: Classes) -> str:
    """Returns the pattern of two letters, the first with what is attached to it."""
    return f"[{c.letter}]" + (f"[{c.attached}]*+" if c.attached else "") + f"[{c.letter}]"


def word(c: Classes) -> str:
    """Returns the pattern of ordinary letters, with single marks between two of them (UAX #29: WB4 to WB7).

    Dots of a domain name are none of these marks. A word without marks is told first, since most have none. The other
    way takes a character at a time up to the first place where a word may end, and repeats no group: a group that is
    repeated takes memory for each time, and CPython 3.11.0 to 3.11.4 misread a possessive one.
    """
    solid = f"{c.letter}{c.attached}"
    goes_on = rf"(?!(?!\.{two_letters(c)}|(?<=[wW]{{3}})\.)[{c.inner}][{c.letter}])"
    letters = f"[{c.letter}][{solid}]*+{goes_on}"
    marked = f"(?>[{c.letter}][{solid}{c.inner}]*?(?<=[{solid}])(?![{solid}]){goes_on})"
    return f"(?:{letters}|{marked})"


#: Searches back for the last break before a place.
BREAK_BEFORE = LatePattern(regex.compile, rf"(?r)[\p{{White_Space}}{HARD}{SOFT}]")
