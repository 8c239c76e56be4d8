r"""Search for strings: tokens that are more than ordinary words.

The definition is in docs/format-staircase.md, "Segments".

A *run* is the text between two breaks, without the marks at its ends. It is a string if it contains a *trigger*: a
digit, a symbol, an emoji, an at sign, a letter of a script without blanks, a domain name and so on. Each string is one
segment. Three kinds of strings continue across breaks: URLs, numbers written in groups, and words in brackets as in
``name(at)host``. Quotation marks always end a string: if ``"Mary Smith"@host`` were one string, the marks in it would
pair with others of its line.

Privacy:
    Each rule here keeps strings exchangeable (docs/format-staircase.md): whether text is a string depends on the breaks
    and marks around it, never on which string of its shape it is. So all strings but URLs end at the same breaks, all
    numbers join their neighbors, and no trigger depends on the letters of one word alone while the next word decides
    too. All strings but emoticons end like an ordinary run, and strings that begin with a bracket touch no run before
    them.
"""

import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

import regex

from textveil.bundle.layout import RULES
from textveil.errors import EngineFailed
from textveil.lazy import LatePattern, load_data
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
_ENGLISH = load_data(RULES)
YEAR = LatePattern(re.compile, _ENGLISH["patterns"]["year"]["text"])
ORDINAL = LatePattern(re.compile, r"\d+(?:,\d{3})*(?:st|nd|rd|th)", re.IGNORECASE)
#: Longer words count as strings of no type: folding one may produce eighteen times its characters.
LONGEST_WORD = 1000
#: Domains that make a dotted name a URL. No common English word is among them: texts often lack the space after a full
#: stop.
_DOMAINS = "|".join(_ENGLISH["domains"]["all"] + _ENGLISH["domains"]["words"])
_LONE_CLITICS = "|".join(sorted(clitic[1:] for clitic in _ENGLISH["clitics"]["after"]))


def _glued(c: Classes) -> str:
    """Return the pattern, after an opening bracket, of a bracketed word as in ``name(at)host``.

    No blank may be on either side of the brackets.
    """
    solid = rf"[^{c.blank}{HARD}{SOFT}{TRIM}]"
    return rf"(?<={solid}[(\[{{]){word(c)}[)\]}}](?={solid})"


def _emoticon(c: Classes) -> str:
    """Return the pattern of the mouth of an emoticon, after its eyes: marks or any word.

    A blank or the end of the text must follow, after sentence marks if any. The mouth may be any word: if ``:D`` were a
    string and ``:Cat`` not, the gap would reveal something about the word.
    """
    mouth = rf"(?:'?-?(?:[)(\]\[{{}}]++|[/\\*])|-?{word(c)}:?)"
    return rf"(?<=[:;])(?<![^{c.blank}][:;]){mouth}(?=[.,!?]*+(?:[{c.blank}]|\Z))"


def _trigger(c: Classes) -> str:
    """Return the pattern of a trigger: a possible first character, then its condition.

    The search is fast because most characters fail the first test.
    """
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
    """Compiled patterns for one regular expression engine."""

    def __init__(self, compile: Any, c: Classes) -> None:
        self.trigger: Any = compile(_trigger(c))
        self.emoticon: Any = LatePattern(compile, f"[:;]{_emoticon(c)}")
        # A part of a run: plain characters, then a bracketed word if one follows.
        self.run: Any = compile(rf"[^{c.blank}{HARD}{SOFT}]*+(?:[(\[{{]{_glued(c)}|)")
        self.url: Any = compile(f"[^{c.blank}{HARD}]*+")
        #: Words, and the text between them. No gap of several marks begins like an emoticon.
        self.segment: Any = compile(f"{word(c)}|[^{c.letter}:;]++|[:;]")
        #: A clitic after a blank, if only sentence marks are between it and the next blank or the end.
        self.lone_clitic: Any = LatePattern(
            compile, rf"(?<=[{c.blank}])['’](?:{_LONE_CLITICS})(?=[.,;:!?\")]*+(?:[{c.blank}]|\Z))"
        )
        #: Words, and each mark between them.
        self.word_or_mark: Any = LatePattern(compile, f"{word(c)}|[^{c.letter}{c.blank}]")


#: Self-test: texts, their segments if there were no strings, and the string at each trigger. Some versions of Python
#: match these patterns incorrectly.
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
    """Return ``found`` after a self-test on known texts of a few characters.

    Raises:
        EngineFailed: The engine matches a known text incorrectly.
    """
    for text, segments, strings in known:
        places = [match.start() for match in found.trigger.finditer(text)]
        read = [text[at : pattern.match(text, at).end()] for at in places for pattern in (found.run, found.url)]
        if "|".join(found.segment.findall(text)) != segments or "|".join(read) != strings:
            raise EngineFailed("the regular expressions of this Python misread a known text: update Python or regex")
    return found


def patterns(text: str) -> _Patterns:
    """Return the patterns for ``text``, compiled at first use.

    The patterns for ASCII are several times faster.
    """
    return _fast() if text.isascii() else _general()


def is_string(segment: str) -> bool:
    """Return whether a segment is a string; a string is an unknown word in every vocabulary."""
    if not segment[:1].isalnum() and _GAP.fullmatch(segment) is not None:
        return is_emoticon(segment)
    if len(segment) > LONGEST_WORD:
        return True
    return patterns(segment).trigger.search(segment) is not None


def is_letters(text: str) -> bool:
    """Return whether a text consists of ordinary letters only, and so is one word and no string."""
    return _LETTERS.fullmatch(text) is not None


def is_solid(text: str) -> bool:
    """Return whether a text is evidently one string, without a full search.

    Such a text contains a digit or an at sign, no break, and no mark at its ends. ``False`` decides nothing: other
    texts may be one string too.
    """
    return _SOLID_STRING.fullmatch(text) is not None


def is_emoticon(segment: str) -> bool:
    """Return whether a segment is an emoticon, which is a string even if it is only punctuation."""
    return segment[:1] in (":", ";") and patterns(segment).emoticon.fullmatch(segment) is not None


def is_gap(segment: str) -> bool:
    """Return whether a segment is only white space and punctuation, and no emoticon."""
    return not segment[:1].isalnum() and _GAP.fullmatch(segment) is not None and not is_emoticon(segment)


def is_numeric(string: str) -> bool:
    """Return whether a string is a number, or numbers in groups.

    Its characters are digits, signs, currency symbols, joiners, spaces and round brackets.
    """
    return _GROUPED.fullmatch(string) is not None


def is_url(string: str) -> bool:
    """Return whether a string is a URL or a domain name.

    Such a string may contain brackets, and continues to the next blank or quotation mark.
    """
    if "." not in string and "://" not in string:  # fast path: most strings have neither
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
    """Return start and end of every string of ``text``, in order; no two of them touch."""
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
    """Yield the strings before adjacent numbers are joined."""
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
    """Return the end of a run: the end of the last of the consecutive matches of ``part``."""
    while (end := part.match(text, position).end()) > position:
        position = end
    return position


def _holds_trigger(found: _Patterns, match: Any, text: str, start: int, end: int) -> bool:
    """Return whether a run without the marks at its ends is a string; punctuation alone is none."""
    if text[match.start()] in "@＠﹫\\:/" and _GAP.fullmatch(text, start, end) is not None:
        return False
    inside = start <= match.start() and match.end() <= end
    return inside or (start < end and found.trigger.search(text[start:end]) is not None)


def _trim(text: str, start: int, end: int, marks: str) -> Span:
    """Return a span without ``marks`` at its end and without ``TRIMMED`` marks at its start."""
    while start < end and text[start] in TRIMMED:
        start += 1
    while end > start and text[end - 1] in marks:
        end -= 1
    return start, end


def date(marks: str) -> LatePattern:
    """Return the pattern of a date: three numbers, separated twice by the same one of ``marks``.

    Args:
        marks: Inside of a character class of separators; a hyphen must be the first.
    """
    return LatePattern(re.compile, rf"\d\d?([{marks}])\d\d?\1(?:\d\d|\d{{4}})|\d{{4}}([{marks}])\d\d?\2\d\d?")


def time() -> LatePattern:
    """Return the pattern of a time: hours with a colon and minutes, or with ``am`` or ``pm``."""
    return LatePattern(re.compile, r"\d{1,2}:\d\d(?::\d\d)?(?:[ap]\.?m)?|\d{1,2}[ap]\.?m", re.IGNORECASE)
