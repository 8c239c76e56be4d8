"""Regular expressions of the tokenizer, and the sets of characters in them.

docs/format-staircase.md, "Segments", has the definitions. Each pattern is compiled in two forms: with ``re`` for ASCII
texts, and with ``regex`` for other texts.
"""

import re
from functools import cache
from typing import Any, NamedTuple

import regex

from textveil.bundle.layout import RULES
from textveil.errors import EngineFailed
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
    """Sets of characters, such as letters and blanks, from which the regular expressions are built.

    Each set has the syntax between the brackets of ``[...]``. There is one instance for ``re`` (ASCII texts), and one
    for ``regex`` (other texts).
    """

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
    """Return a regular expression for two adjacent letters of a word, the first one with any combining accents.

    Args:
        c: Sets of characters, in the syntax of one regular expression library.
    """
    return f"[{c.letter}]" + (f"[{c.attached}]*+" if c.attached else "") + f"[{c.letter}]"


def make_word_pattern(c: CharacterClasses) -> str:
    """Return a regular expression for an ordinary word: letters, with single marks between two letters.

    The rules are WB4 to WB7 of UAX #29, except that the dots of a domain name do not count as such marks. The first
    alternative matches a word without marks, the most frequent case. The second alternative adds one character at a
    time, up to the first position where a word may end. The pattern has no repeated group, since CPython 3.11.0 to
    3.11.4 match some repeated groups incorrectly.

    Args:
        c: Sets of characters, in the syntax of one regular expression library.
    """
    solid = f"{c.letter}{c.attached}"
    goes_on = rf"(?!(?!\.{make_two_letter_pattern(c)}|(?<=[wW]{{3}})\.)[{c.inner}][{c.letter}])"
    letters = f"[{c.letter}][{solid}]*+{goes_on}"
    marked = f"(?>[{c.letter}][{solid}{c.inner}]*?(?<=[{solid}])(?![{solid}]){goes_on})"
    return f"(?:{letters}|{marked})"


#: Finds the last break (blank or separating mark) before a position.
BREAK_BEFORE = LazyPattern(regex.compile, rf"(?r)[\p{{White_Space}}{HARD_BREAKS}{SOFT_BREAKS}]")
_ENGLISH = load_data(RULES)
#: A longer word counts as a string of no special type, because its lookup key may be 18 times as long as the word.
MAX_WORD_LENGTH = 1000
#: Top-level domains. A dotted name that ends with one is a URL. None of them is a common English word: otherwise two
#: sentences without a space after the full stop would be a URL.
DOMAINS = "|".join(_ENGLISH["domains"]["all"] + _ENGLISH["domains"]["words"])


def _make_bracketed_pattern(c: CharacterClasses) -> str:
    """Return a regular expression for ``at)`` in ``name(at)host``: a word in brackets without the opening bracket.

    The pattern does not match if a blank is directly before or after the brackets.

    Args:
        c: Sets of characters, in the syntax of one regular expression library.
    """
    solid = rf"[^{c.blank}{HARD_BREAKS}{SOFT_BREAKS}{TRIM_PATTERN}]"
    return rf"(?<={solid}[(\[{{]){make_word_pattern(c)}[)\]}}](?={solid})"


def _make_emoticon_pattern(c: CharacterClasses) -> str:
    """Return a regular expression for the mouth of an emoticon, after its eyes (``:`` or ``;``).

    A mouth consists of marks, or is any word. A blank or the end of the text must follow, possibly after sentence
    marks. In ``:Cat`` the word counts as a mouth too, like ``D`` in ``:D``, so that the output does not reveal which
    kind of word is after the ``:``.

    Args:
        c: Sets of characters, in the syntax of one regular expression library.
    """
    mouth = rf"(?:'?-?(?:[)(\]\[{{}}]++|[/\\*])|-?{make_word_pattern(c)}:?)"
    return rf"(?<=[:;])(?<![^{c.blank}][:;]){mouth}(?=[.,!?]*+(?:[{c.blank}]|\Z))"


def _make_trigger_pattern(c: CharacterClasses) -> str:
    """Return a regular expression for characters that occur in addresses and codes, but not in ordinary words.

    Examples are the ``@`` of an email address and a digit. Such a character is called a trigger, and the text around it
    a string. The pattern first matches a possible character, and then tests a condition. The search is fast because
    most characters fail the first test.

    Args:
        c: Sets of characters, in the syntax of one regular expression library.
    """
    letter, solid = f"[{c.letter}]", f"[{c.letter}{c.attached}]"
    odd = f"^{c.blank}{c.mark}{c.letter}{c.attached}"
    alternatives = [
        f"(?<=[{odd}])",
        r"(?<=[@＠﹫\\])",
        rf"(?<={solid}\.)(?={make_two_letter_pattern(c)})|(?<=[wW]{{3}}\.)(?={letter})",
        rf"(?<=:)//|(?<=%)(?={letter})",
        f"(?<={solid}[{c.connector}])[{c.connector}]*+(?={letter})",
        rf"(?<=/)(?<![^{c.blank}{HARD_BREAKS}{SOFT_BREAKS}{TRIM_PATTERN}]/)[^/{c.blank}{HARD_BREAKS}{SOFT_BREAKS}]++/",
        _make_bracketed_pattern(c),
        f"(?P<emoticon>{_make_emoticon_pattern(c)})",
    ]
    if c.attached:
        alternatives.append(f"(?<=[{c.attached}])(?<!{solid}[{c.attached}])")
    return f"[{c.first}](?:{'|'.join(alternatives)})"


class StringPatterns:
    """The compiled regular expressions that find words, marks, URLs and emoticons, for ``re`` or for ``regex``."""

    def __init__(self, compile: Any, c: CharacterClasses) -> None:
        lone_clitics = sorted(clitic[1:] for clitic in _ENGLISH["clitics"]["after"])
        self.trigger: Any = compile(_make_trigger_pattern(c))
        self.emoticon: Any = LazyPattern(compile, f"[:;]{_make_emoticon_pattern(c)}")
        # A step through a run (the text between two breaks): plain characters, then a bracketed word if one follows.
        self.run: Any = compile(rf"[^{c.blank}{HARD_BREAKS}{SOFT_BREAKS}]*+(?:[(\[{{]{_make_bracketed_pattern(c)}|)")
        self.url: Any = compile(f"[^{c.blank}{HARD_BREAKS}]*+")
        #: Words, and the text between them. ``:`` and ``;`` are always separate: an emoticon may begin there.
        self.word_or_gap: Any = compile(f"{make_word_pattern(c)}|[^{c.letter}:;]++|[:;]")
        #: A clitic after a blank, if only sentence marks are between it and the next blank or the end.
        self.lone_clitic: Any = LazyPattern(
            compile, rf"(?<=[{c.blank}])['’](?:{'|'.join(lone_clitics)})(?=[.,;:!?\")]*+(?:[{c.blank}]|\Z))"
        )
        #: Words, and each mark between them.
        self.word_or_mark: Any = LazyPattern(compile, f"{make_word_pattern(c)}|[^{c.letter}{c.blank}]")


#: Self-test, since some versions of Python match these patterns incorrectly. Each entry has a text, its words and gaps,
#: and what the patterns ``run`` and ``url`` match at each trigger.
_SELF_TEST = (
    ("Dr. O'Neil's..o'e e-mail 'w.w'", "Dr|. |O'Neil's|..|o'e| |e|-|mail| '|w.w|'", ""),
    ("to a.b@c.de, 1(x)2 ", "to| |a.b|@|c|.|de|, 1(|x|)2 ", "@c.de,|@c.de,|.de,|.de,|1(x)|1(x)2|(x)|(x)2|2|2"),
    ('"q r"@z.', '"|q| |r|"@|z|.', "@z.|@z."),
    (" a.com/(b);c :)", " |a|.|com|/(|b|)|;|c| |:|)", ".com/|.com/(b);c|:|:)"),
)
_SELF_TEST_NON_ASCII = (("l’été “é'é”: 中(x)1", "l’été| “|é'é|”|:| 中(|x|)1", "中(x)|中(x)1|(x)|(x)1|1|1"),)


@cache
def compile_ascii() -> StringPatterns:
    """Compile the expressions that split ASCII texts. They are several times faster than those for all texts."""
    return _check_patterns(StringPatterns(re.compile, ASCII_CLASSES), _SELF_TEST)


@cache
def compile_unicode() -> StringPatterns:
    """Compile the regular expressions that split texts with any characters into words and gaps (blanks and marks)."""
    compiled = StringPatterns(lambda pattern, _=0: regex.compile(pattern, regex.V1), UNICODE_CLASSES)
    return _check_patterns(compiled, _SELF_TEST + _SELF_TEST_NON_ASCII)


def _check_patterns(compiled: StringPatterns, known: tuple[tuple[str, str, str], ...]) -> StringPatterns:
    """Test compiled patterns with known short texts, and return the patterns.

    Args:
        compiled: The patterns.
        known: Texts with their expected matches (see ``_SELF_TEST``).

    Raises:
        EngineFailed: The regular expression library matches a known text incorrectly.
    """
    for text, segments, strings in known:
        places = [match.start() for match in compiled.trigger.finditer(text)]
        matches = [
            text[at : pattern.match(text, at).end()] for at in places for pattern in (compiled.run, compiled.url)
        ]
        if "|".join(compiled.word_or_gap.findall(text)) != segments or "|".join(matches) != strings:
            raise EngineFailed(
                "the regular expressions of this Python match a test text incorrectly: update Python or regex"
            )
    return compiled
