"""The part of a text bundle that SanText needs: its table, its metric and its levels."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np

from textveil.bundle.safetensors_reader import parse_tensors
from textveil.bundle.staircase_files import LAW, MAX_LEVELS, check_default_level
from textveil.errors import BundleDamaged
from textveil.mechanisms.baselines.table import CAPPED, EXACT, LevelParameters, Table
from textveil.mechanisms.integer_sampling import MAX_TOTAL
from textveil.mechanisms.metric import Metric

TABLE, EMBEDDINGS = "table.safetensors", "embeddings.safetensors"
TABLE_MECHANISMS = ("santext", "santext+")
TAILS = (CAPPED, EXACT)
SANTEXT_KEYS = {"neighbours", "grid", "median_squared_distance", "unknown_extra_squared_distance", "levels"}

#: Most numbers of a row of vectors.
MAX_DIMENSION = 4096

_DECIMAL = re.compile(r"[0-9]{1,40}(\.[0-9]{1,40})?")
_DEFAULTS = {"mechanism", "tail", "level", "replacement_probability"}


@dataclass(frozen=True)
class Level:
    """One privacy level of SanText: its name, and its parameters by mechanism and tail, the same for all levels."""

    name: str
    parameters: dict[tuple[str, str], LevelParameters]


@dataclass(frozen=True)
class SanTextPart:
    """SanText as a bundle has it; without it there are no levels, and the table is ``None``.

    Attributes:
        table: Neighbors, scores and roles.
        metric: Distances of all inputs, or ``None`` where the bundle does not carry the embedding rows.
        levels: Privacy levels, strictest first.
        mechanism, tail, level, replacement_probability: Those of a call that names none.
    """

    table: Table | None = None
    metric: Metric | None = None
    levels: tuple[Level, ...] = ()
    mechanism: str = ""
    tail: str = ""
    level: str = ""
    replacement_probability: str = "1"


def open_santext(contents: Mapping[str, bytes], definition: dict[str, Any]) -> SanTextPart:
    """Opens the files of SanText.

    Args:
        contents: The bytes of the bundle's files, by name, as they were hashed.
        definition: ``law.json`` in format version 3.

    Raises:
        BundleDamaged: The table, the metric, a level or a default is malformed or out of range.
    """
    constants, defaults = definition["santext"], definition["defaults"]
    if constants is None:
        return SanTextPart()
    if set(constants) != SANTEXT_KEYS:
        raise BundleDamaged(f"{LAW}: unknown or missing keys")
    constants = {**constants, "symbols": definition["symbols"], "files": definition["files"]}
    table = Table.from_tensors(parse_tensors(contents[TABLE], TABLE), constants)
    metric = _open_metric(contents, constants)
    if len(constants["levels"]) > MAX_LEVELS:
        raise BundleDamaged(f"{LAW}: has more than {MAX_LEVELS} levels")
    levels = tuple(_level(table, metric, entry) for entry in constants["levels"])
    defaults = defaults["santext"]
    mechanism, tail, level = str(defaults["mechanism"]), str(defaults["tail"]), str(defaults["level"])
    probability = str(defaults["replacement_probability"])
    if not levels:
        raise BundleDamaged(f"{LAW}: has no levels")
    have = set(levels[0].parameters)
    if any(set(other.parameters) != have for other in levels):
        raise BundleDamaged(f"{LAW}: the levels have different mechanisms or tails")
    if (
        set(defaults) != _DEFAULTS
        or (mechanism, tail) not in have
        or not _DECIMAL.fullmatch(probability)
        or not 0 < Decimal(probability) <= 1
    ):
        raise BundleDamaged(f"{LAW}: a default is not supported")
    check_default_level([entry.name for entry in levels], level)
    return SanTextPart(table, metric, levels, mechanism, tail, level, probability)


def _level(table: Table, metric: Metric | None, entry: dict[str, Any]) -> Level:
    if set(entry) != {"name", "laws"} or set(entry["laws"]) != set(TABLE_MECHANISMS):
        raise BundleDamaged(f"{LAW}: a level has unknown or missing keys")
    if not isinstance(entry["name"], str):
        raise BundleDamaged(f"{LAW}: the name of a level is not text")
    tails = list(entry["laws"][TABLE_MECHANISMS[0]])
    if not tails or any(set(entry["laws"][mechanism]) != set(tails) for mechanism in TABLE_MECHANISMS):
        raise BundleDamaged(f"{LAW}: the mechanisms of a level have different tails, or none")
    parameters = {
        (m, tail): _level_parameters(table, metric, m, tail, entry["laws"][m][tail])
        for m in TABLE_MECHANISMS
        for tail in tails
    }
    return Level(entry["name"], parameters)


def _level_parameters(
    table: Table, metric: Metric | None, mechanism: str, tail: str, entry: dict[str, Any]
) -> LevelParameters:
    if set(entry) != {"exponent", "weights", "base"} or tail not in TAILS:
        raise BundleDamaged(f"{LAW}: a level needs another version of this package")
    if not _DECIMAL.fullmatch(entry["exponent"]):
        raise BundleDamaged(f"{LAW}: an exponent is not a decimal number")
    if tail == EXACT and metric is None:
        raise BundleDamaged(f"{LAW}: an exact tail needs the embedding rows")
    parameters = table.level_parameters(tail, Decimal(entry["exponent"]), entry["weights"], entry["base"])
    table.base_measure(mechanism, parameters)  # checks it
    return parameters


def _open_metric(contents: Mapping[str, bytes], definition: dict[str, Any]) -> Metric | None:
    grid, median, extra = (
        definition["grid"],
        definition["median_squared_distance"],
        definition["unknown_extra_squared_distance"],
    )
    if any(type(number) is not int for number in (grid, median, extra)) or min(grid, median) < 1 or extra < 0:
        raise BundleDamaged(f"{LAW}: the constants of the metric are out of range")
    if EMBEDDINGS not in definition["files"]:
        return None
    rows = parse_tensors(contents[EMBEDDINGS], EMBEDDINGS).get("rows")
    if rows is None or rows.dtype != np.int8 or rows.ndim != 2 or len(rows) != definition["symbols"] + 1:
        raise BundleDamaged(f"{EMBEDDINGS}: the rows do not fit the vocabulary")
    if not 1 <= rows.shape[1] <= MAX_DIMENSION:
        raise BundleDamaged(f"{EMBEDDINGS}: rows have more than {MAX_DIMENSION} numbers, or none")
    if max((rows.shape[1] * 255**2 + extra) * grid**2, median) >= MAX_TOTAL:  # beyond what scores are computed in
        raise BundleDamaged(f"{LAW}: the constants of the metric are out of range")
    return Metric(rows, grid, median, extra)
