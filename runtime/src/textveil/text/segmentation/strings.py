r"""Finds strings in text: whatever is more than ordinary words, and is one segment each (format-staircase.md).

A *run* is what stands between two breaks, less the marks at its ends. It is a string if there is a *trigger* in it: a
digit, a symbol, an emoji, an at sign, a letter of a script without blanks, a domain name and so on. Three things
reach over breaks: URLs, numbers written in groups, and words in brackets as in ``name(at)host``. Quotation marks always
end a string: were ``"Mary Smith"@host`` one, the marks in it would pair with others of its line.

Every rule here keeps strings exchangeable (format-staircase.md): whether a string is found depends on breaks and marks
around it, never on which string of its shape it is. So all strings but URLs end at the same breaks, all numbers join
their neighbors, and a trigger never rests on the letters of one word alone while the next one decides too. All strings
but emoticons end as an ordinary run does, and those that begin with a bracket touch no run before it.
"""

import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

import regex

from textveil.errors import EngineFailed
from textveil.lazy import LatePattern
from textveil.text.segmentation.characters import (
    ANY,
    ASCII,
    BETWEEN,
    BREAK_BEFORE,
    HARD,
    SOFT,
    TRIM,
    TRIMMED,
    TRIMMED_URL,
    Classes,
    Span,
    two_letters,
    word,
)

#: Years, and ordinals in digits.
YEAR = LatePattern(re.compile, r"1[5-9][0-9]{2}|20[0-9]{2}")
ORDINAL = LatePattern(re.compile, r"\d+(?:,\d{3})*(?:st|nd|rd|th)", re.IGNORECASE)
#: Longer words are strings of no kind: folding one may take eighteen times its characters.
LONGEST_WORD = 1000
#: Domains that make a dotted name a URL. None is a common English word: a blank is often missing after a full stop.
TOP_LEVEL = (
    "com org net io gov edu mil int info biz co uk de fr nl eu ru ch au ca jp cn br es pl se dk app dev xyz museum рф"
)
_DOMAINS = "|".join(TOP_LEVEL.split())


def _glued(c: Classes) -> str:
    """After a bracket: the rest of a word in brackets without a blank on either side, as in ``name(at)host``."""
    solid = rf"[^{c.blank}{HARD}{SOFT}{TRIM}]"
    return rf"(?<={solid}[(\[{{]){word(c)}[)\]}}](?={solid})"


def _emoticon(c: Classes) -> str:
    """After its eyes: the mouth of an emoticon, of marks or any word. It stands alone between blanks.

    It has to be any word: were ``:D`` a string and ``:Cat`` none, the gap would tell something about the word.
    """
    mouth = rf"(?:'?-?(?:[)(\]\[{{}}]++|[/\\*])|-?{word(c)}:?)"
    return rf"(?<=[:;])(?<![^{c.blank}][:;]){mouth}(?=[.,!?]*+(?:[{c.blank}]|\Z))"


def _trigger(c: Classes) -> str:
    """One character that may be the first of a trigger, then what makes it one: the search is fast on the first."""
    letter, solid = f"[{c.letter}]", f"[{c.letter}{c.attached}]"
    odd = f"^{c.blank}{c.mark}{c.letter}{c.attached}"
    ways = [
        f"(?<=[{odd}])",
        r"(?<=[@＠﹫\\])",
        rf"(?<={solid}\.)(?={two_letters(c)})|(?<=[wW]{{3}}\.)(?={letter})",
        rf"(?<=:)//|(?<=%)(?={letter})",
        f"(?<={solid}[{c.connector}])[{c.connector}]*+(?={letter})",
        rf"(?<=/)(?<![^{c.blank}{HARD}{SOFT}{TRIM}]/)[^/{c.blank}{HARD}{SOFT}]++/",
        _glued(c),
        f"(?P<emoticon>{_emoticon(c)})",
    ]
    if c.attached:
        ways.append(f"(?<=[{c.attached}])(?<!{solid}[{c.attached}])")
    return f"[{c.first}](?:{'|'.join(ways)})"


class _Patterns:
    """The patterns of one engine."""

    def __init__(self, compile: Any, c: Classes) -> None:
        self.trigger: Any = compile(_trigger(c))
        self.emoticon: Any = LatePattern(compile, f"[:;]{_emoticon(c)}")
        # A part of a run: plain characters, and then what reaches over a break.
        self.run: Any = compile(rf"[^{c.blank}{HARD}{SOFT}]*+(?:[(\[{{]{_glued(c)}|)")
        self.url: Any = compile(f"[^{c.blank}{HARD}]*+")
        #: Words, and what is between them. No gap of several marks begins as an emoticon does.
        self.segment: Any = compile(f"{word(c)}|[^{c.letter}:;]++|[:;]")
        #: A clitic behind a blank, if only marks of a sentence are between it and a blank or the end.
        self.lone_clitic: Any = LatePattern(
            compile, rf"(?<=[{c.blank}])['’](?:s|m|d|re|ve|ll)(?=[.,;:!?\")]*+(?:[{c.blank}]|\Z))"
        )
        #: Words, and each mark between them.
        self.word_or_mark: Any = LatePattern(compile, f"{word(c)}|[^{c.letter}{c.blank}]")


#: Texts, their segments were there no strings, and what begins at each trigger: versions of Python misread patterns.
_KNOWN = (
    ("Dr. O'Neil's..o'e e-mail 'w.w'", "Dr|. |O'Neil's|..|o'e| |e|-|mail| '|w.w|'", ""),
    ("to a.b@c.de, 1(x)2 ", "to| |a.b|@|c|.|de|, 1(|x|)2 ", "@c.de,|@c.de,|.de,|.de,|1(x)|1(x)2|(x)|(x)2|2|2"),
    ('"q r"@z.', '"|q| |r|"@|z|.', "@z.|@z."),
    (" a.com/(b);c :)", " |a|.|com|/(|b|)|;|c| |:|)", ".com/|.com/(b);c|:|:)"),
)
_KNOWN_BEYOND_ASCII = (("l’été “é'é”: 中(x)1", "l’été| “|é'é|”|:| 中(|x|)1", "中(x)|中(x)1|(x)|(x)1|1|1"),)
_GAP = regex.compile(r"[\p{White_Space}\p{P}]+")
_URL = LatePattern(regex.compile, r"://|(?i:www)\.[\p{L}\p{N}]")
_ALNUM = r"[\p{L}\p{M}\p{N}]"
_DOMAIN = LatePattern(regex.compile, rf"(?<={_ALNUM})\.(?:\p{{L}}{{2,24}}[/?#:]|(?i:{_DOMAINS})(?!{_ALNUM}))")
_NO_DOMAIN = frozenset("@＠﹫([{")
_IN_NUMBERS = r"\p{Nd}\p{Sc}+\-‐‑–−.,/%#"
_NUMERIC = LatePattern(regex.compile, rf"(?=[^\p{{Nd}}]*+\p{{Nd}})[{_IN_NUMBERS}]++")
_GROUPED = LatePattern(regex.compile, rf"(?=[^\p{{Nd}}]*+\p{{Nd}})[{_IN_NUMBERS}{BETWEEN}]++")
_LETTERS = LatePattern(regex.compile, f"[{ANY.letter}]++", regex.V1)
_SOLID_STRING = LatePattern(re.compile, r"(?=[^0-9@]*[0-9@])@?[a-z0-9](?:[a-z0-9@/.:,+%#$_~&=?-]*[a-z0-9])?")


@cache
def _fast() -> _Patterns:
    return _checked(_Patterns(re.compile, ASCII), _KNOWN)


@cache
def _general() -> _Patterns:
    found = _Patterns(lambda pattern, _=0: regex.compile(pattern, regex.V1), ANY)
    return _checked(found, _KNOWN + _KNOWN_BEYOND_ASCII)


def _checked(found: _Patterns, known: tuple[tuple[str, str, str], ...]) -> _Patterns:
    """Returns patterns that find what they have to; whatever they are, this takes few steps."""
    for text, segments, strings in known:
        places = [match.start() for match in found.trigger.finditer(text)]
        read = [text[at : pattern.match(text, at).end()] for at in places for pattern in (found.run, found.url)]
        if "|".join(found.segment.findall(text)) != segments or "|".join(read) != strings:
            raise EngineFailed("the regular expressions of this Python misread a known text: update Python or regex")
    return found


def patterns(text: str) -> _Patterns:
    """Returns the patterns that are right for ``text``, made at first use: those for ASCII are several times faster."""
    return _fast() if text.isascii() else _general()


def is_string(segment: str) -> bool:
    """Tells whether a segment is a string: always an unknown word, whatever the vocabulary holds."""
    if not segment[:1].isalnum() and _GAP.fullmatch(segment) is not None:
        return is_emoticon(segment)
    if len(segment) > LONGEST_WORD:
        return True
    return patterns(segment).trigger.search(segment) is not None


def is_letters(text: str) -> bool:
    """Tells whether a text is ordinary letters only: a word that is one segment, and no string."""
    return _LETTERS.fullmatch(text) is not None


def is_solid(text: str) -> bool:
    """Tells whether a text plainly is one string: a digit or an at sign in it, no break, and no mark at its ends.

    Other texts may be one string too. These are known without a search.
    """
    return _SOLID_STRING.fullmatch(text) is not None


def is_emoticon(segment: str) -> bool:
    """Tells whether a segment is an emoticon, which is a string also where it is of punctuation only."""
    return segment[:1] in (":", ";") and patterns(segment).emoticon.fullmatch(segment) is not None


def is_gap(segment: str) -> bool:
    """Tells whether a segment is white space and punctuation only, and no emoticon."""
    return not segment[:1].isalnum() and _GAP.fullmatch(segment) is not None and not is_emoticon(segment)


def is_numeric(string: str) -> bool:
    """Tells whether a string is a number, or numbers in groups: digits, signs, currencies, joiners and brackets."""
    return _GROUPED.fullmatch(string) is not None


def is_url(string: str) -> bool:
    """Tells whether a string is a URL or a domain name: it may hold brackets and goes on to a blank or a quote."""
    if "." not in string and "://" not in string:  # as in most strings
        return False
    end = _end(patterns(string).run, string, 0)
    return _names_a_host(string[:end].strip(TRIMMED))


def _names_a_host(run: str) -> bool:
    if run[:1] in ("@", "＠", "﹫") or _GAP.fullmatch(run) is not None:
        return False
    if _URL.search(run) is not None:
        return True
    return _NO_DOMAIN.isdisjoint(run) and _DOMAIN.search(run) is not None


def find_strings(text: str) -> Iterable[Span]:
    """Yields start and end of every string of ``text``, in order; no two of them touch."""
    found = patterns(text)
    first = found.trigger.search(text)
    return () if first is None else _strings(text, found, first)


def _strings(text: str, found: _Patterns, first: Any) -> Iterator[Span]:
    from textveil.text.segmentation.number_groups import NumberGroup  # most texts have no string

    after, group = 0, None
    for start, end in _single_strings(text, found, first):
        numeric = not text[end - 1].isalpha() and _NUMERIC.fullmatch(text, start, end) is not None
        if group is not None:
            if numeric and group.goes_on_to(start):
                yield from group.add((start, end))
                continue
            yield from group.close()
            after, group = group.end, None
        if numeric:
            group = NumberGroup(text, after, (start, end))
        else:
            yield start, end
            after = end
    if group is not None:
        yield from group.close()


def _single_strings(text: str, found: _Patterns, match: Any) -> Iterator[Span]:
    """Strings before numbers are joined."""
    position = 0
    while match is not None:
        trigger = match.start()
        if match["emoticon"] is not None:
            yield match.span()
            position = match.end()
        else:
            before = BREAK_BEFORE.search(text, position, trigger)
            start = position if before is None else before.end()
            position = _end(found.run, text, trigger)
            start, end = _trim(text, start, position, TRIMMED)
            part = text[start:end]
            if ("." in part or "://" in part) and _names_a_host(part):
                position = found.url.match(text, position).end()
                start, end = _trim(text, start, position, TRIMMED_URL)
                yield start, end
                position = end
            elif _holds_trigger(found, match, text, start, end):
                yield start, end
                position = end
        match = found.trigger.search(text, position)


def _end(part: Any, text: str, position: int) -> int:
    """Where a run ends, of which a part after the other is matched."""
    while (end := part.match(text, position).end()) > position:
        position = end
    return position


def _holds_trigger(found: _Patterns, match: Any, text: str, start: int, end: int) -> bool:
    """Whether a run without the marks at its ends is a string. Punctuation alone is none."""
    if text[match.start()] in "@＠﹫\\:/" and _GAP.fullmatch(text, start, end) is not None:
        return False
    inside = start <= match.start() and match.end() <= end
    return inside or (start < end and found.trigger.search(text[start:end]) is not None)


def _trim(text: str, start: int, end: int, marks: str) -> Span:
    """A span without the marks at its end, and those of the shorter list at its start."""
    while start < end and text[start] in TRIMMED:
        start += 1
    while end > start and text[end - 1] in marks:
        end -= 1
    return start, end


def date(marks: str) -> LatePattern:
    """Returns the pattern of three numbers with the same one of some marks between each two, a hyphen first."""
    return LatePattern(re.compile, rf"\d\d?([{marks}])\d\d?\1(?:\d\d|\d{{4}})|\d{{4}}([{marks}])\d\d?\2\d\d?")


def time(minutes: str = "") -> LatePattern:
    """Returns the pattern of hours with a colon, or with ``am`` and, before that, what a pattern of minutes allows."""
    return LatePattern(re.compile, rf"\d{{1,2}}:\d\d(?::\d\d)?(?:[ap]\.?m)?|\d{{1,2}}{minutes}[ap]\.?m", re.IGNORECASE)
