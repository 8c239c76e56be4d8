"""Surrogate pools: numbered, equally likely surrogates for each type and layout.

This module never receives the original string of a slot. Identifiers come from ranges without an owner: phone numbers
for fiction (555-0100 to 555-0199, NANPA), addresses and domains for documentation (RFC 5737, RFC 7042, RFC 2606), area
000 of social security numbers, postal codes of an area XX, and card numbers that fail the check of ISO/IEC 7812.
Unlisted symbols become emoji of animals, food, plants and vehicles.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from math import prod

from textveil.text.names.emoji import EMOJI, KEYCAP, count_surrogates, make_surrogate
from textveil.text.names.lexicon import TITLE_LAYOUTS
from textveil.text.names.spelled import AND, LISTED, ONES, POINT, SCALE, SPELLED_LETTERS, SPELLED_NUMBER, TIMES
from textveil.text.names.tokens import JSON_NUMBER
from textveil.text.segmentation import LOWER, TITLE, UPPER

#: Size from which a pool is consistent. In a smaller pool each mention gets a new draw: otherwise equality and order of
#: the surrogates would reveal the strings.
SMALLEST_CONSISTENT = 200
#: Number-like and other small types. They are never consistent, even with a large pool.
_NUMBERS = frozenset(
    "number digits year year-range season day age time date ordinal decade initial letter title".split()
)
_DOMAINS = ("example.com", "example.org", "example.net")
_AREAS = tuple(range(201, 1000, 2))
_DAYS, _FIRST_YEAR, _YEARS, _LONGEST_RANGE = 28, 1950, 80, 10
_NETS = ("192.0.2", "198.51.100", "203.0.113")
#: Letters of initials, without the letters that are words.
_INITIALS = "BCDEFGHJKLMNOPRSTVW"
_LETTERS = "bcdefghjklmnpqrtvwxyz"
#: Letters of postal codes. No two of them form a unit or the ending of an ordinal.
_CODE = "ABDEJQUWXZ"
#: Surrogates of the elements of a number in words; ``_MOST_LISTED`` is how many entries of the list of number words
#: count.
_SPELLED = {
    ONES: "zero one two three four five six seven eight nine".split(),
    SCALE: ["hundred", "thousand", "million"],
    TIMES: ["double", "triple"],
    AND: ["and"],
    POINT: ["point"],
}
_MOST_LISTED = 20
_UNREADABLE = "(unreadable)"
_GROUP = re.compile("0+")
_TWO_TIMES = re.compile("([0:.apmAPM]+)([^0:.apmAPM])(.+)")
#: Two numbers and the mark between them.
_PAIR = re.compile("([0-9]+)([^0-9]+)([0-9]+)")


class Surrogates:
    """Surrogate pools of all types.

    Args:
        pools: Surrogates by name of the pool, in the case in which they are written.
    """

    def __init__(self, pools: Mapping[str, Sequence[str]]) -> None:
        titles = pools["title"]
        self._pools = {
            **pools,
            "title": [title for title in titles if title.lower() not in TITLE_LAYOUTS] or titles,
            **{f"title-{layout}": [title] for layout, title in _TITLES.items()},
        }

    @property
    def kinds(self) -> frozenset[str]:
        """Names of all types with surrogates."""
        lists = frozenset(name for name in self._pools if not name.startswith(_WITH_LAYOUT))
        made = ("number", "digits", "time", "person", EMOJI, SPELLED_NUMBER, SPELLED_LETTERS)
        return lists.union(self._sizes, made)

    def size(self, kind: str, layout: str) -> int:
        """Return the size of the pool of a type and layout, below ``2**62``."""
        name = _pool(kind, layout)
        if name in self._pools:
            return len(self._pools[name])
        if kind == "number":
            return _number_size(layout)
        if kind == "digits":
            return _digits_size(layout)
        if kind == "time":
            return _time_size(layout)
        if kind == EMOJI:
            return count_surrogates(layout)
        if kind == SPELLED_NUMBER:
            return prod(len(self._elements[of]) for of in layout)
        if kind == SPELLED_LETTERS:
            return int(len(_LETTERS) ** int(layout))
        return self._sizes[kind]

    def consistent(self, kind: str, layout: str) -> bool:
        """Return whether equal strings of a type and layout get equal surrogates."""
        return kind not in _NUMBERS and self.size(kind, layout) >= SMALLEST_CONSISTENT

    def of(self, kind: str, layout: str) -> tuple[int, bool]:
        """Return the results of ``size`` and ``consistent``."""
        found = self._listed.get((kind, layout))
        return (self.size(kind, layout), self.consistent(kind, layout)) if found is None else found

    @cached_property
    def _listed(self) -> dict[tuple[str, str], tuple[int, bool]]:
        """Results of ``of`` for all types but those with too many layouts, such as numbers."""
        kinds = [
            (name[: name.index("-")], name[name.index("-") + 1 :]) if name.startswith(_WITH_LAYOUT) else (name, "")
            for name in (*self._pools, *self._sizes)
        ]
        return {kind: (self.size(*kind), self.consistent(*kind)) for kind in kinds}

    def spelled(self, kind: str, layout: str, index: int, case: int) -> str:
        """Return the spelling of a surrogate; for a JSON number the digits of a valid JSON number.

        Args:
            kind: Type of the surrogate.
            layout: Public layout of a number, or the ending of a word.
            index: Number of the surrogate, below ``size``.
            case: The case pattern of the slot.
        """
        if case == JSON_NUMBER:
            return _write_json_number(self.spelled(kind, layout, index, LOWER))
        pool = self._pools.get(_pool(kind, layout))
        if pool is not None:
            found = pool[index]
            if case == UPPER:
                return found.upper()
            if case == LOWER:
                return found.lower()
            return found[:1].upper() + found[1:] if kind in _WRITTEN_SMALL else found
        if kind == "number":
            return _number(layout, index)
        if kind == "digits":
            return _digits(layout, index)
        if kind == "time":
            return _time(layout, index)
        if kind == "year-range":
            return _year_range(layout, index)
        if kind == "season":
            return f"{_FIRST_YEAR + index}{layout}{(_FIRST_YEAR + index + 1) % 100:02d}"
        if kind == EMOJI:
            return make_surrogate(layout, index)
        if kind in (SPELLED_NUMBER, SPELLED_LETTERS):
            letters = kind == SPELLED_LETTERS
            of_each = [_LETTERS] * int(layout) if letters else [self._elements[of] for of in layout]
            found = " ".join(_chosen(of_each, index))
            return found.upper() if case == UPPER else found[:1].upper() + found[1:] if case == TITLE else found
        return self._made(kind, index)

    @cached_property
    def _elements(self) -> Mapping[str, Sequence[str]]:
        """Surrogates by class of the elements of a number in words."""
        return {**_SPELLED, LISTED: self._pools["number-word"][:_MOST_LISTED]}

    @cached_property
    def _sizes(self) -> dict[str, int]:
        given, family = len(self._pools["given"]), len(self._pools["family"])
        return {
            "year": _YEARS,
            "season": _YEARS,
            "year-range": (_YEARS - _LONGEST_RANGE) * _LONGEST_RANGE,
            "day": _DAYS,
            "age": 72,
            "date": 12 * _DAYS * _YEARS,
            "ordinal": 98,
            "decade": 8,
            "initial": len(_INITIALS),
            "letter": len(_LETTERS),
            "phone": len(_AREAS) * 100,
            "card": 10**9,
            "ssn": 99 * 9999,
            "account": 10**8,
            "iban": 10**10,
            "postcode": 99_000,
            "ip": 254 * len(_NETS),
            "mac": 256,
            "email": given * family * len(_DOMAINS),
            "handle": given * 900,
            "hashtag": given * 900,
            "url": given * 900,
            "path": 9000,
            "file": 9000,
            "hash": 16**8,
            "key": 10**8,
            "id": 26 * 10**5,
            KEYCAP: 10,
            "symbol": count_surrogates(""),
            "other": 1,
        }

    def _made(self, kind: str, index: int) -> str:
        given = self._pools["given"]
        if kind == "email":
            index, domain = divmod(index, len(_DOMAINS))
            first, last = divmod(index, len(self._pools["family"]))
            return f"{given[first].lower()}.{_folded(self._pools['family'][last])}@{_DOMAINS[domain]}"
        if kind in ("handle", "hashtag", "url"):
            first, number = divmod(index, 900)
            name = f"{given[first].lower()}{100 + number}"
            return {"handle": f"@{name}", "hashtag": f"#{name}", "url": f"https://www.example.com/{name}"}[kind]
        return _MADE[kind](index)


#: Prefixes of the names of pools with a layout, and the surrogate of each title that reveals the sex of a person.
_WITH_LAYOUT, _TITLES = ("word-", "title-"), {"ms": "Ms", "mr": "Mr"}
#: Types whose pools are spelled in lower case.
_WRITTEN_SMALL = frozenset(("word", "number-word", "particle", "group", "unit"))
_LAYOUT = re.compile(r"(\d+)(g?)(?:([.,])(\d))?")
#: By number of digits: the least integer part, and the number of integer parts. Four digits exclude years.
_WHOLES = {
    "0": (0, 1),
    "1": (1, 9),
    "2": (10, 90),
    "3": (100, 900),
    "4": (2100, 7900),
    "5": (10_000, 90_000),
    "7": (1_000_000, 9_000_000),
    "10": (10**9, 9 * 10**9),
}


def _write_json_number(spelled: str) -> str:
    """Return a surrogate as a valid JSON number, without group marks and leading zeros."""
    if re.fullmatch(r"[0-9]*\.[0-9]+", spelled):
        return spelled if spelled[0] != "." else f"0{spelled}"
    return re.sub(r"[^0-9]", "", spelled).lstrip("0") or "0"


def _pool(kind: str, layout: str) -> str:
    return f"{kind}-{layout}" if layout and kind in ("word", "title") else kind


def _folded(name: str) -> str:
    return "".join(filter(str.isalpha, name)).lower()


def _number_size(layout: str) -> int:
    size, _, _, decimals = _parsed(layout)
    return _WHOLES[size][1] * 10**decimals


def _number(layout: str, index: int) -> str:
    size, grouped, mark, decimals = _parsed(layout)
    whole, part = divmod(index, 10**decimals)
    least = _WHOLES[size][0]
    written = "" if size == "0" else f"{least + whole:,}" if grouped else str(least + whole)
    return written + (f"{mark}{part:0{decimals}d}" if decimals else "")


@lru_cache(256)  # larger than the number of layouts, which are few and public
def _parsed(layout: str) -> tuple[str, str, str, int]:
    match = _LAYOUT.fullmatch(layout)
    assert match is not None
    return match[1], match[2], match[3] or "", int(match[4] or 0)


def _digits_size(layout: str) -> int:
    return int(9 ** len(_GROUP.findall(layout)) * 10 ** (layout.count("0") - len(_GROUP.findall(layout))))


def _digits(layout: str, index: int) -> str:
    """Return digits in a layout; no group of digits begins with a zero."""

    def filled(group: "re.Match[str]") -> str:
        nonlocal index
        index, first = divmod(index, 9)
        length = len(group[0]) - 1
        index, rest = divmod(index, 10**length)
        return str(1 + first) + (f"{rest:0{length}d}" if length else "")

    written = _GROUP.sub(filled, layout)
    if (pair := _PAIR.fullmatch(written)) and len(pair[1]) == len(pair[3]) and pair[1] > pair[3]:
        return pair[3] + pair[2] + pair[1]  # a rating is at most its scale
    return written


def _year_range(layout: str, index: int) -> str:
    """Return two years, the earlier one first, with the mark of the layout between them."""
    start, years = divmod(index, _LONGEST_RANGE)
    return f"{_FIRST_YEAR + start}{layout}{_FIRST_YEAR + start + 1 + years}"


def _time_size(layout: str) -> int:
    """Return the number of times in a layout.

    They have every fifth minute, or every second if the layout has seconds.
    """
    if (two := _TWO_TIMES.fullmatch(layout)) is not None:
        return _time_size(two[1]) * _time_size(two[3])
    of_hour = {1: 1, 2: 12, 3: 60 * 60}[len(_GROUP.findall(layout))]
    return _hours(layout) * of_hour * (1 if layout.endswith("0") else 2)


def _hours(layout: str) -> int:
    """Return the last hour of a layout: 9 for one digit of an hour with minutes, else 12."""
    return 9 if layout.startswith(("0:", "0.")) else 12


def _time(layout: str, index: int) -> str:
    """Return a time that is valid both on a 12-hour and on a 24-hour clock."""
    if (two := _TWO_TIMES.fullmatch(layout)) is not None:
        second, first = divmod(index, _time_size(two[1]))
        return _time(two[1], first) + two[2] + _time(two[3], second)
    groups, ending = _GROUP.findall(layout), layout.lstrip("0:.")
    index, hour = divmod(index, _hours(layout))
    values = [1 + hour]
    if len(groups) == 2:
        index, minute = divmod(index, 12)
        values.append(5 * minute)
    for _ in groups[2:]:
        index, minute = divmod(index, 60)
        index, second = divmod(index, 60)
        values += minute, second
    left = iter(values)
    clock = _GROUP.sub(lambda group: str(next(left)).zfill(len(group[0])), layout[: len(layout) - len(ending)])
    return clock + (ending if index or not ending else chr(ord(ending[0]) - ord("p") + ord("a")) + ending[1:])


def _chosen(of_each: Sequence[Sequence[str]], index: int) -> Iterator[str]:
    """Yield one entry of each list; the index is a mixed-radix number, least significant first."""
    for entries in of_each:
        index, chosen = divmod(index, len(entries))
        yield entries[chosen]


def _card(index: int) -> str:
    """Return a 16-digit card number with a wrong check digit."""
    digits = f"400000{index:09d}"
    total = sum(sum(divmod(int(digit) * (2 - place % 2), 10)) for place, digit in enumerate(digits))
    digits += str((10 - total % 10 + 5) % 10)
    return "-".join(digits[start : start + 4] for start in range(0, 16, 4))


def _phone(index: int) -> str:
    area, line = divmod(index, 100)
    return f"{_AREAS[area]}-555-01{line:02d}"


def _date(index: int) -> str:
    index, day = divmod(index, _DAYS)
    year, month = divmod(index, 12)
    return f"{_FIRST_YEAR + year}-{1 + month:02d}-{1 + day:02d}"


def _id(index: int) -> str:
    letter, number = divmod(index, 10**5)
    return f"X{chr(ord('A') + letter)}{number:05d}"


_MADE: dict[str, Callable[[int], str]] = {
    "year": lambda index: str(_FIRST_YEAR + index),
    "day": lambda index: str(1 + index),
    "age": lambda index: str(18 + index),
    "date": _date,
    "ordinal": lambda index: ordinal(2 + index),
    "decade": lambda index: f"{1930 + 10 * index}s",
    "initial": lambda index: _INITIALS[index],
    "letter": lambda index: _LETTERS[index],
    "phone": _phone,
    "card": _card,
    "ssn": lambda index: f"000-{1 + index // 9999:02d}-{1 + index % 9999:04d}",
    "account": lambda index: f"00{index:08d}",
    "iban": lambda index: f"XX00TEST{index:010d}",
    "postcode": lambda index: f"XX{1 + index // 1000} {index // 100 % 10}{_CODE[index // 10 % 10]}{_CODE[index % 10]}",
    "ip": lambda index: f"{_NETS[index // 254]}.{1 + index % 254}",
    "mac": lambda index: f"00:00:5e:00:53:{index:02x}",
    "path": lambda index: f"/srv/files/item-{1000 + index}",
    "file": lambda index: f"document-{1000 + index}.txt",
    "hash": lambda index: f"00000000{index:08x}",
    "key": lambda index: f"EXAMPLEKEY{index:08d}",
    "id": _id,
    KEYCAP: lambda index: f"{index}\ufe0f\u20e3",
    "symbol": lambda index: make_surrogate("", index),
    "other": lambda index: _UNREADABLE,
}


def ordinal(number: int) -> str:
    """Return a number as an ordinal: ``22nd``."""
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"
