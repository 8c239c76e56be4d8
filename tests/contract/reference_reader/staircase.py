"""The staircase of a bundle: its lists and levels, and the exact row of an input."""

import decimal
import itertools
import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any

import regex

from .files import check, parse_safetensors

UNIT = 2**20  # G


@dataclass(frozen=True)
class Staircase:
    """The staircase of a bundle: levels as mechanism.json has them, and what is drawn from."""

    levels: list[dict[str, str]]
    defaults: dict[str, str]
    neighbors: list[tuple[int, ...]]
    base: tuple[int, ...]
    roles: tuple[int, ...]
    function_words: dict[str, tuple[str, ...]]  # marks by word
    kinds: dict[str, tuple[str | None, dict[str, tuple[str, ...]]]]  # shape and marks by entry, by name


def read_list(data: bytes, marks: set[str]) -> dict[str, tuple[str, ...]]:
    """Return a list with the marks of every entry."""
    *lines, rest = data.decode("utf-8").split("\n")
    check(lines and not rest, "a list is empty, or its last line incomplete")
    split = [line.split("\t") for line in lines]
    entries = {entry: tuple(mark for part in parts for mark in part.split(",")) for entry, *parts in split}
    check(len(entries) == len(lines) and "" not in entries, "a list: an entry is empty or repeated")
    check(all(len(parts) <= 2 for parts in split), "a list: more than two columns")
    check(all(set(given) <= marks and len(set(given)) == len(given) for given in entries.values()), "a list: a mark")
    return entries


def read_staircase(law: dict[str, Any], data: dict[str, bytes]) -> Staircase:
    """Return the staircase and its lists; refuse them unless the conditions of the theorem hold."""
    arrays, symbols = parse_safetensors(data["staircase.safetensors"]), law["vocabulary_size"]
    neighbors, base, roles = arrays["neighbors"], arrays["base"], arrays["roles"]
    check(neighbors.dtype == ("U16" if symbols <= 65536 else "U32"), "stored ids: type")
    check(len(neighbors.shape) == 2 and neighbors.shape[0] == symbols and neighbors.shape[1] >= 1, "stored ids: shape")
    check((base.dtype, base.shape, roles.dtype, roles.shape) == ("U32", [symbols], "U8", [symbols]), "base or roles")
    for x, row in enumerate(neighbors.rows()):
        check(row[0] == x and max(row) < symbols and len(set(row)) == len(row), "a row of stored ids")
    check(min(base.values) >= 1 and max(roles.values) < 64, "base or roles: values")
    check(set(law["staircase"]) == {"levels"} and type(law["staircase"]["levels"]) is list, "staircase: keys")
    levels, defaults = law["staircase"]["levels"], law["defaults"]["staircase"]
    for level in levels:
        check(set(level) == {"name", "epsilon", "share"} and type(level["name"]) is str, "a level")
        check(regex.fullmatch(r"[0-9]{1,3}(\.[0-9]{1,9})?", level["epsilon"]), "a level: epsilon")
        check(0 < Decimal(level["epsilon"]) <= 16, "a level: epsilon is out of range")
        check(regex.fullmatch(r"[0-9]{1,9}(/[1-9][0-9]{0,8})?", level["share"]), "a level: share")
        check(0 < Fraction(level["share"]) <= 1, "a level: share is out of range")
        check(total_of(level, sum(base.values)) < 2**62, "a level: totals are too large")
    strict = [Decimal(level["epsilon"]) for level in levels]
    check(levels and all(a < b for a, b in itertools.pairwise(strict)), "levels are out of order")
    names = [level["name"] for level in levels]
    check(len(set(names)) == len(names) and set(defaults) == {"level", "mode"}, "levels: names")
    check(defaults["level"] in names and defaults["mode"] in ("words", "all"), "staircase: defaults")
    described = law["template"]["entity_types"]
    for kind in described:
        for text in (kind["name"], *([] if kind["shape"] is None else [kind["shape"]])):
            check(regex.fullmatch(r"[a-z]+(-[a-z]+)*", text), "a kind: name or shape")
    shapes = [kind["shape"] for kind in described if kind["shape"] is not None]
    check(len(set(shapes)) == len(shapes), "a shape is repeated")
    marks = {"capitalized", "member-only"}
    kinds = {kind["name"]: (kind["shape"], read_list(data[kind["file"]], marks)) for kind in described}
    check(len(kinds) == len(described), "a kind is repeated")
    words = read_list(data[law["template"]["function_words"]], {"name-like"})
    return Staircase(levels, defaults, neighbors.rows(), base.values, roles.values, words, kinds)


def find_level(staircase: Staircase, options: dict[str, Any]) -> dict[str, str]:
    """Return the level of a request by its epsilon, or the default."""
    if "epsilon" not in options:
        return next(level for level in staircase.levels if level["name"] == staircase.defaults["level"])
    return next(level for level in staircase.levels if Decimal(level["epsilon"]) == Decimal(str(options["epsilon"])))


def factor_of(level: dict[str, str]) -> int:
    """F."""
    return factor_of_epsilon(level["epsilon"])


@lru_cache
def factor_of_epsilon(epsilon: str) -> int:
    """F of an epsilon as it is written."""
    return math.floor((decimal.Context(prec=90).exp(Decimal(epsilon)) - 1) * UNIT)


def budget_of(level: dict[str, str], mass: int) -> int:
    """H."""
    return max(1, math.floor(Fraction(level["share"]) * mass))


def total_of(level: dict[str, str], mass: int) -> int:
    """G S + F H."""
    return UNIT * mass + factor_of(level) * budget_of(level, mass)


def allowed_outputs(staircase: Staircase, visible: bool, lower: bool = False) -> set[int]:
    """Return the symbols permitted as outputs under a rule of the template, or in slots of lower case."""
    bit = 1 if visible else 2
    if lower and any(role >= 16 for role in staircase.roles):
        bit = 16 if visible else 32
    return {y for y, role in enumerate(staircase.roles) if role & bit}


def base_of(staircase: Staircase, outputs: set[int]) -> list[int]:
    """Return the base of every symbol, 0 if it is not an output: b."""
    return [weight if y in outputs else 0 for y, weight in enumerate(staircase.base)]


def deal(staircase: Staircase, level: dict[str, str], b: list[int], x: int) -> list[tuple[int, int]]:
    """Return the stored outputs of an input with their shares of the budget, in order."""
    left = budget_of(level, sum(b))
    dealt = []
    for y in staircase.neighbors[x] if x < len(b) else ():
        dealt.append((y, min(b[y], left)))
        left -= dealt[-1][1]
    return dealt


def staircase_row(staircase: Staircase, level: dict[str, str], outputs: set[int], x: int) -> list[Fraction]:
    """Return the probability of every symbol as the output of one input."""
    b = base_of(staircase, outputs)
    dealt = deal(staircase, level, b, x)
    mass, missing = sum(b), budget_of(level, sum(b)) - sum(a for _, a in dealt)
    shares = [0] * len(b)
    for y, a in dealt:
        shares[y] += a
    rest, factor, total = mass - sum(shares), factor_of(level), total_of(level, mass)
    # All probabilities have one denominator, so that whole numbers are added up.
    scale = rest if missing else 1
    scaled = [scale * a + (missing * (q - a) if missing else 0) for a, q in zip(shares, b, strict=True)]
    return [Fraction(UNIT * scale * q + factor * a, scale * total) for a, q in zip(scaled, b, strict=True)]
