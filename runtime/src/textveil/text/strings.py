r"""Finds strings in text: whatever is more than ordinary words, and is one segment each (docs/format.md, "Segments").

A *run* is what stands between two breaks, less the marks at its ends. It is a string if there is a *trigger* in it: a
digit, a symbol, an emoji, an at sign, a letter of a script without blanks, a domain name and so on. Three things
reach over breaks: URLs, numbers written in groups, and quoted names before an at sign.

Every rule here keeps strings exchangeable (docs/format.md): whether a string is found depends on breaks and marks
around it, never on which string of its shape it is. So all strings but URLs end at the same breaks, all numbers join
their neighbors, and a trigger never rests on the letters of one word alone while the next one decides too.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import regex

#: Domains that make a dotted name a URL. None is a common English word: a blank is often missing after a full stop.
TOP_LEVEL = (
    "com org net io gov edu mil int info biz co uk de fr nl eu ru ch au ca jp cn br es pl se dk app dev xyz museum рф"
)
_DOMAINS = "|".join(TOP_LEVEL.split())

_HARD = r'"“”„«»'  # with white space: what ends a URL
_SOFT = r"‹›()\[\]{};—…"
_TRIM = r".,:!?'‘’*_"
_TRIMMED = ".,:!?'‘’*_"
_TRIMMED_URL = _TRIMMED + "‹›()[]{};—…"


class _Classes(NamedTuple):
    """Sets of characters, as the inside of brackets in a pattern, for one of the two engines."""

    blank: str  # White_Space
    mark: str  # general category P
    letter: str  # letters of ordinary words
    attached: str  # what goes on after a letter; none in ASCII
    connector: str  # underscores
    inner: str  # marks that may stand between two letters of one word
    first: str  # what a trigger may begin with


_ANY = _Classes(
    r"\p{White_Space}",
    r"\p{P}",
    r"[\p{L}&&\p{WB=ALetter}]",
    r"[[\p{WB=Extend}\p{WB=Format}\p{WB=ZWJ}]--\p{S}]",
    r"\p{Pc}",
    r"\p{WB=MidLetter}\p{WB=MidNumLet}'",
    r"^\p{White_Space}[\p{L}&&\p{WB=ALetter}][\p{P}--[@＠﹫\\.:;%/\"(\[{\p{Pc}]]",
)
_ASCII = _Classes(r" \t-\r", r"!-#%-*,-/:;?@\[-\]_{}", "A-Za-z", "", "_", ".:'", r"^ \t-\rA-Za-z!#&')*,\-?\]}")


def _two_letters(c: _Classes) -> str:
    return f"[{c.letter}]" + (f"[{c.attached}]*+" if c.attached else "") + f"[{c.letter}]"


def _word(c: _Classes) -> str:
    """Ordinary letters, with single marks between two of them (UAX #29: WB4 to WB7), and no dots of a domain name."""
    letters = f"[{c.letter}][{c.letter}{c.attached}]*+"
    dot = rf"(?!\.{_two_letters(c)}|(?<=[wW]{{3}})\.)"
    return f"{letters}(?:{dot}[{c.inner}]{letters})*+"


def _quoted(c: _Classes) -> str:
    """After a quotation mark: the rest of a quotation right before an at sign, the local part of an address."""
    return rf'(?<=")(?![{c.blank}@＠﹫])[^"\n\r]++(?<![{c.blank}])"(?=[@＠﹫])'


def _glued(c: _Classes) -> str:
    """After a bracket: the rest of a word in brackets without a blank on either side, as in ``name(at)host``.

    A quoted name after it is glued like any other: it must not tell that it is quoted.
    """
    solid = rf"[^{c.blank}{_HARD}{_SOFT}{_TRIM}]"
    return rf'(?<={solid}[(\[{{]){_word(c)}[)\]}}](?={solid}|"{_quoted(c)})'


def _emoticon(c: _Classes) -> str:
    """After its eyes: the mouth of an emoticon, of marks or any word. It stands alone between blanks.

    It has to be any word: were ``:D`` a string and ``:Cat`` none, the gap would tell something about the word.
    """
    mouth = rf"(?:'?-?(?:[)(\]\[{{}}]++|[/\\*])|-?{_word(c)}:?)"
    return rf"(?<=[:;])(?<![^{c.blank}][:;]){mouth}(?=[.,!?]*+(?:[{c.blank}]|\Z))"


def _trigger(c: _Classes) -> str:
    """One character that may be the first of a trigger, then what makes it one: the search is fast on the first."""
    letter, solid = f"[{c.letter}]", f"[{c.letter}{c.attached}]"
    odd = f"^{c.blank}{c.mark}{c.letter}{c.attached}"
    ways = [
        f"(?<=[{odd}])",
        r"(?<=[@＠﹫\\])",
        rf"(?<={solid}\.)(?={_two_letters(c)})|(?<=[wW]{{3}}\.)(?={letter})",
        rf"(?<=:)//|(?<=%)(?={letter})",
        f"(?<={solid}[{c.connector}])[{c.connector}]*+(?={letter})",
        rf"(?<=/)(?<![^{c.blank}{_HARD}{_SOFT}{_TRIM}]/)[^/{c.blank}{_HARD}{_SOFT}]++/",
        _quoted(c),
        _glued(c),
        f"(?P<emoticon>{_emoticon(c)})",
    ]
    if c.attached:
        ways.append(f"(?<=[{c.attached}])(?<!{solid}[{c.attached}])")
    return f"[{c.first}](?:{'|'.join(ways)})"


class _Patterns:
    """The patterns of one engine."""

    def __init__(self, compile: Any, c: _Classes) -> None:
        self.trigger = compile(_trigger(c))
        self.emoticon = compile(f"[:;]{_emoticon(c)}")
        # Most characters go in one step: a step for each would take more memory than long lines have.
        solid = rf"[^{c.blank}{_HARD}{_SOFT}\"(\[{{]++|[^{c.blank}{_HARD}{_SOFT}]"
        self.run = compile(rf"(?:\"{_quoted(c)}|[(\[{{]{_glued(c)}|{solid})*+")
        self.url = compile(rf"(?:\"{_quoted(c)}|[^{c.blank}{_HARD}\"]++|[^{c.blank}{_HARD}])*+")
        #: Words, and what is between them. No gap of several marks begins as an emoticon does.
        self.segment = compile(f"{_word(c)}|[^{c.letter}:;]++|[:;]")


_GENERAL = _Patterns(lambda pattern: regex.compile(pattern, regex.V1), _ANY)
_FAST = _Patterns(re.compile, _ASCII)
_BREAK_BEFORE = regex.compile(rf"(?r)[\p{{White_Space}}{_HARD}{_SOFT}]")
_GAP = regex.compile(r"[\p{White_Space}\p{P}]+")
_URL = regex.compile(r"://|(?i:www)\.[\p{L}\p{N}]")
_ALNUM = r"[\p{L}\p{M}\p{N}]"
_DOMAIN = regex.compile(rf"(?<={_ALNUM})\.(?:\p{{L}}{{2,24}}[/?#:]|(?i:{_DOMAINS})(?!{_ALNUM}))")
_NO_DOMAIN = frozenset("@＠﹫([{")
_SOLID = regex.compile(rf"[^\p{{White_Space}}{_HARD}{_SOFT}{_TRIM}]")
_IN_NUMBERS, _BETWEEN = r"\p{Nd}\p{Sc}+\-‐‑–−.,/%#", "() \u00a0\u2009\u202f"
_NUMERIC = regex.compile(rf"(?=[^\p{{Nd}}]*+\p{{Nd}})[{_IN_NUMBERS}]++")
_GROUPED = regex.compile(rf"(?=[^\p{{Nd}}]*+\p{{Nd}})[{_IN_NUMBERS}{_BETWEEN}]++")
_LETTERS = regex.compile(f"[{_ANY.letter}]++", regex.V1)
_SOLID_STRING = re.compile(r"(?=[^0-9@]*[0-9@])@?[a-z0-9](?:[a-z0-9@/.:,+%#$_~&=?-]*[a-z0-9])?")
_BETWEEN_NUMBERS = re.compile(f"[{_BETWEEN}]+")
_BRACKETED = regex.compile(rf"[(\[{{]{_word(_ANY)}[)\]}}]", regex.V1)

Span = tuple[int, int]


def patterns(text: str) -> _Patterns:
    """Returns the patterns that are right for ``text``: those for ASCII are several times faster."""
    return _FAST if text.isascii() else _GENERAL


def is_string(segment: str) -> bool:
    """Tells whether a segment is a string: always an unknown word, whatever the vocabulary holds."""
    if not segment[:1].isalnum() and _GAP.fullmatch(segment) is not None:
        return is_emoticon(segment)
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
    first = patterns(string).run.match(string)
    return _names_a_host(first[0].strip(_TRIMMED))


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
    numbers: list[Span] = []
    after = 0  # end of the string before the numbers
    for span in _single_strings(text, found, first):
        numeric = not text[span[1] - 1].isalpha() and _NUMERIC.fullmatch(text, *span) is not None
        if numbers:
            if numeric and _BETWEEN_NUMBERS.fullmatch(text, numbers[-1][1], span[0]):
                numbers.append(span)
                continue
            yield from numbers if len(numbers) == 1 else _groups(text, numbers, after, span[0])
            after, numbers = numbers[-1][1], []
        if numeric:
            numbers.append(span)
        else:
            yield span
            after = span[1]
    yield from numbers if len(numbers) < 2 else _groups(text, numbers, after, len(text))


def _single_strings(text: str, found: _Patterns, match: Any) -> Iterator[Span]:
    """Strings before numbers are joined."""
    position = 0
    while match is not None:
        trigger = match.start()
        if match["emoticon"] is not None:
            yield match.span()
            position = match.end()
        else:
            before = _BREAK_BEFORE.search(text, position, trigger)
            start = position if before is None else before.end()
            position = found.run.match(text, trigger).end()
            start, end = _trim(text, start, position, _TRIMMED)
            part = text[start:end]
            if ("." in part or "://" in part) and _names_a_host(part):
                position = found.url.match(text, position).end()
                start, end = _trim(text, start, position, _TRIMMED_URL)
                yield start, end
                position = end
            elif _holds_trigger(found, match, text, start, end):
                yield start, end
                position = end
        match = found.trigger.search(text, position)


def _holds_trigger(found: _Patterns, match: Any, text: str, start: int, end: int) -> bool:
    """Whether a run without the marks at its ends is a string. Punctuation alone is none."""
    if text[match.start()] in '@＠﹫\\:/"' and _GAP.fullmatch(text, start, end) is not None:
        return False
    inside = start <= match.start() and match.end() <= end
    return inside or (start < end and found.trigger.search(text[start:end]) is not None)


def _trim(text: str, start: int, end: int, marks: str) -> Span:
    """A span without the marks at its end, and those of the shorter list at its start."""
    while start < end and text[start] in _TRIMMED:
        start += 1
    while end > start and text[end - 1] in marks:
        end -= 1
    return start, end


def _groups(text: str, numbers: list[Span], after: int, before: int) -> Iterator[Span]:
    """Joins numbers that single blanks or round brackets hold together.

    ``D = E (" "? E)*``, ``E = number | "(" D ")"``: every number joins in the same way, whatever it looks like. A
    bracket around all of it stays a gap.
    """
    start, end = numbers[0][0], numbers[-1][1]
    while start > after and text[start - 1] == "(":
        start -= 1
    while end < before and text[end] == ")":
        end += 1
    ends = dict(numbers)
    stack: list[tuple[str, Span, Span]] = []  # number, bracket or blank; the span with brackets around, and without
    place = start
    while place < end:
        stop = ends.get(place, place + 1)
        mark = "number" if place in ends else text[place]
        below = [entry[0] for entry in stack[-2:]]
        if mark == "(" and not stack and _touched(text, place - 1, -1):
            pass  # what stands before it would touch the number
        elif mark == ")" and below == ["(", "number"] and (stop in ends or not _touched(text, stop, 1)):
            (_, _, inner), (_, (place, _), _) = stack.pop(), stack.pop()
            stack.append(("number", (place, stop), inner))
        elif mark in ("number", "(") or (mark != ")" and below[-1:] == ["number"]):
            stack.append((mark, (place, stop), (place, stop)))
        else:
            yield from _numbers_of(stack)
            stack = []
        _join_last(stack)
        place = stop
    yield from _numbers_of(stack)


def _touched(text: str, place: int, step: int) -> bool:
    """Whether a run goes on here, or there are marks and then a run: a bracket would be within a run.

    Or there is a word in brackets, which a number without a bracket would be glued to.
    """
    if _bracketed(text, place, step):
        return True
    while 0 <= place < len(text) and text[place] in _TRIMMED:
        place += step
    return 0 <= place < len(text) and _SOLID.match(text, place) is not None


def _bracketed(text: str, place: int, step: int) -> bool:
    """Whether a word in brackets begins here, or ends here if the step is back."""
    if step > 0:
        return _BRACKETED.match(text, place) is not None
    before = _BREAK_BEFORE.search(text, 0, place) if place >= 0 and text[place] in ")]}" else None
    return before is not None and _BRACKETED.fullmatch(text, before.start(), place + 1) is not None


def _join_last(stack: list[tuple[str, Span, Span]]) -> None:
    if not stack or stack[-1][0] != "number":
        return
    blank = len(stack) > 2 and stack[-2][0] not in ("number", "(")
    first = -3 if blank else -2
    if len(stack) > 1 and stack[first][0] == "number":
        span = stack[first][1][0], stack[-1][1][1]
        stack[first:] = [("number", span, span)]


def _numbers_of(stack: list[tuple[str, Span, Span]]) -> Iterator[Span]:
    return (inner for kind, _, inner in stack if kind == "number")
