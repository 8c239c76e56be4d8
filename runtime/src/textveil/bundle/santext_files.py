"""The part of a text bundle that SanText needs: its table, its metric and its levels."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np

from textveil.bundle.fields import an_array, an_object, integer, one_of, record, text
from textveil.bundle.layout import EMBEDDINGS, LAW, TABLE, TABLE_MECHANISMS, TAILS
from textveil.bundle.safetensors import parse_tensors
from textveil.bundle.staircase_files import MAX_LEVELS, check_levels
from textveil.errors import BundleDamaged
from textveil.mechanisms.baselines.table import EXACT, LevelParameters, Table
from textveil.mechanisms.integer_sampling import MAX_TOTAL
from textveil.mechanisms.metric import Metric

_KEYS = {"neighbours", "grid", "median_squared_distance", "unknown_extra_squared_distance", "levels"}

#: Most numbers of a row of vectors.
MAX_DIMENSION = 4096

_DECIMAL = re.compile(r"[0-9]{1,40}(\.[0-9]{1,40})?")
_DEFAULTS = {"mechanism", "tail", "level", "replacement_probability"}


@dataclass(frozen=True)
class Level:
    """One privacy level of SanText: its name, and its parameters by mechanism and tail, the same for all levels."""

    name: str
    parameters: dict[tuple[str, str], LevelParameters]


@dataclass(frozen=True, kw_only=True, eq=False)
class SanTextPart:
    """SanText as a bundle has it; without it there are no levels, and no table.

    Attributes:
        santext_table: Neighbors, scores and roles.
        metric: Distances of all inputs, or ``None`` where the bundle does not carry the embedding rows.
        levels: Privacy levels, strictest first.
        default_table_mechanism, default_tail, default_level, default_replacement_probability: Those of a call that
            names none.
    """

    santext_table: Table | None = None
    metric: Metric | None = None
    levels: tuple[Level, ...] = ()
    default_table_mechanism: str = ""
    default_tail: str = ""
    default_level: str = ""
    default_replacement_probability: str = "1"


def open_santext(contents: Mapping[str, bytes], law: dict[str, Any]) -> SanTextPart:
    """Opens the files of SanText.

    Args:
        contents: The bytes of the bundle's files, by name, as they were hashed.
        law: ``law.json``, which has SanText.

    Raises:
        BundleDamaged: The table, the metric, a level or a default is malformed or out of range.
    """
    constants = record(law["santext"], _KEYS, LAW)
    constants = {**constants, "symbols": law["symbols"], "files": law["files"]}
    table = Table.from_tensors(parse_tensors(contents[TABLE], TABLE), constants)
    metric = _metric(contents, constants)
    levels = tuple(_level(table, metric, entry) for entry in an_array(constants["levels"], LAW, MAX_LEVELS))
    defaults = record(law["defaults"]["santext"], _DEFAULTS, LAW)
    level = check_levels([entry.name for entry in levels], defaults["level"])
    have = levels[0].parameters.keys()
    if any(other.parameters.keys() != have for other in levels):
        raise BundleDamaged(f"{LAW}: the levels have different mechanisms or tails")
    probability = text(defaults["replacement_probability"], LAW, _DECIMAL)
    mechanism, tail = one_of(defaults["mechanism"], TABLE_MECHANISMS, LAW), one_of(defaults["tail"], TAILS, LAW)
    if (mechanism, tail) not in have or not 0 < Decimal(probability) <= 1:
        raise BundleDamaged(f"{LAW}: a default is not supported")
    return SanTextPart(
        santext_table=table,
        metric=metric,
        levels=levels,
        default_table_mechanism=mechanism,
        default_tail=tail,
        default_level=level,
        default_replacement_probability=probability,
    )


def _level(table: Table, metric: Metric | None, entry: object) -> Level:
    level = record(entry, {"name", "laws"}, LAW)
    laws = record(level["laws"], TABLE_MECHANISMS, LAW)
    parameters = {
        (mechanism, tail): _level_parameters(table, metric, mechanism, tail, described)
        for mechanism in TABLE_MECHANISMS
        for tail, described in an_object(laws[mechanism], LAW).items()
    }
    tails = {mechanism: {tail for name, tail in parameters if name == mechanism} for mechanism in TABLE_MECHANISMS}
    if not parameters or len(set(map(frozenset, tails.values()))) != 1:
        raise BundleDamaged(f"{LAW}: the mechanisms of a level have different tails, or none")
    return Level(text(level["name"], LAW), parameters)


def _level_parameters(
    table: Table, metric: Metric | None, mechanism: str, tail: str, described: object
) -> LevelParameters:
    entry = record(described, {"exponent", "weights", "base"}, LAW)
    if one_of(tail, TAILS, LAW) == EXACT and metric is None:
        raise BundleDamaged(f"{LAW}: an exact tail needs the embedding rows")
    weights, base = text(entry["weights"], LAW), None if entry["base"] is None else text(entry["base"], LAW)
    parameters = table.level_parameters(tail, Decimal(text(entry["exponent"], LAW, _DECIMAL)), weights, base)
    table.base_measure(mechanism, parameters)  # checks it
    return parameters


def _metric(contents: Mapping[str, bytes], constants: dict[str, Any]) -> Metric | None:
    grid = integer(constants["grid"], 1, MAX_TOTAL, LAW)
    median = integer(constants["median_squared_distance"], 1, MAX_TOTAL - 1, LAW)
    extra = integer(constants["unknown_extra_squared_distance"], 0, MAX_TOTAL, LAW)
    if EMBEDDINGS not in constants["files"]:
        return None
    rows = parse_tensors(contents[EMBEDDINGS], EMBEDDINGS)["rows"]
    if rows.dtype != np.int8 or rows.ndim != 2 or len(rows) != constants["symbols"] + 1:
        raise BundleDamaged(f"{EMBEDDINGS}: the rows do not fit the vocabulary")
    if not 1 <= rows.shape[1] <= MAX_DIMENSION:
        raise BundleDamaged(f"{EMBEDDINGS}: rows have more than {MAX_DIMENSION} numbers, or none")
    if (rows.shape[1] * 255**2 + extra) * grid**2 >= MAX_TOTAL:  # beyond what scores are computed in
        raise BundleDamaged(f"{LAW}: the constants of the metric are out of range")
    return Metric(rows, grid, median, extra)
