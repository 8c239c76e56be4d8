"""The shape of a string."""

from .segments import (
    AT,
    JOINING,
    bracketed_from,
    is_break,
    is_digit,
    is_number_part,
    names_host,
    trimmed,
)

SHAPES = "year date phone number handle url email time ordinal-number path other".split()
BRACKETS, HYPHENS = set("()"), set("-‐‑–")
OPENING, CLOSING = "([{", ")]}"
ASCII_LETTERS = set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")


def digits_of(text: str) -> str:
    """Return the text with every decimal digit as "0", and every letter of it in lower case."""
    return "".join("0" if is_digit(c) else c.lower() if len(c.lower()) == 1 else c for c in text)


def shape_of(string: str) -> str:
    """Return the shape of a string of up to 1,000 code points: the first that fits."""
    if any(map(is_digit, string)) and all(is_number_part(c) or c in BRACKETS | JOINING for c in string):
        return shape_of_number(string)
    if string[0] in AT:
        return "handle"
    if has_host(string):
        return "url"
    if is_address(string):
        return "email"
    bare = digits_of(string)
    if is_time(bare):
        return "time"
    return "ordinal-number" if is_ordinal(bare) else "path" if is_path(string) else "other"


def shape_of_number(string: str) -> str:
    """Return the shape of a number, or of numbers in groups."""
    bare, digits = digits_of(string), sum(map(is_digit, string))
    if len(string) == 4 and string.isascii() and bare == "0000" and "1500" <= string <= "2099":
        return "year"
    for separator in "-/.‐‑–":
        parts = tuple(len(part) for part in bare.split(separator))
        if set(bare) == {"0", separator} and len(parts) == 3:
            day_first = parts[0] in (1, 2) and parts[1] in (1, 2) and parts[2] in (2, 4)
            if day_first or (parts[0] == 4 and parts[1] in (1, 2) and parts[2] in (1, 2)):
                return "date"
    middle = bare.removeprefix("+")
    written = set("0./") | BRACKETS | JOINING | HYPHENS
    is_phone = (
        7 <= digits <= 15
        and len(middle) >= 2
        and middle[0] in "0("
        and middle[-1] == "0"
        and set(middle) <= written
        and (set(bare) & ({"+"} | BRACKETS | JOINING | HYPHENS) or sum(c in "./" for c in bare) >= 2)
        and not (len(bare) == 9 and bare[:4] + bare[5:] == "00000000" and bare[4] in HYPHENS | {"/"})
    )
    return "phone" if is_phone else "number"


def has_host(string: str) -> bool:
    """Whether the run that starts with the string names a host."""
    end = 0
    while end < len(string):
        further = bracketed_from(string, end)
        if further == end and is_break(string[end]):
            break
        end = max(further, end + 1)
    first, last = trimmed(string, 0, end, set())
    return names_host(string[first:last])


def is_address(string: str) -> bool:
    """Whether a string is an address by its at sign, or by an `at` in brackets."""
    signs = [i for i, c in enumerate(string) if c in AT]
    if len(signs) == 1 and signs[0] > 0:
        dot = string.rfind(".")
        if signs[0] < dot < len(string) - 1:
            return True
    places = range(2, len(string) - 3)
    return any(string[i : i + 2] == "at" and string[i - 1] in OPENING and string[i + 2] in CLOSING for i in places)


def is_time(bare: str) -> bool:
    """Whether it is a time of day; digits are "0"."""
    ending = next((e for e in ("a.m", "p.m", "am", "pm") if bare.endswith(e)), "")
    parts = bare.removesuffix(ending).split(":")
    return (
        all(set(part) == {"0"} for part in parts)
        and len(parts[0]) <= 2
        and all(len(part) == 2 for part in parts[1:])
        and (len(parts) in (2, 3) or (len(parts) == 1 and ending != ""))
    )


def is_ordinal(bare: str) -> bool:
    """Whether it is an ordinal number; digits are "0"."""
    first, *groups = bare[:-2].replace("ſ", "s").split(",")
    ends = bare[-2:].replace("ſ", "s") in ("st", "nd", "rd", "th")
    return ends and set(first) == {"0"} and all(group == "000" for group in groups)


def is_path(string: str) -> bool:
    """Whether it starts as a path does."""
    if string[0] in "/\\":
        return True
    root = 1 if string[0] == "~" else 2 if string[0] in ASCII_LETTERS and string[1:2] == ":" else 0
    return root > 0 and string[root : root + 1] in ("/", "\\")
