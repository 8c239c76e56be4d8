"""Surrogate pools: the possible replacements (*surrogates*) of each entity type and layout.

A random index selects a surrogate of a pool, each with the same probability. The *layout* is the part of an original's
form that the output reveals, such as the number of digits. This module never receives the original text. For most types
of numbers and addresses, the rules of the language have a pattern that generates the surrogates.

Surrogates of identifiers come from ranges that belong to nobody. In English these ranges are:

- phone numbers for fiction (555-0100 to 555-0199, NANPA);
- addresses and domains for documentation (RFC 5737, RFC 7042, RFC 2606);
- area 000 of social security numbers, and postal codes of an area XX.

The check digit of card numbers is wrong (ISO/IEC 7812). Symbols that are on no public list become emoji of animals,
food, plants and vehicles.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from math import prod

from textveil.bundle.rules import Field, Rules, parse_template
from textveil.lazy import ENTITY_TYPES, load_data
from textveil.text.names.emoji import EMOJI, KEYCAP, count_emoji_surrogates, make_emoji_surrogate
from textveil.text.names.spelled_tokens import LISTED_NUMBER, SPELLED_LETTERS, SPELLED_NUMBER
from textveil.text.names.tokens import JSON_NUMBER_CASE
from textveil.text.segmentation import LOWER, TITLE, UPPER

#: Equal strings get equal surrogates only if their pool has at least this size. In a smaller pool each mention gets a
#: random surrogate of its own: otherwise equality and order of the surrogates would reveal the strings.
MIN_CONSISTENT_POOL = 200
#: Types such as numbers, whose equal strings never get equal surrogates, even with a large pool.
_INCONSISTENT_TYPES = frozenset(load_data(ENTITY_TYPES)["never_consistent"])
_FIRST_YEAR, _YEAR_COUNT, _MAX_YEAR_RANGE = 1950, 80, 10
#: The first entries of the list of number words that are surrogates for a word of a spelled number.
_MAX_LISTED_NUMBERS = 20
_DIGIT_GROUP = re.compile("0+")
_TIME_RANGE = re.compile("([0:.apmhAPMH]+)([^0:.apmhAPMH])(.+)")
#: Two numbers and the mark between them.
_NUMBER_PAIR = re.compile("([0-9]+)([^0-9]+)([0-9]+)")


class SurrogatePools:
    """Holds the possible surrogates (replacements) of each entity type, and writes a chosen one as text.

    Args:
        pools: Dictionary from the name of each pool (list of surrogates) to the surrogates, as spelled.
        rules: Rules of the language, such as number words and date formats.

    Attributes:
        rules: The argument ``rules``.
    """

    def __init__(self, pools: Mapping[str, Sequence[str]], rules: Rules) -> None:
        titles = pools["title"]
        self.rules: Rules = rules
        #: Names of the user's own entity types; empty for the pools of a bundle.
        self.own_types: frozenset[str] = frozenset()
        self._pools = {
            **pools,
            "title": [title for title in titles if title.lower() not in rules.title_layouts] or titles,
            **{f"title-{layout}": [title] for layout, title in rules.titles.items()},
        }
        choices = {**rules.choices, **{name: pools[name] for name in _PRINTED}}
        self._templates = {kind: Template(template, choices) for kind, template in rules.templates.items()}

    @property
    def entity_types(self) -> frozenset[str]:
        """Names of all entity types that have surrogates (replacements)."""
        lists = frozenset(name for name in self._pools if not name.startswith(_LAYOUT_PREFIXES))
        generated = ("number", "digits", "time", "person", EMOJI, "symbol", SPELLED_NUMBER, SPELLED_LETTERS)
        return lists.union(self._generated_sizes, generated)

    def get_size(self, entity_type: str, layout: str) -> int:
        """Return the number of surrogates (replacements) of an entity type and layout, below ``2**62``.

        The layout is the part of the original's form that the output reveals, such as the number of digits.
        """
        name = _name_pool(entity_type, layout)
        if name in self._pools:
            return len(self._pools[name])
        if entity_type == "number":
            return _count_numbers(layout)
        if entity_type == "digits":
            return _count_digits(layout)
        if entity_type == "time":
            return _count_times(layout)
        if entity_type in (EMOJI, "symbol"):
            return count_emoji_surrogates(layout)
        if entity_type == SPELLED_NUMBER:
            return prod(len(self._number_word_lists[of]) for of in layout)
        if entity_type == SPELLED_LETTERS:
            return int(len(self.rules.choices["letter"]) ** int(layout))
        return self._generated_sizes[entity_type]

    def is_consistent(self, entity_type: str, layout: str) -> bool:
        """Return whether equal entities of a type and layout (public form) get equal surrogates (replacements)."""
        return entity_type not in _INCONSISTENT_TYPES and self.get_size(entity_type, layout) >= MIN_CONSISTENT_POOL

    def get_size_and_consistency(self, entity_type: str, layout: str) -> tuple[int, bool]:
        """Return how many replacements a type and layout (public form) has, and whether equal originals share one."""
        cached = self.cached_sizes.get((entity_type, layout))
        return (
            (self.get_size(entity_type, layout), self.is_consistent(entity_type, layout)) if cached is None else cached
        )

    @cached_property
    def cached_sizes(self) -> dict[tuple[str, str], tuple[int, bool]]:
        """Cached results of ``get_size_and_consistency``, by entity type and layout (public form of the original)."""
        types_and_layouts = [
            (name[: name.index("-")], name[name.index("-") + 1 :]) if name.startswith(_LAYOUT_PREFIXES) else (name, "")
            for name in (*self._pools, *self._generated_sizes)
        ]
        return {kind: (self.get_size(*kind), self.is_consistent(*kind)) for kind in types_and_layouts}

    def needs_tag(self, entity_type: str, layout: str) -> bool:
        """Return ``False``: each built-in type has enough replacements, so none requires a tag such as ``[city 1]``."""
        return False

    def spell_surrogates(
        self, parts: Iterable[tuple[str, str, str, str]], indices: Iterable[int], cases: Iterable[int]
    ) -> tuple[str, ...]:
        """Return the surrogate (replacement) of each part of some entities as text (see ``spell_surrogate``).

        Args:
            parts: Parts of the entities. The method reads only the type and the layout of each part, never its text.
            indices: Index of the surrogate of each part.
            cases: For each part, the case pattern of its entity.
        """
        spell = self.spell_surrogate
        return tuple(
            [spell(part[0], part[1], index, case) for part, index, case in zip(parts, indices, cases, strict=True)]
        )

    def spell_surrogate(self, entity_type: str, layout: str, index: int, case: int) -> str:
        """Return a surrogate (replacement) as text. For a JSON number, the surrogate is a valid JSON number.

        Args:
            entity_type: Type of the surrogate.
            layout: Public form of the original: for a number its number of digits and its marks, for a word its ending.
            index: Index of the surrogate, below ``get_size``.
            case: The case pattern of the original: ``LOWER``, ``TITLE`` or ``UPPER``; ``JSON_NUMBER_CASE`` for a JSON
                number.
        """
        if case == JSON_NUMBER_CASE:
            return _write_json_number(self.spell_surrogate(entity_type, layout, index, LOWER))
        pool = self._pools.get(_name_pool(entity_type, layout))
        if pool is not None:
            surrogate = pool[index]
            if case == UPPER:
                return surrogate.upper()
            if case == LOWER:
                return surrogate.lower()
            return surrogate[:1].upper() + surrogate[1:] if entity_type in _LOWER_CASE_TYPES else surrogate
        if entity_type == "number":
            return _format_number(layout, index)
        if entity_type == "digits":
            return _format_digits(layout, index)
        if entity_type == "time":
            return _format_time(layout, index)
        if entity_type == "year-range":
            return _format_year_range(layout, index)
        if entity_type == "season":
            return f"{_FIRST_YEAR + index}{layout}{(_FIRST_YEAR + index + 1) % 100:02d}"
        if entity_type == EMOJI:
            return make_emoji_surrogate(layout, index)
        if entity_type in (SPELLED_NUMBER, SPELLED_LETTERS):
            letters = entity_type == SPELLED_LETTERS
            of_each = (
                [self.rules.choices["letter"]] * int(layout)
                if letters
                else [self._number_word_lists[of] for of in layout]
            )
            surrogate = " ".join(_choose_entries(of_each, index))
            return (
                surrogate.upper()
                if case == UPPER
                else surrogate[:1].upper() + surrogate[1:]
                if case == TITLE
                else surrogate
            )
        return self._generate(entity_type, index)

    @cached_property
    def _number_word_lists(self) -> Mapping[str, Sequence[str]]:
        """For each class of number words, such as tens, the words that may replace a word of this class."""
        return {**self.rules.spelled, LISTED_NUMBER: self._pools["number-word"][:_MAX_LISTED_NUMBERS]}

    @cached_property
    def _generated_sizes(self) -> dict[str, int]:
        return {
            **{kind: template.size for kind, template in self._templates.items()},
            "season": _YEAR_COUNT,
            "year-range": (_YEAR_COUNT - _MAX_YEAR_RANGE) * _MAX_YEAR_RANGE,
            "card": 10**9,
            KEYCAP: 10,
        }

    def _generate(self, entity_type: str, index: int) -> str:
        if entity_type == "card":
            return _format_card(index)
        if entity_type == KEYCAP:
            return f"{index}\ufe0f\u20e3"
        if entity_type == "symbol":
            return make_emoji_surrogate("", index)
        return self._templates[entity_type].write(index)


class Template:
    """Pattern that generates surrogates (replacements): fixed text, and fields with several values each.

    Each digit of a surrogate's index, written as a mixed-radix number, selects the value of one field. The last digit
    belongs to the last field.

    Args:
        template: The pattern, in the syntax of ``rules.json``.
        choices: Values of the named fields.
    """

    def __init__(self, template: str, choices: Mapping[str, Sequence[str]]) -> None:
        self._fields: list[tuple[Field, Sequence[str]]] = [
            (field, choices.get(field.name, ())) for field in parse_template(template)
        ]
        self.size: int = prod(len(values) if field.name else field.count for field, values in self._fields)

    def write(self, index: int) -> str:
        """Return the surrogate (replacement) with the given index, which must be below ``size``."""
        found: list[str] = []
        for field, values in reversed(self._fields):
            if field.name:
                index, place = divmod(index, len(values))
                found.append(_PRINTED[field.name](values[place]) if field.name in _PRINTED else values[place])
            elif field.format:
                index, place = divmod(index, field.count)
                found.append(f"{field.first + field.step * place:{field.format}}")
            else:
                found.append(field.text)
        return "".join(reversed(found))


#: Prefixes of the names of pools with a layout.
_LAYOUT_PREFIXES = ("word-", "title-")
#: Types whose pools are spelled in lower case.
_LOWER_CASE_TYPES = frozenset(load_data(ENTITY_TYPES)["lower_pools"])
_LAYOUT = re.compile(r"(\d+)([gp]?)(?:([.,])(\d))?")
#: For each number of digits: the smallest integer part, and the number of integer parts. Four digits exclude years.
_INTEGER_PARTS = {
    "0": (0, 1),
    "1": (1, 9),
    "2": (10, 90),
    "3": (100, 900),
    "4": (2100, 7900),
    "5": (10_000, 90_000),
    "7": (1_000_000, 9_000_000),
    "10": (10**9, 9 * 10**9),
}


def _write_json_number(surrogate: str) -> str:
    """Convert a replacement number to valid JSON: remove leading zeros, and marks between groups of digits."""
    if re.fullmatch(r"[0-9]*\.[0-9]+", surrogate):
        return surrogate if surrogate[0] != "." else f"0{surrogate}"
    return re.sub(r"[^0-9]", "", surrogate).lstrip("0") or "0"


def _name_pool(entity_type: str, layout: str) -> str:
    return f"{entity_type}-{layout}" if layout and entity_type in ("word", "title") else entity_type


def _remove_accents(name: str) -> str:
    """Convert a name to lower case and remove its accents, as in an email address: ``José`` to ``jose``.

    Letters of other scripts, such as Greek, remain.
    """
    name = name.lower()
    if name.isascii():
        return name
    plain = unicodedata.normalize("NFKD", name.translate(_PLAIN_LETTERS))
    plain = "".join(character for character in plain if unicodedata.category(character)[0] != "M")
    return plain if plain.isascii() else name


def _fold_name(name: str) -> str:
    return "".join(filter(str.isalpha, _remove_accents(name)))


#: Pools that a field of a template may name, each with the function that spells an entry there.
_PRINTED: dict[str, Callable[[str], str]] = {"given": _remove_accents, "family": _fold_name}
#: Letters that NFKD does not change, with their replacements in email addresses.
_PLAIN_LETTERS = str.maketrans(
    {"ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ı": "i"}
)


def _count_numbers(layout: str) -> int:
    size, _, _, decimals = _parse_number_layout(layout)
    return _INTEGER_PARTS[size][1] * 10**decimals


def _format_number(layout: str, index: int) -> str:
    size, grouped, mark, decimals = _parse_number_layout(layout)
    whole, part = divmod(index, 10**decimals)
    least = _INTEGER_PARTS[size][0]
    written = "" if size == "0" else f"{least + whole:,}" if grouped else str(least + whole)
    written = written.replace(",", ".") if grouped == "p" else written
    return written + (f"{mark}{part:0{decimals}d}" if decimals else "")


@lru_cache(256)  # larger than the number of layouts, which are few and public
def _parse_number_layout(layout: str) -> tuple[str, str, str, int]:
    match = _LAYOUT.fullmatch(layout)
    assert match is not None
    return match[1], match[2], match[3] or "", int(match[4] or 0)


def _count_digits(layout: str) -> int:
    return int(9 ** len(_DIGIT_GROUP.findall(layout)) * 10 ** (layout.count("0") - len(_DIGIT_GROUP.findall(layout))))


def _format_digits(layout: str, index: int) -> str:
    """Return the replacement number that ``index`` selects, for a layout (public form) such as ``00-000``.

    No group of its digits begins with a zero.
    """

    def write_group(group: "re.Match[str]") -> str:
        nonlocal index
        index, first = divmod(index, 9)
        length = len(group[0]) - 1
        index, rest = divmod(index, 10**length)
        return str(1 + first) + (f"{rest:0{length}d}" if length else "")

    written = _DIGIT_GROUP.sub(write_group, layout)
    if (pair := _NUMBER_PAIR.fullmatch(written)) and len(pair[1]) == len(pair[3]) and pair[1] > pair[3]:
        return pair[3] + pair[2] + pair[1]  # a rating is at most its scale
    return written


def _format_year_range(layout: str, index: int) -> str:
    """Return a range of two years, such as ``1987-2004``, with the dash of the original between them.

    Args:
        layout: The dash of the original range.
        index: Selects one of the possible ranges.
    """
    start, years = divmod(index, _MAX_YEAR_RANGE)
    return f"{_FIRST_YEAR + start}{layout}{_FIRST_YEAR + start + 1 + years}"


def _count_times(layout: str) -> int:
    """Return the number of clock times that can replace a time with the given layout (public form).

    These times are five minutes apart, or one second apart if the layout has seconds.
    """
    if (times := _TIME_RANGE.fullmatch(layout)) is not None:
        return _count_times(times[1]) * _count_times(times[3])
    of_hour = {2: 12, 3: 60 * 60}.get(len(_DIGIT_GROUP.findall(layout)), 1)
    return _find_last_hour(layout) * of_hour * (2 if layout[-1] in "mM" else 1)


def _find_last_hour(layout: str) -> int:
    """Return the largest hour of the clock times that can replace a time with the given layout (public form).

    The result is 9 if the layout has minutes and one digit for the hour, else 12.
    """
    return 9 if layout.startswith(("0:", "0.", "0h0", "0H0")) else 12


def _format_time(layout: str, index: int) -> str:
    """Return the clock time with the given index among the possible replacements of a time.

    The time is valid on a 12-hour and on a 24-hour clock.
    """
    if (times := _TIME_RANGE.fullmatch(layout)) is not None:
        second, first = divmod(index, _count_times(times[1]))
        return _format_time(times[1], first) + times[2] + _format_time(times[3], second)
    groups, ending = _DIGIT_GROUP.findall(layout), layout.lstrip("0:.hH")
    index, hour = divmod(index, _find_last_hour(layout))
    values = [1 + hour]
    if len(groups) == 2:
        index, minute = divmod(index, 12)
        values.append(5 * minute)
    for _ in groups[2:]:
        index, minute = divmod(index, 60)
        index, second = divmod(index, 60)
        values += minute, second
    left = iter(values)
    clock = _DIGIT_GROUP.sub(lambda group: str(next(left)).zfill(len(group[0])), layout[: len(layout) - len(ending)])
    return clock + (ending if index else ending.replace("p", "a", 1).replace("P", "A", 1))


def _choose_entries(of_each: Sequence[Sequence[str]], index: int) -> Iterator[str]:
    """Yield one entry of each list in ``of_each``: the digits of ``index`` select the entries.

    The least significant digit of ``index``, written as a mixed-radix number, selects from the first list.
    """
    for entries in of_each:
        index, chosen = divmod(index, len(entries))
        yield entries[chosen]


def _format_card(index: int) -> str:
    """Return the card number that ``index`` selects as a replacement: 16 digits with a check digit that is wrong."""
    digits = f"400000{index:09d}"
    total = sum(sum(divmod(int(digit) * (2 - place % 2), 10)) for place, digit in enumerate(digits))
    digits += str((10 - total % 10 + 5) % 10)
    return "-".join(digits[start : start + 4] for start in range(0, 16, 4))
