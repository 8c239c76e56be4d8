"""Segmentation of text into gaps, words and strings (other tokens, such as numbers and addresses).

The sanitizer copies gaps unchanged, but never words and strings. Terms (docs/format-staircase.md, "Segments"):

- A *gap* is white space or punctuation (Unicode White_Space or general category P).
- A *word* consists of ordinary letters between default word boundaries of UAX #29.
- A *string* is any other token: a number, an email address, a URL, an emoticon and so on. Its *shape* is its kind, such
  as ``email``. No two words or strings touch.
- A *break* is a blank or a separating mark. A *run* is the text between two breaks, without the marks at its ends.
- A *trigger* is a digit, a symbol, an emoji, an at sign, a letter of a script without blanks, a domain name and so on.
  A run with a trigger is a string.

Three kinds of strings continue across breaks: URLs, numbers in groups, and words in brackets as in ``name(at)host``.
Quotation marks always end a string: if ``"Mary Smith"@host`` were one string, its quotation marks would be paired with
other ones of the line.

Numbers join if only single blanks or round brackets are between them. The grammar has two rules: ``D = E (" "? E)*``
and ``E = number | "(" D ")"``. A string is a D up to its last number outside of brackets; a bracketed part after that
number is not a part of the string. So every string of numbers ends in a number, and the reading of the text after it
does not depend on the values of these numbers. A string that begins with a bracket never touches the text before it.

Privacy:
    Whether a text is a string depends on its shape and on the breaks and marks around it. Any other string of the same
    shape could be in its place: the two are *exchangeable* (docs/format-staircase.md). For this reason all strings
    except URLs end at the same breaks, and all numbers join their neighbors. No trigger depends both on the letters of
    one word and on the next word. All strings except emoticons end like an ordinary run, and strings that begin with a
    bracket touch no run before them.
"""

import re
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from heapq import merge
from typing import Any

import regex

from textveil.bundle.rules import english_rules
from textveil.lazy import CHARACTERS, LazyPattern, load_data
from textveil.text.segmentation.patterns import (
    BREAK_BEFORE,
    DOMAINS,
    HARD_BREAKS,
    MAX_WORD_LENGTH,
    NUMBER_SEPARATORS,
    SOFT_BREAKS,
    TRIM_PATTERN,
    TRIMMED_MARKS,
    TRIMMED_URL_MARKS,
    UNICODE_CLASSES,
    StringPatterns,
    TextSpan,
    compile_ascii,
    compile_unicode,
    make_word_pattern,
)
from textveil.text.segmentation.words import BYTE_ORDER_MARK

#: Shapes of strings. ``other`` is the shape of a string that has none of the others.
SHAPES = tuple("email url handle path date time phone year number ordinal-number other".split())
_CHARACTERS = load_data(CHARACTERS)
_ENDS_SENTENCE = frozenset(_CHARACTERS["marks"]["sentence_ends"])
#: Patterns of English, which decide the types of strings in the mode ``names`` too.
_ENGLISH = english_rules().patterns
_DIGIT_YEARS = LazyPattern(re.compile, _CHARACTERS["patterns"]["digit_years"])
_PHONE = LazyPattern(re.compile, _CHARACTERS["patterns"]["phone_number"])
_WITH_GROUPS = LazyPattern(re.compile, _CHARACTERS["patterns"]["number_with_groups"])
_MIN_PHONE_DIGITS, _MAX_PHONE_DIGITS = 7, 15
_GAP = regex.compile(r"[\p{White_Space}\p{P}]+")
_URL = LazyPattern(regex.compile, r"://|(?i:www)\.[\p{L}\p{N}]")
_ALNUM = r"[\p{L}\p{M}\p{N}]"
_DOMAIN = LazyPattern(regex.compile, rf"(?<={_ALNUM})\.(?:\p{{L}}{{2,24}}[/?#:]|(?i:{DOMAINS})(?!{_ALNUM}))")
_NO_DOMAIN = frozenset("@＠﹫([{")
_IN_NUMBERS = r"\p{Nd}\p{Sc}+\-‐‑–−.,/%#"
_NUMERIC = LazyPattern(regex.compile, rf"(?=[^\p{{Nd}}]*+\p{{Nd}})[{_IN_NUMBERS}]++")
_GROUPED = LazyPattern(regex.compile, rf"(?=[^\p{{Nd}}]*+\p{{Nd}})[{_IN_NUMBERS}{NUMBER_SEPARATORS}]++")
_LETTERS = LazyPattern(regex.compile, f"[{UNICODE_CLASSES.letter}]++", regex.V1)
_SOLID_STRING = LazyPattern(re.compile, r"(?=[^0-9@]*[0-9@])@?[a-z0-9](?:[a-z0-9@/.:,+%#$_~&=?-]*[a-z0-9])?")
_SEPARATORS = LazyPattern(re.compile, f"[{NUMBER_SEPARATORS}]+")
_SOLID = LazyPattern(regex.compile, rf"[^\p{{White_Space}}{HARD_BREAKS}{SOFT_BREAKS}{TRIM_PATTERN}]")
_BRACKETED = LazyPattern(regex.compile, lambda: rf"[(\[{{]{make_word_pattern(UNICODE_CLASSES)}[)\]}}]", regex.V1)


def split_at_strings(text: str, *, lone_clitics: bool = False) -> Iterable[tuple[int, int, bool]]:
    """Find the strings of a text (tokens that are no plain words, such as ``a@b.org``): the first step of splitting.

    Args:
        text: Any text.
        lone_clitics: Whether an ending after a blank, such as ``'re`` in ``they 're``, is one segment with its
            apostrophe.

    Returns:
        The strings and the parts between them, in order. Each has a start, an end, and whether it is a single segment
        (a string or a clitic after a blank). An empty text has one part.
    """
    single_spans: Iterable[TextSpan] = find_strings(text)
    if lone_clitics and ("'" in text or "\u2019" in text):
        # No string overlaps such a clitic: only blanks, and marks that cannot begin a string, are next to it.
        clitics = (match.span() for match in get_patterns(text).lone_clitic.finditer(text))
        single_spans = merge(single_spans, clitics)
    return _iterate_parts(text, single_spans) if single_spans else ((0, len(text), False),)


def _iterate_parts(text: str, strings: Iterable[TextSpan]) -> Iterator[tuple[int, int, bool]]:
    position = 0
    for start, end in strings:
        if start > position:
            yield position, start, False
        yield start, end, True
        position = end
    if position < len(text):
        yield position, len(text), False


def split_words_and_gaps(part: str, *, marks_apart: bool) -> list[str]:
    """Split a text into words and gaps (blanks and punctuation).

    Args:
        part: The text between two strings (tokens such as email addresses).
        marks_apart: Whether each punctuation mark is a separate segment, and blanks are omitted.
    """
    return _get_pattern(part, marks_apart).findall(part)


def split_text(text: str, *, marks_apart: bool = False, lone_clitics: bool = False) -> list[str]:
    """Split ``text`` into segments: words, other tokens and gaps. Joined, the segments are the text.

    Args:
        text: Any text, including lone UTF-16 surrogates and control characters.
        marks_apart: Whether each punctuation mark is a segment, and blanks are omitted. Use it if punctuation is
            sanitized: the number of segments then does not depend on spacing.
        lone_clitics: See ``split_at_strings``.

    Returns:
        Gaps (blanks and punctuation), words and strings (other tokens) in order. A segment is either a gap (``is_gap``)
        or contains no part of a gap.

    >>> split_text("Order 4-711, please.")
    ['Order', ' ', '4-711', ', ', 'please', '.']
    """
    words = _get_pattern(text, marks_apart).findall
    tokens_and_gaps: list[str] = []
    for start, end, is_one in split_at_strings(text, lone_clitics=lone_clitics):
        part = text[start:end]
        tokens_and_gaps += [part] if is_one else words(part)
    return tokens_and_gaps


def split_entry(entry: str) -> tuple[str, list[str]]:
    """Strip blanks and a byte order mark from an entry of a user's list, and return the text and its tokens."""
    stripped = entry.removeprefix(BYTE_ORDER_MARK).strip()
    return stripped, [segment for segment in split_text(stripped) if not is_gap(segment)]


def iterate_split_text(text: str, *, marks_apart: bool, lone_clitics: bool = False) -> Iterator[str]:
    """Yield the result of ``split_text`` (words, other tokens, gaps) one by one, for texts too long for a list.

    The arguments are those of ``split_text``.
    """
    words = _get_pattern(text, marks_apart).finditer
    for start, end, is_one in split_at_strings(text, lone_clitics=lone_clitics):
        if is_one:
            yield text[start:end]
        else:
            yield from (match.group() for match in words(text, start, end))


def _get_pattern(text: str, marks_apart: bool) -> Any:
    found = get_patterns(text)
    return found.word_or_mark if marks_apart else found.word_or_gap


def get_patterns(text: str) -> StringPatterns:
    """Return the regular expressions that split ``text``: fast ones for ASCII, or those for all characters."""
    return compile_ascii() if text.isascii() else compile_unicode()


def is_string(segment: str) -> bool:
    """Return whether a segment is a string: a token that is not a plain word.

    A string contains digits or signs (a number, an email address, a URL), is an emoticon, or is very long. No
    vocabulary contains strings.

    >>> is_string("a@b.org"), is_string("word")
    (True, False)
    """
    if not segment[:1].isalnum() and _GAP.fullmatch(segment) is not None:
        return is_emoticon(segment)
    if len(segment) > MAX_WORD_LENGTH:
        return True
    return get_patterns(segment).trigger.search(segment) is not None


def is_letters(text: str) -> bool:
    """Return whether a text consists of ordinary letters only. Such a text is a single word."""
    return _LETTERS.fullmatch(text) is not None


def is_solid(text: str) -> bool:
    """Return whether a text surely is a single token with a digit or an at sign, such as ``a@b.org``. The test is fast.

    The test requires a digit or an at sign, no blank or separating mark inside, and no mark at the ends. If the result
    is false, the text may still be one string.
    """
    return _SOLID_STRING.fullmatch(text) is not None


def is_emoticon(segment: str) -> bool:
    """Return whether a segment is an emoticon, such as ``:-)``.

    An emoticon is a token, although it may consist of punctuation only: other punctuation is a gap.
    """
    return segment[:1] in (":", ";") and get_patterns(segment).emoticon.fullmatch(segment) is not None


def is_gap(segment: str) -> bool:
    """Return whether a part of a split text is only white space and punctuation, and not an emoticon.

    >>> is_gap(", "), is_gap("word"), is_gap(":-)")
    (True, False, False)
    """
    return not segment[:1].isalnum() and _GAP.fullmatch(segment) is not None and not is_emoticon(segment)


def begins_sentence(gap: str | None) -> bool:
    """Return whether the token after a gap (blanks and punctuation) starts a sentence.

    Args:
        gap: The whole gap before the token; ``None`` for the first token of a text.
    """
    return gap is None or not _ENDS_SENTENCE.isdisjoint(gap)


def classify_shape(string: str) -> str:
    """Return the shape (one of ``SHAPES``) of a string, a token that is no plain word.

    >>> classify_shape("$49.99"), classify_shape("a@b.org")
    ('number', 'email')
    """
    if is_numeric(string):
        return _classify_numeric_shape(string)
    if string[0] in "@＠﹫":
        return "handle"
    if is_url(string):
        return "url"
    if is_emoticon(string):
        return "other"
    if _ENGLISH.email.fullmatch(string):
        return "email"
    digits = _write_ascii_digits(string)
    if _ENGLISH.time.fullmatch(digits):
        return "time"
    if _ENGLISH.ordinal.fullmatch(digits):
        return "ordinal-number"
    return "path" if _ENGLISH.path.fullmatch(string) else "other"


def _classify_numeric_shape(string: str) -> str:
    """Return which kind of number a text is, such as ``0171 123 456``: year, date, phone or number."""
    if _ENGLISH.year.fullmatch(string):
        return "year"
    digits = _write_ascii_digits(string)
    if _ENGLISH.date.fullmatch(digits):
        return "date"
    is_phone = (
        _MIN_PHONE_DIGITS <= sum(map(str.isdecimal, string)) <= _MAX_PHONE_DIGITS
        and _PHONE.fullmatch(digits)
        and _WITH_GROUPS.search(digits)
        and not _DIGIT_YEARS.fullmatch(digits)
    )
    return "phone" if is_phone else "number"


def _write_ascii_digits(string: str) -> str:
    """Replace each digit of other scripts by a zero, so that ASCII patterns of dates and times match."""
    return string if string.isascii() else "".join("0" if c.isdecimal() and not c.isascii() else c for c in string)


def is_numeric(string: str) -> bool:
    """Return whether a token is a number, or consists of numbers in groups, such as ``0171 123 456``.

    Such a token has only digits, signs, currency symbols, joiners, spaces and round brackets.
    """
    return _GROUPED.fullmatch(string) is not None


def is_url(string: str) -> bool:
    """Return whether a string is a URL or a domain name.

    Unlike other tokens, a URL may contain brackets, and continues to the next blank or quotation mark.
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
    """Return the start and the end of every string (token that is no plain word) of ``text``, in order.

    Examples of strings are numbers, email addresses and emoticons. Between two strings there is at least one character.
    """
    compiled = get_patterns(text)
    first = compiled.trigger.search(text)
    return () if first is None else _iterate_strings(text, compiled, first)


def _iterate_strings(text: str, compiled: StringPatterns, first: Any) -> Iterator[TextSpan]:
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


def _iterate_single_strings(text: str, compiled: StringPatterns, match: Any) -> Iterator[TextSpan]:
    """Yield the start and the end of each string (token such as ``a@b.org`` or a number) of a text.

    The caller then joins adjacent numbers. ``match`` is the first mark or digit that no plain word has: ``@``.
    """
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
    """Return the index of the next break at or after ``position``: a blank or a mark that ends a string."""
    while (end := part.match(text, position).end()) > position:
        position = end
    return position


def _contains_trigger(compiled: StringPatterns, match: Any, text: str, start: int, end: int) -> bool:
    """Return whether a part of a text is a string, a token such as ``a@b.org`` that is no plain word.

    The part, from ``start`` to ``end``, has no blanks, and no marks at its ends. ``match`` is a mark or digit in or
    beside it that no plain word contains; it may also belong to punctuation alone, which is no string.
    """
    if text[match.start()] in "@＠﹫\\:/" and _GAP.fullmatch(text, start, end) is not None:
        return False
    inside = start <= match.start() and match.end() <= end
    return inside or (start < end and compiled.trigger.search(text[start:end]) is not None)


def _trim_marks(text: str, start: int, end: int, marks: str) -> TextSpan:
    """Shorten the range ``(start, end)`` of a text: remove ``marks`` at its end and ``TRIMMED_MARKS`` at its start."""
    while start < end and text[start] in TRIMMED_MARKS:
        start += 1
    while end > start and text[end - 1] in marks:
        end -= 1
    return start, end


class NumberGroup:
    """A group of numbers with only blanks and brackets between them, such as ``+49 (30) 1234``.

    The class decides which of the numbers together form one token.

    Args:
        text: The whole text.
        after: End of the token before the numbers.
        first: Start and end of the first number.

    Attributes:
        end: End of the last number.
    """

    def __init__(self, text: str, after: int, first: TextSpan) -> None:
        self._text, self._after, self._first = text, after, first
        self._joiner: _NumberJoiner | None = None  # created at the second number
        self.end: int = first[1]

    def accepts_number_at(self, start: int) -> bool:
        """Return whether a number that begins at ``start`` continues this group: only blanks or brackets precede."""
        return _SEPARATORS.fullmatch(self._text, self.end, start) is not None

    def add_number(self, number: TextSpan) -> Iterator[TextSpan]:
        """Add the next number, and yield the tokens (of one number or several) that are now complete."""
        self.end = number[1]
        if self._joiner is None:
            index = self._first[0]
            while index > self._after and self._text[index - 1] == "(":
                index -= 1
            self._joiner = _NumberJoiner(self._text, index)
            yield from self._joiner.read_number(self._first)
        yield from self._joiner.read_number(number)

    def close_group(self) -> Iterable[TextSpan]:
        """End the group because no number follows, and return the tokens that were held back until now."""
        return (self._first,) if self._joiner is None else self._joiner.release_pending()


class _NumberJoiner:
    """Joins numbers in groups, such as ``+49 (30) 1234``, to one token, by the grammar in the module docstring.

    The class stores only positions, in arrays, so that an open bracket or an incomplete token takes only a few bytes.
    """

    def __init__(self, text: str, index: int) -> None:
        self._text, self._position = text, index
        self._number = "I" if len(text) < 1 << 32 else "Q"  # four bytes, or eight
        self._outer_start = index  # start of the outermost D
        self._clear_pending()

    def read_number(self, number: TextSpan) -> Iterator[TextSpan]:
        """Read the text up to the end of a number, and yield the tokens that are now complete."""
        for index in range(self._position, number[0]):
            yield from self._read_mark(index)
        if not self._open and not self._starts:
            self._outer_start = number[0]
        # The number and the part before it of the same D are one string.
        start = self._open[-1] + 1 if self._open else self._outer_start
        first = bisect_left(self._starts, start)
        del self._starts[first:], self._ends[first:]
        self._starts.append(start)
        self._ends.append(number[1])
        self._position, self._blank = number[1], False

    def release_pending(self) -> Iterable[TextSpan]:
        """Return and forget the tokens that were held back; call this when no later number can extend them."""
        found = zip(self._starts, self._ends, strict=True)
        self._clear_pending()
        return found

    def _clear_pending(self) -> None:
        self._open = array(self._number)  # positions of open brackets
        self._starts, self._ends = array(self._number), array(self._number)  # the pending strings
        self._blank = False  # whether the last character was a blank

    def _read_mark(self, index: int) -> Iterable[TextSpan]:
        """Read a bracket or blank beside numbers, and return the tokens that end before it."""
        mark = self._text[index]
        waits = not self._blank and len(self._starts) > 0 and (not self._open or self._starts[-1] > self._open[-1])
        if mark == "(":
            if not self._open and not self._starts:
                if _would_touch(self._text, index - 1):
                    return ()  # the text before the bracket would touch the number
                self._outer_start = index
            self._open.append(index)
            self._blank = False
        elif not waits or (mark == ")" and not self._open):
            return self.release_pending()
        elif mark == ")":
            self._open.pop()
        else:
            self._blank = True
        return ()


def _would_touch(text: str, index: int) -> bool:
    """Return whether a number after position ``index`` would touch a word or other token before it.

    Only marks, or a word in brackets, may be between the token and the number: the ``.`` in ``v.(30)``.
    """
    if index >= 0 and text[index] in ")]}":
        before = BREAK_BEFORE.search(text, 0, index)
        if before is None or not _BRACKETED.fullmatch(text, before.start(), index + 1):
            return False
        return before.start() > 0 and _SOLID.match(text, before.start() - 1) is not None
    while index >= 0 and text[index] in TRIMMED_MARKS:
        index -= 1
    return index >= 0 and _SOLID.match(text, index) is not None
