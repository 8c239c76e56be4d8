"""Types of strings.

Each string of more than letters has exactly one type, which is a function of the string. No check digit affects the
type: a type of valid card numbers alone would reveal that a number is valid.
"""

import re

import regex

from textveil.text.names.tokens import INWARD, OUTWARD
from textveil.text.segmentation import strings

#: Number of digits from which a number without group marks is an identifier.
IDENTIFIER_DIGITS = 7
#: Number of digits from which several groups of digits are a card number.
CARD_DIGITS = 13

_TLD = (
    "com org net io gov edu mil int info biz co uk de fr nl eu ru ch au ca jp cn br es it pl se no dk us me tv app dev "
    "ai xyz online site gl ly"
).replace(" ", "|")
_FILES = (
    "pdf docx? xlsx? pptx? csv tsv txt md rtf odt html? xml json ya?ml zip gz tar rar 7z exe py js ts java cpp jpe?g "
    "png gif svg bmp mp3 mp4 mov avi wav log sql db cfg conf ini key pem"
).replace(" ", "|")
_DASH = "[-\u2010\u2011\u2012\u2013]"

_EMAIL = re.compile(r"[^@]+@[^@]*\.[^@.]+|[^()\[\]{}]+[(\[{]at[)\]}].+", re.IGNORECASE | re.DOTALL)
_URL = re.compile(
    rf".*://.*|(?:mailto|tel):.*|www\..+|(?:[\w-]+\.)+(?:{_TLD})(?:[/:?#].*)?|(?:[\w-]+\.)+[a-z]{{2,24}}[/?#].*",
    re.IGNORECASE | re.DOTALL,
)
_PATH = re.compile(r"[/~\\].*|[A-Za-z]:[/\\].*|.*\\.*|[^/]+(?:/[^/]+){2,}/?", re.DOTALL)
_FILE = re.compile(rf"[^/\\]+\.(?:{_FILES})", re.IGNORECASE | re.DOTALL)
_IP = re.compile(
    r"\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?(?:/\d+)?|(?=.*[0-9])(?:[0-9a-f]{0,4}:){3,}[0-9a-f]{0,4}", re.IGNORECASE
)
_MAC = re.compile(r"[0-9a-f]{2}(?:[:-][0-9a-f]{2}){5}", re.IGNORECASE)
_TIME, _DATE = strings.time(r"(?:\.\d\d)?"), strings.date("-/.\u2010-\u2013")
#: A year and the last two digits of another: a season if that is the next year.
_SEASON = re.compile(rf"({strings.YEAR.pattern})(/|{_DASH})([0-9]{{2}})")
_YEARS = re.compile(rf"(?:{strings.YEAR.pattern})(/|{_DASH})(?:{strings.YEAR.pattern})")
#: Two times, of which the second one must have more than an hour: *7-9pm*.
_TIMES = re.compile(rf"(?:{_TIME.pattern}|\d{{1,2}}){_DASH}(?:{_TIME.pattern})", re.IGNORECASE)
_ENDING = re.compile(r"([ap])(\.?m)", re.IGNORECASE)
_DECADE = re.compile(r"(?:1[5-9]|20)?\d0['\u2019]?s", re.IGNORECASE)
_NUMBER = re.compile(r"(?P<whole>\d{1,3}(?:,\d{3})+|\d*)(?:(?P<mark>[.,])(?P<decimals>\d+))?")
#: Numbers that match no pattern before ``number_kind``.
PLAIN_NUMBER = re.compile(r"[0-9]+(?:[-./,][0-9]+)?|[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?")
_DIGITS = re.compile(rf"\d+(?:(?:[./]|{_DASH})\d+)*")
_ASCII_DIGITS = re.compile(r"[\x00-\x7f\u2010-\u2013]+")
_IBAN = re.compile(r"[A-Z]{2}\d{2}[A-Z0-9]{8,30}")
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_HASH = re.compile(r"(?=.*\d)(?=.*[a-f])[0-9a-f]{8,}", re.IGNORECASE)
_OUTWARD, _INWARD = (re.compile(code, re.IGNORECASE) for code in ("[a-z]{1,2}[0-9][a-z0-9]?", "[0-9][a-z]{2}"))
_SSN = re.compile(rf"\d{{3}}{_DASH}\d\d{_DASH}\d{{4}}")
_WITH_UNIT = re.compile(
    r"([0-9]+(?:[.,][0-9]+)?)(km|cm|mm|nm|kg|mg|g|ml|l|lbs?|oz|ft|in|mph|kmh|hz|khz|mhz|ghz|kb|mb|gb|tb|k|m|mn|bn|b|x|px|p|"
    r"hrs?|h|mins?|min|secs?|s|ms|d|w|y|yrs?|yo|c|f|v|kw|mw|mah|am|pm)",
    re.IGNORECASE,
)
_WORDLIKE = regex.compile(r"[\p{L}\p{M}\p{N}_-]+")
#: Length from which a string of letters and digits has the type of a key or a password.
_KEY_LENGTH = 12


def string_kind(string: str) -> tuple[str, str]:
    """Return the type and the layout of a string that does not consist of letters alone.

    Args:
        string: A chunk without the marks at its ends.

    Returns:
        The type, and the public layout: the digits of a number, an empty string for most types.
    """
    if not string.isascii():
        return _beyond_ascii(string)
    if PLAIN_NUMBER.fullmatch(string):
        return number_kind(string)
    if "@" in string:
        return ("handle" if string[0] == "@" else "email" if _EMAIL.fullmatch(string) else "key"), ""
    if string[0] == "#":
        return "hashtag", ""
    for kind, pattern in (("mac", _MAC), ("ip", _IP), ("time", _TIME), ("date", _DATE), ("ordinal", strings.ORDINAL)):
        if pattern.fullmatch(string):
            return kind, time_layout(string) if kind == "time" else ""
    if _TIMES.fullmatch(string):
        return "time", time_layout(string)
    if _DECADE.fullmatch(string):
        return "decade", ""
    if "." in string or ":" in string:
        if _URL.fullmatch(string):
            return "url", ""
        if _EMAIL.fullmatch(string):
            return "email", ""
    if _DIGITS.fullmatch(string) or _NUMBER.fullmatch(string):
        return number_kind(string)
    if _FILE.fullmatch(string):
        return "file", ""
    if _PATH.fullmatch(string):
        return "path", ""
    if _EMAIL.fullmatch(string):
        return "email", ""
    return _identifier(string), ""


def number_kind(string: str) -> tuple[str, str]:
    """Return the type and the layout of digits with marks between them.

    The string may also be several groups of digits, with hyphens in place of the blanks between them.
    """
    if strings.YEAR.fullmatch(string):
        return "year", ""
    years = _YEARS.fullmatch(string)
    if years is not None:
        return "year-range", years[1]
    season = _SEASON.fullmatch(string)
    if season is not None and (int(season[1]) + 1) % 100 == int(season[3]):
        return "season", season[2]
    number = _NUMBER.fullmatch(string)
    if number is not None:
        return _of_number(number["whole"], number["mark"], number["decimals"])
    digits = sum(map(str.isdigit, string))
    if _SSN.fullmatch(string):
        return "ssn", ""
    if digits >= CARD_DIGITS:
        return "card", ""
    if digits >= IDENTIFIER_DIGITS:
        return "phone", ""
    return "digits", re.sub(r"\d", "0", string)


def _of_number(whole: str, mark: str | None, decimals: str | None) -> tuple[str, str]:
    digits = len(whole) - whole.count(",")
    if digits >= IDENTIFIER_DIGITS and "," not in whole:
        return "account", ""
    size = str(digits) if digits < 5 else "5" if digits < 7 else "7" if digits < 10 else "10"
    grouped = "g" if "," in whole else ""
    return "number", size + grouped + (f"{mark}{min(3, len(decimals))}" if decimals else "")


def time_layout(string: str) -> str:
    """Return the layout of a time or a time range: zeros for digits, ``pm`` for either ending.

    An ending whose last letter is a capital becomes ``PM``. An hour without minutes becomes one zero, so that ``7pm``
    and ``11pm`` have one layout.
    """
    if (dash := re.search(_DASH, string)) is not None:
        return time_layout(string[: dash.start()]) + dash[0] + time_layout(string[dash.end() :])
    ending = _ENDING.search(string)
    layout = re.sub("[0-9]", "0", string[: ending.start()] if ending else string)
    after = "" if ending is None else f"p{ending[2].lower()}"
    return ("0" if layout == "00" else layout) + (after.upper() if string[-1] == "M" else after)


def code_half(string: str) -> int:
    """Return which half of a postal code an identifier may be: a bit of its token, or 0."""
    return OUTWARD if _OUTWARD.fullmatch(string) else INWARD if _INWARD.fullmatch(string) else 0


def with_unit(string: str) -> tuple[str, str] | None:
    """Split a number from a unit attached to it, as in ``5kg``; return ``None`` if it has none."""
    # A look-alike of an ASCII letter is no unit.
    match = _WITH_UNIT.fullmatch(string) if string.isascii() else None
    return None if match is None or _TIME.fullmatch(string) or _DECADE.fullmatch(string) else (match[1], match[2])


def _identifier(string: str) -> str:
    if _IBAN.fullmatch(string):  # most IBANs have letters beyond A to F, which no hash has
        return "iban"
    if _UUID.fullmatch(string) or _HASH.fullmatch(string):
        return "hash"
    if len(string) >= _KEY_LENGTH or not _WORDLIKE.fullmatch(string):
        return "key"
    return "id"


def _beyond_ascii(string: str) -> tuple[str, str]:
    if "@" in string or "＠" in string:
        return ("handle" if string[0] in "@＠" else "email"), ""
    if string[0] == "#":
        return "hashtag", ""
    if not any(map(str.isalnum, string)):
        return "symbol", ""
    if "." in string and _URL.fullmatch(string):
        return "url", ""
    if not _ASCII_DIGITS.fullmatch(string):
        return "key", ""
    if _TIMES.fullmatch(string):
        return "time", time_layout(string)
    if _DIGITS.fullmatch(string):
        return number_kind(string)
    return "key", ""
