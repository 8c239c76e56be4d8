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
from textveil.lazy import LazyPattern, load_data
from textveil.text.segmentation.characters import (
    ASCII_CLASSES,
    BREAK_BEFORE,
    HARD_BREAKS,
    NUMBER_SEPARATORS,
    SOFT_BREAKS,
    TRIM_PATTERN,
    TRIMMED_MARKS,
    TRIMMED_URL_MARKS,
    UNICODE_CLASSES,
    CharacterClasses,
    TextSpan,
    make_two_letter_pattern,
    make_word_pattern,
)

#: Years, and ordinals in digits.
_ENGLISH = load_data(RULES)
YEAR = LazyPattern(re.compile, _ENGLISH["patterns"]["year"]["text"])
ORDINAL = LazyPattern(re.compile, r"\d+(?:,\d{3})*(?:st|nd|rd|th)", re.IGNORECASE)
#: Longer words count as strings of no type: folding one may produce eighteen times its characters.
MAX_WORD_LENGTH = 1000
#: Domains that make a dotted name a URL. No common English word is among them: texts often lack the space after a full
#: stop.
_DOMAINS = "|".join(_ENGLISH["domains"]["all"] + _ENGLISH["domains"]["words"])
_LONE_CLITICS = "|".join(sorted(clitic[1:] for clitic in _ENGLISH["clitics"]["after"]))


def _make_bracketed_pattern(c: CharacterClasses) -> str:
    """Return the pattern, after an opening bracket, of a bracketed word as in ``name(at)host``.

    No blank may be on either side of the brackets.
    """
    solid = rf"[^{c.blank}{HARD_BREAKS}{SOFT_BREAKS}{TRIM_PATTERN}]"
    return rf"(?<={solid}[(\[{{]){make_word_pattern(c)}[)\]}}](?={solid})"


def _make_emoticon_pattern(c: CharacterClasses) -> str:
    """Return the pattern of the mouth of an emoticon, after its eyes: marks or any word.

    A blank or the end of the text must follow, after sentence marks if any. The mouth may be any word: if ``:D`` were a
    string and ``:Cat`` not, the gap would reveal something about the word.
    """
    mouth = rf"(?:'?-?(?:[)(\]\[{{}}]++|[/\\*])|-?{make_word_pattern(c)}:?)"
    return rf"(?<=[:;])(?<![^{c.blank}][:;]){mouth}(?=[.,!?]*+(?:[{c.blank}]|\Z))"


def _make_trigger_pattern(c: CharacterClasses) -> str:
    """Return the pattern of a trigger: a possible first character, then its condition.

    The search is fast because most characters fail the first test.
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


class _StringPatterns:
    """Compiled patterns for one regular expression engine."""

    def __init__(self, compile: Any, c: CharacterClasses) -> None:
        self.trigger: Any = compile(_make_trigger_pattern(c))
        self.emoticon: Any = LazyPattern(compile, f"[:;]{_make_emoticon_pattern(c)}")
        # A part of a run: plain characters, then a bracketed word if one follows.
        self.run: Any = compile(rf"[^{c.blank}{HARD_BREAKS}{SOFT_BREAKS}]*+(?:[(\[{{]{_make_bracketed_pattern(c)}|)")
        self.url: Any = compile(f"[^{c.blank}{HARD_BREAKS}]*+")
        #: Words, and the text between them. No gap of several marks begins like an emoticon.
        self.word_or_gap: Any = compile(f"{make_word_pattern(c)}|[^{c.letter}:;]++|[:;]")
        #: A clitic after a blank, if only sentence marks are between it and the next blank or the end.
        self.lone_clitic: Any = LazyPattern(
            compile, rf"(?<=[{c.blank}])['’](?:{_LONE_CLITICS})(?=[.,;:!?\")]*+(?:[{c.blank}]|\Z))"
        )
        #: Words, and each mark between them.
        self.word_or_mark: Any = LazyPattern(compile, f"{make_word_pattern(c)}|[^{c.letter}{c.blank}]")


#: Self-test: texts, their segments if there were no strings, and the string at each trigger. Some versions of Python
#: match these patterns incorrectly.
_SELF_TEST = (
    ("Dr. O'Neil's..o'e e-mail 'w.w'", "Dr|. |O'Neil's|..|o'e| |e|-|mail| '|w.w|'", ""),
    ("to a.b@c.de, 1(x)2 ", "to| |a.b|@|c|.|de|, 1(|x|)2 ", "@c.de,|@c.de,|.de,|.de,|1(x)|1(x)2|(x)|(x)2|2|2"),
    ('"q r"@z.', '"|q| |r|"@|z|.', "@z.|@z."),
    (" a.com/(b);c :)", " |a|.|com|/(|b|)|;|c| |:|)", ".com/|.com/(b);c|:|:)"),
)
_SELF_TEST_NON_ASCII = (("l’été “é'é”: 中(x)1", "l’été| “|é'é|”|:| 中(|x|)1", "中(x)|中(x)1|(x)|(x)1|1|1"),)
_GAP = regex.compile(r"[\p{White_Space}\p{P}]+")
_URL = LazyPattern(regex.compile, r"://|(?i:www)\.[\p{L}\p{N}]")
_ALNUM = r"[\p{L}\p{M}\p{N}]"
_DOMAIN = LazyPattern(regex.compile, rf"(?<={_ALNUM})\.(?:\p{{L}}{{2,24}}[/?#:]|(?i:{_DOMAINS})(?!{_ALNUM}))")
_NO_DOMAIN = frozenset("@＠﹫([{")
_IN_NUMBERS = r"\p{Nd}\p{Sc}+\-‐‑–−.,/%#"
_NUMERIC = LazyPattern(regex.compile, rf"(?=[^\p{{Nd}}]*+\p{{Nd}})[{_IN_NUMBERS}]++")
_GROUPED = LazyPattern(regex.compile, rf"(?=[^\p{{Nd}}]*+\p{{Nd}})[{_IN_NUMBERS}{NUMBER_SEPARATORS}]++")
_LETTERS = LazyPattern(regex.compile, f"[{UNICODE_CLASSES.letter}]++", regex.V1)
_SOLID_STRING = LazyPattern(re.compile, r"(?=[^0-9@]*[0-9@])@?[a-z0-9](?:[a-z0-9@/.:,+%#$_~&=?-]*[a-z0-9])?")


@cache
def _compile_ascii() -> _StringPatterns:
    return _check_patterns(_StringPatterns(re.compile, ASCII_CLASSES), _SELF_TEST)


@cache
def _compile_unicode() -> _StringPatterns:
    compiled = _StringPatterns(lambda pattern, _=0: regex.compile(pattern, regex.V1), UNICODE_CLASSES)
    return _check_patterns(compiled, _SELF_TEST + _SELF_TEST_NON_ASCII)


def _check_patterns(compiled: _StringPatterns, known: tuple[tuple[str, str, str], ...]) -> _StringPatterns:
    """Return ``compiled`` after a self-test on known texts of a few characters.

    Raises:
        EngineFailed: The engine matches a known text incorrectly.
    """
    for text, segments, strings in known:
        places = [match.start() for match in compiled.trigger.finditer(text)]
        matches = [
            text[at : pattern.match(text, at).end()] for at in places for pattern in (compiled.run, compiled.url)
        ]
        if "|".join(compiled.word_or_gap.findall(text)) != segments or "|".join(matches) != strings:
            raise EngineFailed("the regular expressions of this Python misread a known text: update Python or regex")
    return compiled


def get_patterns(text: str) -> _StringPatterns:
    """Return the patterns for ``text``, compiled at first use.

    The patterns for ASCII are several times faster.
    """
    return _compile_ascii() if text.isascii() else _compile_unicode()


def is_string(segment: str) -> bool:
    """Return whether a segment is a string; a string is an unknown word in every vocabulary."""
    if not segment[:1].isalnum() and _GAP.fullmatch(segment) is not None:
        return is_emoticon(segment)
    if len(segment) > MAX_WORD_LENGTH:
        return True
    return get_patterns(segment).trigger.search(segment) is not None


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
    return segment[:1] in (":", ";") and get_patterns(segment).emoticon.fullmatch(segment) is not None


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
    end = _find_run_end(get_patterns(string).run, string, 0)
    return _contains_host(string[:end].strip(TRIMMED_MARKS))


def _contains_host(run: str) -> bool:
    if run[:1] in ("@", "＠", "﹫") or _GAP.fullmatch(run) is not None:
        return False
    if _URL.search(run) is not None:
        return True
    return _NO_DOMAIN.isdisjoint(run) and _DOMAIN.search(run) is not None


def find_strings(text: str) -> Iterable[TextSpan]:
    """Return start and end of every string of ``text``, in order; no two of them touch."""
    compiled = get_patterns(text)
    first = compiled.trigger.search(text)
    return () if first is None else _iterate_strings(text, compiled, first)


def _iterate_strings(text: str, compiled: _StringPatterns, first: Any) -> Iterator[TextSpan]:
    from textveil.text.segmentation.number_groups import NumberGroup  # most texts have no string

    after, group = 0, None
    for start, end in _iterate_single_strings(text, compiled, first):
        is_numeric = not text[end - 1].isalpha() and _NUMERIC.fullmatch(text, start, end) is not None
        if group is not None:
            if is_numeric and group.accepts_number_at(start):
                yield from group.add_number((start, end))
                continue
            yield from group.close_group()
            after, group = group.end, None
        if is_numeric:
            group = NumberGroup(text, after, (start, end))
        else:
            yield start, end
            after = end
    if group is not None:
        yield from group.close_group()


def _iterate_single_strings(text: str, compiled: _StringPatterns, match: Any) -> Iterator[TextSpan]:
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
            position = _find_run_end(compiled.run, text, trigger)
            start, end = _trim_marks(text, start, position, TRIMMED_MARKS)
            part = text[start:end]
            if ("." in part or "://" in part) and _contains_host(part):
                position = compiled.url.match(text, position).end()
                start, end = _trim_marks(text, start, position, TRIMMED_URL_MARKS)
                yield start, end
                position = end
            elif _contains_trigger(compiled, match, text, start, end):
                yield start, end
                position = end
        match = compiled.trigger.search(text, position)


def _find_run_end(part: Any, text: str, position: int) -> int:
    """Return the end of a run: the end of the last of the consecutive matches of ``part``."""
    while (end := part.match(text, position).end()) > position:
        position = end
    return position


def _contains_trigger(compiled: _StringPatterns, match: Any, text: str, start: int, end: int) -> bool:
    """Return whether a run without the marks at its ends is a string; punctuation alone is none."""
    if text[match.start()] in "@＠﹫\\:/" and _GAP.fullmatch(text, start, end) is not None:
        return False
    inside = start <= match.start() and match.end() <= end
    return inside or (start < end and compiled.trigger.search(text[start:end]) is not None)


def _trim_marks(text: str, start: int, end: int, marks: str) -> TextSpan:
    """Return a span without ``marks`` at its end and without ``TRIMMED_MARKS`` marks at its start."""
    while start < end and text[start] in TRIMMED_MARKS:
        start += 1
    while end > start and text[end - 1] in marks:
        end -= 1
    return start, end


def make_date_pattern(marks: str) -> LazyPattern:
    """Return the pattern of a date: three numbers, separated twice by the same one of ``marks``.

    Args:
        marks: Inside of a character class of separators; a hyphen must be the first.
    """
    return LazyPattern(re.compile, rf"\d\d?([{marks}])\d\d?\1(?:\d\d|\d{{4}})|\d{{4}}([{marks}])\d\d?\2\d\d?")


def make_time_pattern() -> LazyPattern:
    """Return the pattern of a time: hours with a colon and minutes, or with ``am`` or ``pm``."""
    return LazyPattern(re.compile, r"\d{1,2}:\d\d(?::\d\d)?(?:[ap]\.?m)?|\d{1,2}[ap]\.?m", re.IGNORECASE)
