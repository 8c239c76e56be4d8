"""Entity types of tokens that contain more than letters, such as email addresses and numbers.

In the mode ``names`` such a token is called a *string*. Each string has exactly one type, which is a function of the
string. Check digits do not affect the type: if only valid card numbers had the type of cards, the type would reveal
that a number is valid.
"""

import re

import regex

from textveil.bundle.rules import Patterns
from textveil.text.names.numbers import ENGLISH, classify_number
from textveil.text.names.tokens import IBAN_GROUP, IBAN_HEAD, INWARD, OUTWARD

_IBAN_GROUP = re.compile("[0-9A-Z]{4}")
_AM_OR_PM = re.compile(r"([ap])(\.?m)", re.IGNORECASE)
_ASCII_DIGITS = re.compile(r"[\x00-\x7f\u2010-\u2013]+")
_WORDLIKE = regex.compile(r"[\p{L}\p{M}\p{N}_-]+")
#: A string of letters and digits with at least this many characters has the type ``key``: a key or a password.
_MIN_KEY_LENGTH = 12


def classify_string(string: str, patterns: Patterns = ENGLISH) -> tuple[str, str]:
    """Return the entity type and the layout of a token such as an email address: ``("email", "")``.

    Args:
        string: A text without blanks and without marks at its ends, which does not consist of letters only.
        patterns: Regular expressions of the language.

    Returns:
        The type, and the layout: the part of the token's form that the output reveals, such as the number of digits.
        The layout is empty for most types.
    """
    if not string.isascii():
        return _classify_non_ascii(string, patterns)
    if patterns.plain_number.fullmatch(string):
        return classify_number(string, patterns)
    if "@" in string:
        return ("handle" if string[0] == "@" else "email" if patterns.email.fullmatch(string) else "key"), ""
    if string[0] == "#":
        return "hashtag", ""
    for entity_type in ("mac", "ip", "time", "date", "ordinal"):
        if getattr(patterns, entity_type).fullmatch(string):
            return entity_type, make_time_layout(string, patterns) if entity_type == "time" else ""
    if patterns.time_range.fullmatch(string):
        return "time", make_time_layout(string, patterns)
    if patterns.decade.fullmatch(string):
        return "decade", ""
    if "." in string or ":" in string:
        if patterns.url.fullmatch(string):
            return "url", ""
        if patterns.email.fullmatch(string):
            return "email", ""
    if patterns.digit_groups.fullmatch(string) or patterns.number.fullmatch(string):
        return classify_number(string, patterns)
    if patterns.file.fullmatch(string):
        return "file", ""
    if patterns.path.fullmatch(string):
        return "path", ""
    if patterns.email.fullmatch(string):
        return "email", ""
    return _classify_identifier(string, patterns), ""


def make_time_layout(string: str, patterns: Patterns = ENGLISH) -> str:
    """Return the public form of a time or time range: ``0`` for each digit, and ``pm`` for *am* and *pm*.

    ``AM`` and ``PM`` become ``PM``. An hour without minutes becomes one zero, so that ``7pm`` and ``11pm`` have the
    same result.

    Args:
        string: The time or time range.
        patterns: Regular expressions of the language.
    """
    if (dash := patterns.dash.search(string)) is not None:
        parts = string[: dash.start()], string[dash.end() :]
        return dash[0].join(make_time_layout(part, patterns) for part in parts)
    ending = _AM_OR_PM.search(string)
    layout = re.sub("[0-9]", "0", string[: ending.start()] if ending else string)
    suffix = "" if ending is None else f"p{ending[2].lower()}"
    return ("0" if layout == "00" else layout) + (suffix.upper() if string[-1] == "M" else suffix)


def find_group_flags(string: str, patterns: Patterns = ENGLISH) -> int:
    """Return flags for a text that may be one group of a postal code (``SW1A 1AA``) or of an IBAN.

    Returns:
        Sum of flags; 0 if nothing applies. ``OUTWARD`` and ``INWARD`` are the first and the second half of a British
        postal code. ``IBAN_HEAD`` and ``IBAN_GROUP`` are the first and a later group of four characters of an IBAN.
    """
    flags = 0
    if _IBAN_GROUP.fullmatch(string):
        flags = IBAN_HEAD if string[:2].isalpha() and string[2:].isdigit() else IBAN_GROUP
    if patterns.postcode_start.fullmatch(string):
        return flags | OUTWARD
    return flags | INWARD if patterns.postcode_end.fullmatch(string) else flags


def split_unit(string: str, patterns: Patterns = ENGLISH) -> tuple[str, str] | None:
    """Split a number and the unit directly after it, as in ``5kg``; return ``None`` if there is no unit.

    Args:
        string: The number with its unit.
        patterns: Regular expressions of the language.
    """
    # A unit has ASCII letters only, no characters that look like them.
    match = patterns.number_with_unit.fullmatch(string) if string.isascii() else None
    if match is None or patterns.time.fullmatch(string) or patterns.decade.fullmatch(string):
        return None
    return match[1], match[2]


def _classify_identifier(string: str, patterns: Patterns) -> str:
    if patterns.iban.fullmatch(string):  # most IBANs have letters beyond A to F, which no hash has
        return "iban"
    if patterns.uuid.fullmatch(string) or patterns.hash.fullmatch(string):
        return "hash"
    if len(string) >= _MIN_KEY_LENGTH or not _WORDLIKE.fullmatch(string):
        return "key"
    return "id"


def _classify_non_ascii(string: str, patterns: Patterns) -> tuple[str, str]:
    if "@" in string or "＠" in string:
        return ("handle" if string[0] in "@＠" else "email"), ""
    if string[0] == "#":
        return "hashtag", ""
    if not any(map(str.isalnum, string)):
        return "symbol", ""
    if "." in string and patterns.url.fullmatch(string):
        return "url", ""
    if not _ASCII_DIGITS.fullmatch(string):
        return "key", ""
    if patterns.time_range.fullmatch(string):
        return "time", make_time_layout(string, patterns)
    if patterns.digit_groups.fullmatch(string):
        return classify_number(string, patterns)
    return "key", ""
