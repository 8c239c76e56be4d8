"""Forms in which a reply may mention a surrogate, and the original in the same form.

Forms are plurals, grouped digits, telephone numbers, dates in five notations, initials of a person, and tags in other
brackets.
"""

import re
import unicodedata
from collections.abc import Iterator
from typing import NamedTuple

from textveil.bundle.layout import RULES
from textveil.lazy import load_data
from textveil.text.segmentation import TITLE, UPPER, apply_case, case_pattern, is_string, key

#: A number: whole part, with or without commas between groups of three digits, and optional decimals.
_NUMBER = re.compile(r"(\d{1,3}(?:,\d{3})+|\d+)(\.\d+)?")
_MONTHS = load_data(RULES)["months"]["names"]
_BY_NAME = {name[:length].lower(): place for place, name in enumerate(_MONTHS, 1) for length in (3, len(name))}
_BY_NAME |= load_data(RULES)["months"]["short"]
_PHONE = re.compile(r"(\d{3})-(\d{3})-(\d{4})")
_ISO = re.compile(r"(?P<y>\d{4})-(?P<m>\d\d?)-(?P<d>\d\d?)")
_DAY_FIRST = re.compile(r"(?P<d>\d\d?) (?P<month>[a-z]+)\.?(?: (?P<y>\d{4}))?", re.IGNORECASE)
_MONTH_FIRST = re.compile(r"(?P<month>[a-z]+)\.? (?P<d>\d\d?)(?:,? (?P<y>\d{4}))?", re.IGNORECASE)
#: Date notations with a year, and (``_SHORT_DATES``) without one.
_WHOLE_DATES = {
    "iso": "{y:04d}-{m:02d}-{d:02d}",
    "day first": "{d} {month} {y}",
    "month first": "{month} {d}, {y}",
    "numeric": "{m}/{d}/{y}",
    "numeric, padded": "{m:02d}/{d:02d}/{y}",
}
_SHORT_DATES = {"day first": "{d} {month}", "month first": "{month} {d}"}
_SHORTEST_PLURAL, _GROUP_DIGITS = 3, 3
_LEAST_WORDS = 2
#: A tag, and the other brackets and separators in which replies write one. Without brackets, ``person 1`` may be a
#: phrase of the reply itself.
_TAG = re.compile(r"\[([\w-]+) (\d+)\]")
_TAGS = ("[{}{}]", "[{}_{}]", "[{}-{}]", "({} {})", "({}{})", "({}_{})", "{{{} {}}}", "{{{}{}}}", "{{{}_{}}}")
TAG, BARE_TAG = "tag", "bare tag"
#: Notations of a person with initials. Initials depend on the person, so the original gets its own initials.
_INITIALS = {
    "initial": "{first}. {last}",
    "initial without dot": "{first} {last}",
    "initials": "{all}. {last}",
    "initials without blanks": "{tight}. {last}",
    "initial last": "{last}, {first}.",
    "initial after Dear": "Dear {first}.,",
    "initial after Hi": "Hi {first}.,",
}
_BEFORE = re.compile(r"(\w[\w'\u2019]*)[^\w$\u20ac\u00a3\u00a5#]{1,3}\Z|([$\u20ac\u00a3\u00a5#])\Z")
#: Number of characters before a position that are kept in memory to find the word before it.
BEHIND = 48


class Pair(NamedTuple):
    """A surrogate of a sanitized text and the original that it replaces.

    Attributes:
        output: The surrogate as spelled; in lower case if its case carries no information.
        original: The original text.
        lead: Number of leading characters of ``output`` that replace ``original``; the rest is context. 0 means all.
        weak: Whether the surrogate is so short that only context distinguishes it from other words of a reply.
        before: Folded word or sign that must precede a weak surrogate; empty if none does.
        after: Text after the surrogate in the sanitized text, where ``before`` is the text before it: a reply that
            repeats both quotes the passage (see ``surroundings``). ``None`` for pairs that apply at any position.
    """

    output: str
    original: str
    lead: int = 0
    weak: bool = False
    before: str = ""
    after: str | None = None


#: A form of a surrogate: its pair, and the name of the notation; empty where the form is the surrogate as sent.
Form = tuple[Pair, str]


def original_of(form: Form, written: str) -> str:
    """Return the original in the notation of ``form`` and in the case of ``written``."""
    pair, way = form
    output, original = pair.output[: pair.lead or None], pair.original
    if way == TAG:
        return original
    if way in _INITIALS:
        shortened = _write_initials(original)[way] if original.split() else original
        return shortened.upper() if written.isupper() else shortened
    if way == "plural":
        return in_case_of(written, _plural(output), _plural(original))
    if way == "number":
        return _as_number(written, output, original)
    date = _parsed(original) if way else None
    return in_case_of(written, output, original) if date is None else _written(date).get(way, original)


def folded(text: str) -> str:
    """Return ``text`` case folded, in the form NFKD and with straight apostrophes.

    The length may change: callers that need positions fold one character at a time.
    """
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold()).replace("\u2019", "'")


def forms(pair: Pair) -> Iterator[tuple[str, str]]:
    """Yield each form of a surrogate, folded, with the name of its notation.

    The unchanged form is the first, with an empty name.
    """
    output = pair.output
    yield " ".join(folded(output).split()), ""
    if pair.lead or pair.weak:
        return
    if output[:1] == "[" and (tag := _TAG.fullmatch(output)) is not None:
        for written in _TAGS:
            yield folded(written.format(*tag.groups())), TAG
        yield folded(" ".join(tag.groups())), BARE_TAG
        return
    if " " in output:
        for way, written in _find_initials(output).items():
            yield folded(written), way
    if output.replace(" ", "").isalpha():
        if len(output) >= _SHORTEST_PLURAL:
            simple, plural = f"{output}s", _plural(output)
            yield folded(simple), "plural"
            if plural != simple:
                yield folded(plural), "plural"
        return
    if (number := _NUMBER.fullmatch(output)) is not None:
        whole, decimals = number[1].replace(",", ""), number[2] or ""
        is_short = len(whole) <= _GROUP_DIGITS and whole.isascii()
        grouped = whole if is_short or whole[0] == "0" else f"{int(whole):,}"
        for written in (whole,) if grouped == whole else (whole, grouped):
            yield written + decimals, "number"
            if not decimals:
                yield written + ".00", "number"
    elif (phone := _PHONE.fullmatch(output)) is not None:
        for way in ("({}) {}-{}", "{}.{}.{}", "{} {} {}", "{}{}{}"):
            yield way.format(*phone.groups()), way
    elif (date := _parsed(output)) is not None:
        for way, written in _written(date).items():
            yield folded(written), way


def _find_initials(name: str) -> dict[str, str]:
    """Return the forms of a name with initials, by notation.

    The result is empty unless the name has two or more capitalized words.
    """
    words = name.split(" ")
    if len(words) < _LEAST_WORDS or not all(word[:1].isupper() and word.rstrip(".").isalpha() for word in words):
        return {}
    return _write_initials(name)


def _write_initials(name: str) -> dict[str, str]:
    words = name.split()
    given = [word[0].upper() for word in words[:-1] or words if word[0].isalpha()] or ["?"]
    letters = {"first": given[0], "all": ". ".join(given), "tight": ".".join(given), "last": words[-1]}
    return {way: written.format(**letters) for way, written in _INITIALS.items()}


def in_case_of(written: str, output: str, original: str) -> str:
    """Return the original with the case that ``written`` implies.

    The original keeps its own spelling if ``written`` has the case pattern of the surrogate ``output``, or if original
    or surrogate is a string such as an address or a number; otherwise it gets the case pattern of ``written``.
    """
    pattern, sent = case_pattern(written), case_pattern(output)
    if pattern == sent and any(map(str.isupper, output)):
        return original
    if is_string(original) or is_string(output) or not any(map(str.isalpha, written)) or written.startswith("["):
        return original
    own = case_pattern(original)
    if own == pattern or (pattern == TITLE and (sent == UPPER or apply_case(key(original), own) != original)):
        return original  # some words have their own case
    if pattern == TITLE or " " in original:
        return original.upper() if pattern == UPPER else original[:1].upper() + original[1:] if pattern else original
    return apply_case(key(original), pattern)


def _plural(word: str) -> str:
    small = word.lower()
    if small.endswith(("s", "x", "z", "ch", "sh")):
        end = "es"
    elif word == small and small.endswith("y") and small[-2:-1] not in "aeiou":
        return word[:-1] + "ies"
    else:
        end = "s"
    return word + (end.upper() if len(word) > 1 and word.isupper() else end)


def _as_number(written: str, output: str, original: str) -> str:
    """Return the original number in the notation of ``written``.

    The result has commas or ``.00`` where ``written`` has them and the surrogate ``output`` does not.
    """
    own = _NUMBER.fullmatch(original)
    if own is None or own[1][0] == "0":
        return original
    whole, decimals = own[1].replace(",", ""), own[2] or ""
    if "," in written:
        whole = f"{int(whole):,}"
    elif "," not in output:
        whole = own[1]
    return whole + (decimals or (".00" if written.endswith(".00") and "." not in output else ""))


def _parsed(text: str) -> tuple[int | None, int, int] | None:
    """Return year (or ``None``), month and day of a date in an unambiguous order."""
    match = _ISO.fullmatch(text) or _DAY_FIRST.fullmatch(text) or _MONTH_FIRST.fullmatch(text)
    if match is None:
        return None
    found = match.groupdict()
    month = int(found["m"]) if "m" in found else _BY_NAME.get(found["month"].lower(), 0)
    if not (1 <= month <= 12 and 1 <= int(found["d"]) <= 31):
        return None
    return int(found["y"]) if found["y"] else None, month, int(found["d"])


def _written(date: tuple[int | None, int, int]) -> dict[str, str]:
    year, month, day = date
    ways = _SHORT_DATES if year is None else _WHOLE_DATES
    return {way: form.format(y=year, m=month, d=day, month=_MONTHS[month - 1]) for way, form in ways.items()}


def word_before(text: str) -> str:
    """Return the folded word, currency sign or number sign at the end of ``text``.

    One to three marks or blanks must follow the word; a sign must be the last character. Otherwise the result is empty.
    """
    match = _BEFORE.search(text[-BEHIND:])
    return "" if match is None else folded(match[1] or match[2])
