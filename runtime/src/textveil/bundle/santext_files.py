"""Reader of the SanText part of a text bundle: its table, its metric and its levels."""

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import numpy as np

from textveil.bundle.fields import an_array, integer, one_of, record, text
from textveil.bundle.layout import EMBEDDINGS, LAW, TABLE, TABLE_MECHANISMS
from textveil.bundle.parts import MAX_LEVELS, Level, SanTextPart
from textveil.bundle.safetensors import parse_tensors
from textveil.bundle.staircase_files import check_levels
from textveil.errors import BundleDamaged
from textveil.mechanisms.baselines.table import LevelParameters, Table
from textveil.mechanisms.integer_sampling import MAX_TOTAL
from textveil.mechanisms.metric import Metric

_KEYS = {"neighbours", "grid", "median_squared_distance", "unknown_extra_squared_distance", "levels"}

#: Most numbers in a row of the embeddings.
MAX_DIMENSION = 4096

_DECIMAL = re.compile(r"[0-9]{1,40}(\.[0-9]{1,40})?")
_DEFAULTS = {"mechanism", "level", "replacement_probability"}


def open_santext(contents: Mapping[str, bytes], law: dict[str, Any]) -> SanTextPart:
    """Parse the files of SanText.

    Args:
        contents: The verified bytes of the bundle's files, by name.
        law: The parsed ``law.json``, with an entry ``santext``.

    Raises:
        BundleDamaged: The table, the metric, a level or a default is malformed or out of range.
    """
    constants = record(law["santext"], _KEYS, LAW)
    constants = {**constants, "symbols": law["symbols"], "files": law["files"]}
    table = Table.from_tensors(parse_tensors(contents[TABLE], TABLE), constants)
    metric = _metric(contents, constants)
    levels = tuple(_level(table, entry) for entry in an_array(constants["levels"], LAW, MAX_LEVELS))
    defaults = record(law["defaults"]["santext"], _DEFAULTS, LAW)
    level = check_levels([entry.name for entry in levels], defaults["level"])
    probability = text(defaults["replacement_probability"], LAW, _DECIMAL)
    mechanism = one_of(defaults["mechanism"], TABLE_MECHANISMS, LAW)
    if not 0 < Decimal(probability) <= 1:
        raise BundleDamaged(f"{LAW}: a default is not supported")
    return SanTextPart(
        santext_table=table,
        santext_metric=metric,
        levels=levels,
        default_table_mechanism=mechanism,
        default_level=level,
        default_replacement_probability=probability,
    )


def _level(table: Table, entry: object) -> Level:
    level = record(entry, {"name", "laws"}, LAW)
    laws = record(level["laws"], TABLE_MECHANISMS, LAW)
    return Level(
        text(level["name"], LAW),
        {mechanism: _level_parameters(table, mechanism, laws[mechanism]) for mechanism in TABLE_MECHANISMS},
    )


def _level_parameters(table: Table, mechanism: str, described: object) -> LevelParameters:
    entry = record(described, {"exponent", "weights", "base"}, LAW)
    weights, base = text(entry["weights"], LAW), None if entry["base"] is None else text(entry["base"], LAW)
    parameters = table.level_parameters(Decimal(text(entry["exponent"], LAW, _DECIMAL)), weights, base)
    table.base_measure(mechanism, parameters)  # raises an error for invalid parameters
    return parameters


def _metric(contents: Mapping[str, bytes], constants: dict[str, Any]) -> Metric:
    grid = integer(constants["grid"], 1, MAX_TOTAL, LAW)
    median = integer(constants["median_squared_distance"], 1, MAX_TOTAL - 1, LAW)
    extra = integer(constants["unknown_extra_squared_distance"], 0, MAX_TOTAL, LAW)
    rows = parse_tensors(contents[EMBEDDINGS], EMBEDDINGS)["rows"]
    if rows.dtype != np.int8 or rows.ndim != 2 or len(rows) != constants["symbols"] + 1:
        raise BundleDamaged(f"{EMBEDDINGS}: the rows do not fit the vocabulary")
    if not 1 <= rows.shape[1] <= MAX_DIMENSION:
        raise BundleDamaged(f"{EMBEDDINGS}: rows have more than {MAX_DIMENSION} numbers, or none")
    if (rows.shape[1] * 255**2 + extra) * grid**2 >= MAX_TOTAL:  # the integers of scores would overflow
        raise BundleDamaged(f"{LAW}: the constants of the metric are out of range")
    return Metric(rows=rows, grid=grid, median_squared=median, unknown_extra=extra)
