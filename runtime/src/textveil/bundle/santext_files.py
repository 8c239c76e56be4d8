"""Parser of the data of SanText (random replacement of words): similar words, word distances and epsilons."""

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import numpy as np

from textveil.bundle.components import SanTextComponent, SanTextLevel
from textveil.bundle.layout import EMBEDDINGS, MAX_LEVELS, MECHANISM_FILE, TABLE, TABLE_MECHANISMS
from textveil.bundle.parsers import (
    check_levels,
    parse_array,
    parse_choice,
    parse_integer,
    parse_record,
    parse_tensors,
    parse_text,
)
from textveil.errors import BundleDamaged
from textveil.mechanisms.baselines.table import LevelParameters, SanTextTable
from textveil.mechanisms.integer_sampling import MAX_TOTAL
from textveil.mechanisms.metric import WordMetric

_SANTEXT_KEYS = {"neighbors_per_word", "grid", "median_squared_distance", "unknown_extra_squared_distance", "levels"}

#: Maximum number of dimensions of a word embedding.
MAX_DIMENSION = 4096

_DECIMAL = re.compile(r"[0-9]{1,40}(\.[0-9]{1,40})?")
_DEFAULT_KEYS = {"mechanism", "level", "replacement_probability"}


def parse_santext(contents: Mapping[str, bytes], definition: dict[str, Any]) -> SanTextComponent:
    """Parse the files of SanText, a mechanism that replaces words by similar words at random.

    Args:
        contents: Dictionary from each file name of the bundle (data folder) to the bytes of the file. The caller has
            checked their hashes.
        definition: The parsed ``mechanism.json``, with an entry ``santext``.

    Raises:
        BundleDamaged: The table, the word distances, an epsilon or a default is malformed or out of range.
    """
    constants = parse_record(definition["santext"], _SANTEXT_KEYS, MECHANISM_FILE)
    constants = {**constants, "vocabulary_size": definition["vocabulary_size"], "files": definition["files"]}
    table = SanTextTable.from_tensors(parse_tensors(contents[TABLE], TABLE), constants)
    metric = _parse_metric(contents, constants)
    levels = tuple(_parse_level(table, entry) for entry in parse_array(constants["levels"], MECHANISM_FILE, MAX_LEVELS))
    defaults = parse_record(definition["defaults"]["santext"], _DEFAULT_KEYS, MECHANISM_FILE)
    level = check_levels([entry.name for entry in levels], defaults["level"])
    probability = parse_text(defaults["replacement_probability"], MECHANISM_FILE, _DECIMAL)
    mechanism = parse_choice(defaults["mechanism"], TABLE_MECHANISMS, MECHANISM_FILE)
    if not 0 < Decimal(probability) <= 1:
        raise BundleDamaged(f"{MECHANISM_FILE}: a default value is not supported")
    return SanTextComponent(
        santext_table=table,
        santext_metric=metric,
        santext_levels=levels,
        default_table_mechanism=mechanism,
        default_level=level,
        default_replacement_probability=probability,
    )


def _parse_level(table: SanTextTable, entry: object) -> SanTextLevel:
    level = parse_record(entry, {"name", "parameters"}, MECHANISM_FILE)
    parameters_by_mechanism = parse_record(level["parameters"], TABLE_MECHANISMS, MECHANISM_FILE)
    return SanTextLevel(
        parse_text(level["name"], MECHANISM_FILE),
        {
            mechanism: _parse_parameters(table, mechanism, parameters_by_mechanism[mechanism])
            for mechanism in TABLE_MECHANISMS
        },
    )


def _parse_parameters(table: SanTextTable, mechanism: str, value: object) -> LevelParameters:
    entry = parse_record(value, {"exponent", "weights", "base"}, MECHANISM_FILE)
    weights, base = (
        parse_text(entry["weights"], MECHANISM_FILE),
        None if entry["base"] is None else parse_text(entry["base"], MECHANISM_FILE),
    )
    parameters = table.get_level_parameters(
        Decimal(parse_text(entry["exponent"], MECHANISM_FILE, _DECIMAL)), weights, base
    )
    table.compute_base_measure(mechanism, parameters)  # raises an error for invalid parameters
    return parameters


def _parse_metric(contents: Mapping[str, bytes], constants: dict[str, Any]) -> WordMetric:
    grid = parse_integer(constants["grid"], 1, MAX_TOTAL, MECHANISM_FILE)
    median = parse_integer(constants["median_squared_distance"], 1, MAX_TOTAL - 1, MECHANISM_FILE)
    extra = parse_integer(constants["unknown_extra_squared_distance"], 0, MAX_TOTAL, MECHANISM_FILE)
    rows = parse_tensors(contents[EMBEDDINGS], EMBEDDINGS)["rows"]
    if rows.dtype != np.int8 or rows.ndim != 2 or len(rows) != constants["vocabulary_size"] + 1:
        raise BundleDamaged(f"{EMBEDDINGS}: must have one row for each word of the vocabulary")
    if not 1 <= rows.shape[1] <= MAX_DIMENSION:
        raise BundleDamaged(f"{EMBEDDINGS}: a row must have 1 to {MAX_DIMENSION} numbers")
    if (rows.shape[1] * 255**2 + extra) * grid**2 >= MAX_TOTAL:  # the integers of scores would overflow
        raise BundleDamaged(f"{MECHANISM_FILE}: the constants of the word distances are out of range")
    return WordMetric(rows=rows, grid=grid, median_squared=median, unknown_extra=extra)
