"""Reader of the staircase part of a text bundle: its levels and the template's public lists."""

import re
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from textveil.bundle.components import MAX_ENTITY_TYPES, MAX_LEVELS, EntityTypeFile, StaircaseComponent, TemplateFiles
from textveil.bundle.layout import MECHANISM_FILE, STAIRCASE, STAIRCASE_MODES
from textveil.bundle.parsers import parse_array, parse_choice, parse_record, parse_tensors, parse_text
from textveil.errors import BundleDamaged
from textveil.mechanisms.staircase.staircase import Staircase, StaircaseLevel, StaircaseTable

_DECIMAL = re.compile(r"[0-9]{1,3}(\.[0-9]{1,9})?")
_FRACTION = re.compile(r"[0-9]{1,9}(/[1-9][0-9]{0,8})?")
_NAME = re.compile(r"[a-z]+(-[a-z]+)*")


def list_template_files(template: object) -> list[str]:
    """Return the names of the files of a template's lists.

    Args:
        template: The entry ``template`` of ``mechanism.json``.
    """
    entry = parse_record(template, {"function_words", "entity_types"}, MECHANISM_FILE)
    entity_types = (
        parse_record(kind, {"name", "shape", "file"}, MECHANISM_FILE)
        for kind in parse_array(entry["entity_types"], MECHANISM_FILE, MAX_ENTITY_TYPES)
    )
    return [
        parse_text(name, MECHANISM_FILE) for name in (entry["function_words"], *(kind["file"] for kind in entity_types))
    ]


def parse_staircase(contents: Mapping[str, bytes], definition: dict[str, Any]) -> StaircaseComponent:
    """Parse the files of the staircase mechanism.

    Args:
        contents: The bytes of the bundle's files, whose hashes are checked, by name.
        definition: The parsed ``mechanism.json``. It must have an entry ``staircase``, and the lists that it names must
            exist and be printable.

    Raises:
        BundleDamaged: The table, a level, a list or a default is malformed, or violates a condition of the theorem.
    """
    table = StaircaseTable.from_tensors(parse_tensors(contents[STAIRCASE], STAIRCASE), definition["vocabulary_size"])
    levels = parse_staircase_levels(table, parse_record(definition["staircase"], {"levels"}, MECHANISM_FILE)["levels"])
    template = _parse_template(contents, definition["template"])
    defaults = parse_record(definition["defaults"]["staircase"], {"level", "mode"}, MECHANISM_FILE)
    return StaircaseComponent(
        staircase_table=table,
        staircase_levels=levels,
        template=template,
        default_staircase_level=check_levels([level.name for level in levels], defaults["level"]),
        default_mode=parse_choice(defaults["mode"], STAIRCASE_MODES, MECHANISM_FILE),
    )


def check_levels(names: list[str], default_name: object) -> str:
    """Return the default level of a mechanism after checking the names of its levels.

    Raises:
        BundleDamaged: A name occurs twice, or the default is not one of the names.
    """
    if len(set(names)) != len(names):
        raise BundleDamaged(f"{MECHANISM_FILE}: a level occurs twice")
    return parse_choice(default_name, names, MECHANISM_FILE)


def parse_staircase_levels(table: StaircaseTable, entries: object) -> tuple[StaircaseLevel, ...]:
    """Parse the levels of the staircase mechanism in ``mechanism.json``, strictest first.

    Raises:
        BundleDamaged: The list is empty or out of order, or a level is malformed or violates a condition of the theorem
            on this table.
    """
    levels = tuple(_parse_level(entry) for entry in parse_array(entries, MECHANISM_FILE, MAX_LEVELS))
    all_outputs = np.ones(table.symbol_count, dtype=bool)
    for level in levels:
        Staircase.from_table(
            table, level, all_outputs
        )  # all outputs allowed: the largest totals of any choice of outputs
    strictness = [level.epsilon for level in levels]
    if not levels or strictness != sorted(set(strictness)):
        raise BundleDamaged(f"{MECHANISM_FILE}: the levels of the staircase must ascend")
    return levels


def _parse_level(entry: object) -> StaircaseLevel:
    level = parse_record(entry, {"name", "epsilon", "share"}, MECHANISM_FILE)
    return StaircaseLevel(
        name=parse_text(level["name"], MECHANISM_FILE),
        epsilon=Decimal(parse_text(level["epsilon"], MECHANISM_FILE, _DECIMAL)),
        share=Fraction(parse_text(level["share"], MECHANISM_FILE, _FRACTION)),
    )


def _parse_template(contents: Mapping[str, bytes], entry: dict[str, Any]) -> TemplateFiles:
    entity_types = tuple(_parse_entity_type(contents, kind) for kind in entry["entity_types"])
    shapes = [kind.shape for kind in entity_types if kind.shape is not None]
    if len({kind.name for kind in entity_types}) != len(entity_types) or len(set(shapes)) != len(shapes):
        raise BundleDamaged(f"{MECHANISM_FILE}: an entity type or a pattern occurs twice")
    return TemplateFiles(contents[entry["function_words"]].decode("utf-8"), entity_types)


def _parse_entity_type(contents: Mapping[str, bytes], entry: dict[str, Any]) -> EntityTypeFile:
    shape = entry["shape"]
    return EntityTypeFile(
        parse_text(entry["name"], MECHANISM_FILE, _NAME),
        None if shape is None else parse_text(shape, MECHANISM_FILE, _NAME),
        contents[entry["file"]],
    )
