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
from textveil.mechanisms.baselines.table import LevelParameters, Table
from textveil.mechanisms.integer_sampling import MAX_TOTAL
from textveil.mechanisms.metric import Metric

TABLE, EMBEDDINGS = "table.safetensors", "embeddings.safetensors"
TABLE_MECHANISMS = ("santext", "santext+")
SANTEXT_KEYS = {"neighbours", "grid", "median_squared_distance", "unknown_extra_squared_distance", "levels"}

#: Most numbers of a row of vectors.
MAX_DIMENSION = 4096

_DECIMAL = re.compile(r"[0-9]{1,40}(\.[0-9]{1,40})?")
_DEFAULTS = {"mechanism", "level", "replacement_probability"}


@dataclass(frozen=True)
class Level:
    """One privacy level of SanText: its name, and its parameters by mechanism."""

    name: str
    parameters: dict[str, LevelParameters]


@dataclass(frozen=True, kw_only=True)
class SanTextPart:
    """SanText as a bundle has it; without it there are no levels, and table and metric are ``None``.

    Attributes:
        table: Neighbors, scores and roles.
        metric: Distances of all inputs.
        levels: Privacy levels, strictest first.
        mechanism, level, replacement_probability: Those of a call that names none.
    """

    table: Table | None = None
    metric: Metric | None = None
    levels: tuple[Level, ...] = ()
    mechanism: str = ""
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
    levels = tuple(_level(table, entry) for entry in constants["levels"])
    defaults = defaults["santext"]
    mechanism, level = str(defaults["mechanism"]), str(defaults["level"])
    probability = str(defaults["replacement_probability"])
    if not levels:
        raise BundleDamaged(f"{LAW}: has no levels")
    if (
        set(defaults) != _DEFAULTS
        or mechanism not in TABLE_MECHANISMS
        or not _DECIMAL.fullmatch(probability)
        or not 0 < Decimal(probability) <= 1
    ):
        raise BundleDamaged(f"{LAW}: a default is not supported")
    check_default_level([entry.name for entry in levels], level)
    return SanTextPart(
        table=table,
        metric=metric,
        levels=levels,
        mechanism=mechanism,
        level=level,
        replacement_probability=probability,
    )


def _level(table: Table, entry: dict[str, Any]) -> Level:
    if set(entry) != {"name", "laws"} or set(entry["laws"]) != set(TABLE_MECHANISMS):
        raise BundleDamaged(f"{LAW}: a level has unknown or missing keys")
    if not isinstance(entry["name"], str):
        raise BundleDamaged(f"{LAW}: the name of a level is not text")
    return Level(entry["name"], {m: _level_parameters(table, m, entry["laws"][m]) for m in TABLE_MECHANISMS})


def _level_parameters(table: Table, mechanism: str, entry: dict[str, Any]) -> LevelParameters:
    if set(entry) != {"exponent", "weights", "base"}:
        raise BundleDamaged(f"{LAW}: a level needs another version of this package")
    if not _DECIMAL.fullmatch(entry["exponent"]):
        raise BundleDamaged(f"{LAW}: an exponent is not a decimal number")
    parameters = table.level_parameters(Decimal(entry["exponent"]), entry["weights"], entry["base"])
    table.base_measure(mechanism, parameters)  # checks it
    return parameters


def _open_metric(contents: Mapping[str, bytes], definition: dict[str, Any]) -> Metric:
    grid, median, extra = (
        definition["grid"],
        definition["median_squared_distance"],
        definition["unknown_extra_squared_distance"],
    )
    if any(type(number) is not int for number in (grid, median, extra)) or min(grid, median) < 1 or extra < 0:
        raise BundleDamaged(f"{LAW}: the constants of the metric are out of range")
    rows = parse_tensors(contents[EMBEDDINGS], EMBEDDINGS).get("rows")
    if rows is None or rows.dtype != np.int8 or rows.ndim != 2 or len(rows) != definition["symbols"] + 1:
        raise BundleDamaged(f"{EMBEDDINGS}: the rows do not fit the vocabulary")
    if not 1 <= rows.shape[1] <= MAX_DIMENSION:
        raise BundleDamaged(f"{EMBEDDINGS}: rows have more than {MAX_DIMENSION} numbers, or none")
    if max((rows.shape[1] * 255**2 + extra) * grid**2, median) >= MAX_TOTAL:  # beyond what scores are computed in
        raise BundleDamaged(f"{LAW}: the constants of the metric are out of range")
    return Metric(rows=rows, grid=grid, median_squared=median, unknown_extra=extra)
