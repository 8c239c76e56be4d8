"""The mode `names`: the surrogates of a slot (docs/names-rule.md, "Surrogates")."""

import math
import re
from typing import Any

from .names_emoji import SPARE, emoji_member, emoji_size
from .names_words import title_layout

LEAST = {"0": 0, "1": 1, "2": 10, "3": 100, "4": 2100, "5": 10_000, "7": 10**6, "10": 10**9}
WHOLES = {"0": 1, "1": 9, "2": 90, "3": 900, "4": 7900, "5": 90_000, "7": 9 * 10**6, "10": 9 * 10**9}
FIXED = {
    "year": 80, "year-range": 700, "season": 80,
    "day": 28, "age": 72, "date": 26880, "ordinal": 98, "decade": 8, "initial": 19,
    "letter": 18, "phone": 40000, "card": 10**9, "ssn": 989901, "account": 10**8, "iban": 10**10, "ip": 762,
    "postcode": 99_000, "mac": 256, "path": 9000, "file": 9000, "hash": 2**32, "key": 10**8, "id": 2_600_000,
    "symbol": len(SPARE), "keycap": 10, "other": 1,
}  # fmt: skip
SPELLED = {
    "d": "zero one two three four five six seven eight nine".split(), "s": ["hundred", "thousand", "million"],
    "x": ["double", "triple"], "a": ["and"], "p": ["point"],
}  # fmt: skip
CODE = "ABDEJQUWXZ"
NEVER_CONSISTENT = set(
    "number digits year year-range season day age time date ordinal decade initial letter title".split()
)


def size(pools: dict[str, list[str]], kind: str, layout: str) -> int:
    """How many members a kind of a layout has."""
    listed = pool_of(pools, kind, layout)
    if listed is not None:
        return len(listed)
    if kind == "time":
        return math.prod(math.prod(wheels) for wheels in map(wheels_of, times_of(layout)))
    if kind == "number":
        whole, _, _, decimals = number_layout(layout)
        return WHOLES[whole] * 10**decimals
    if kind == "digits":
        total = 1
        for group in groups(layout):
            total *= 9 * 10 ** (len(group) - 1)
        return total
    if kind == "emoji":
        return emoji_size(layout)
    if kind in ("spelled-number", "spelled-letters"):
        return math.prod(len(words) for words in spelled(pools, kind, layout))
    given, family = len(pools["given"]), len(pools["family"])
    named = {"email": 3 * given * family, "handle": 900 * given, "hashtag": 900 * given, "url": 900 * given}
    return {**FIXED, **named}[kind]


def is_consistent(pools: dict[str, list[str]], kind: str, layout: str) -> bool:
    """Whether equal parts of a kind share a draw."""
    return kind not in NEVER_CONSISTENT and size(pools, kind, layout) >= 200


def member(pools: dict[str, list[str]], kind: str, layout: str, i: int, case: str) -> str:
    """Member `i` as it is printed."""
    if case == "JSON":
        found = member(pools, kind, layout, i, "lower")
        if re.fullmatch("[0-9]*[.][0-9]+", found):
            return f"0{found}" if found[0] == "." else found
        return "".join(character for character in found if character in "0123456789").lstrip("0") or "0"
    listed = pool_of(pools, kind, layout)
    if listed is not None:
        if case == "UPPER":
            return listed[i].upper()
        if case == "lower":
            return listed[i].lower()
        small = kind in ("word", "number-word", "group", "particle", "unit")
        return listed[i][:1].upper() + listed[i][1:] if small and case == "Title" else listed[i]
    if kind == "number":
        return number(layout, i)
    if kind == "digits":
        return digits(layout, i)
    if kind == "time":
        return times(layout, i)
    if kind == "year-range":
        return f"{1950 + i // 10}{layout}{1951 + i // 10 + i % 10}"
    if kind == "season":
        return f"{1950 + i}{layout}{str(1951 + i)[2:]}"
    if kind == "emoji":
        return emoji_member(layout, i)
    if kind in ("spelled-number", "spelled-letters"):
        return spell(spelled(pools, kind, layout), i, case)
    return MADE[kind](i) if kind in MADE else named(pools, kind, i)


def spelled(pools: dict[str, list[str]], kind: str, layout: str) -> list[list[str]]:
    """Return the possible words of each element of a number in words, or of spelled letters."""
    if kind == "spelled-letters":
        return [list("bcefghjklnpqrvwxyz")] * int(layout)
    return [{**SPELLED, "w": pools["number-word"][:20]}[of] for of in layout]


def spell(words: list[list[str]], i: int, case: str) -> str:
    """Member `i` of lists of words."""
    found: list[str] = []
    for listed in words:
        found.append(listed[i % len(listed)])
        i //= len(listed)
    text = " ".join(found)
    return text.upper() if case == "UPPER" else text if case == "lower" else text[:1].upper() + text[1:]


def named(pools: dict[str, list[str]], kind: str, i: int) -> str:
    """Addresses that are made of names."""
    given, family = pools["given"], pools["family"]
    if kind == "email":
        domain = ("com", "org", "net")[i % 3]
        last = "".join(c for c in family[i // 3 % len(family)] if c.isalpha())
        return f"{given[i // 3 // len(family)].lower()}.{last.lower()}@example.{domain}"
    before = {"handle": "@", "hashtag": "#", "url": "https://www.example.com/"}[kind]
    return f"{before}{given[i // 900].lower()}{100 + i % 900}"


def number_layout(layout: str) -> tuple[str, bool, str, int]:
    """Return the size, whether there are groups, the mark and the number of decimals."""
    mark = next((mark for mark in ".," if mark in layout), "")
    whole, _, decimals = layout.partition(mark) if mark else (layout, "", "")
    return whole.removesuffix("g"), whole.endswith("g"), mark, int(decimals or 0)


def number(layout: str, i: int) -> str:
    """Return a number of a layout."""
    whole, grouped, mark, decimals = number_layout(layout)
    value = LEAST[whole] + i // 10**decimals
    written = "" if whole == "0" else format(value, ",") if grouped else str(value)
    return written + (mark + str(i % 10**decimals).zfill(decimals) if decimals else "")


def groups(layout: str) -> list[str]:
    """Return the groups of digits of a layout."""
    return re.findall("0+", layout)


def digits(layout: str, i: int) -> str:
    """Digits in the places of a layout."""
    written, place = "", 0
    for group in groups(layout):
        start = layout.index("0", place)
        written += layout[place:start] + str(1 + i % 9)
        i //= 9
        others = len(group) - 1
        written += str(i % 10**others).zfill(others) if others else ""
        i //= 10**others
        place = start + len(group)
    written += layout[place:]
    found = re.fullmatch("([0-9]+)([^0-9]+)([0-9]+)", written)
    if found and len(found[1]) == len(found[3]):
        return min(found[1], found[3]) + found[2] + max(found[1], found[3])
    return written


def times_of(layout: str) -> list[str]:
    """Return the times of a layout: one or two."""
    return re.split("[-‐‑‒–]", layout)


def wheels_of(layout: str) -> list[int]:
    """How many hours, minutes, seconds and endings a time of a layout has, as far as it has them."""
    hours = 9 if layout[:2] in ("0:", "0.") else 12
    rest = {0: [], 1: [12], 2: [60, 60]}[layout.count("00") - (layout[:2] == "00")]
    return [hours, *rest, *([2] if "m" in layout.lower() else [])]


def times(layout: str, i: int) -> str:
    """One or two times."""
    written = []
    for part in times_of(layout):
        values = []
        for wheel in wheels_of(part):
            values.append(i % wheel)
            i //= wheel
        ending = part.lstrip("0:.")
        groups = re.findall("0+|[:.]", part[: len(part) - len(ending)])
        if ending and not values.pop():
            ending = ("A" if ending[0] == "P" else "a") + ending[1:]
        values[0] += 1
        if len(values) == 2:
            values[1] *= 5
        clock = "".join(str(values.pop(0)).zfill(len(group)) if group[0] == "0" else group for group in groups)
        written.append(clock + ending)
    dash = next((c for c in layout if c in "-‐‑‒–"), "")
    return dash.join(written)


def pool_of(pools: dict[str, list[str]], kind: str, layout: str) -> list[str] | None:
    """Return the pool of a listed type, of a layout."""
    if kind == "title":
        others = [title for title in pools["title"] if not title_layout(title.lower())]
        return {"ms": ["Ms"], "mr": ["Mr"], "": others or pools["title"]}[layout]
    return pools.get(f"word-{layout}" if kind == "word" and layout else kind)


def ordinal(n: int) -> str:
    """Return a number with its ending."""
    if n % 100 in (11, 12, 13) or n % 10 not in (1, 2, 3):
        return f"{n}th"
    return str(n) + ("st", "nd", "rd")[n % 10 - 1]


def card(i: int) -> str:
    """Return a card number whose last digit is wrong."""
    body = [int(c) for c in f"400000{i:09}"]
    doubled = [digit * 2 for digit in body[::2]]
    total = sum(digit - 9 if digit > 9 else digit for digit in doubled) + sum(body[1::2])
    whole = "".join(map(str, body)) + str((-total + 5) % 10)
    return "-".join((whole[:4], whole[4:8], whole[8:12], whole[12:]))


MADE: dict[str, Any] = {
    "year": lambda i: f"{1950 + i}",
    "day": lambda i: f"{1 + i}",
    "age": lambda i: f"{18 + i}",
    "date": lambda i: f"{1950 + i // 336}-{1 + i // 28 % 12:02}-{1 + i % 28:02}",
    "ordinal": lambda i: ordinal(2 + i),
    "decade": lambda i: f"{1930 + 10 * i}s",
    "initial": lambda i: "BCDEFGHJKLMNOPRSTVW"[i],
    "letter": lambda i: "bcefghjklnpqrvwxyz"[i],
    "phone": lambda i: f"{201 + 2 * (i // 100)}-555-01{i % 100:02}",
    "card": card,
    "ssn": lambda i: f"000-{1 + i // 9999:02}-{1 + i % 9999:04}",
    "account": lambda i: f"00{i:08}",
    "iban": lambda i: f"XX00TEST{i:010}",
    "postcode": lambda i: f"XX{1 + i // 1000} {i // 100 % 10}{CODE[i // 10 % 10]}{CODE[i % 10]}",
    "ip": lambda i: f"{('192.0.2', '198.51.100', '203.0.113')[i // 254]}.{1 + i % 254}",
    "mac": lambda i: f"00:00:5e:00:53:{i:02x}",
    "path": lambda i: f"/srv/files/item-{1000 + i}",
    "file": lambda i: f"document-{1000 + i}.txt",
    "hash": lambda i: f"00000000{i:08x}",
    "key": lambda i: f"EXAMPLEKEY{i:08}",
    "id": lambda i: f"X{'ABCDEFGHIJKLMNOPQRSTUVWXYZ'[i // 10**5]}{i % 10**5:05}",
    "symbol": lambda i: SPARE[i],
    "keycap": lambda i: f"{i}\ufe0f\u20e3",
    "other": lambda i: "(unreadable)",
}
