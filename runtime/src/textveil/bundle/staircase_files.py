"""Reader of the staircase part of a text bundle: its levels and the template's public lists."""

import re
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from textveil.bundle.fields import an_array, one_of, record, text
from textveil.bundle.layout import LAW, RUNG_OF_VISIBLE, STAIRCASE
from textveil.bundle.parts import MAX_KINDS, MAX_LEVELS, KindFile, SkeletonFiles, StaircasePart
from textveil.bundle.safetensors import parse_tensors
from textveil.errors import BundleDamaged
from textveil.mechanisms.staircase.staircase import Staircase, StaircaseLevel
from textveil.mechanisms.staircase.tables import StaircaseTable

_DECIMAL = re.compile(r"[0-9]{1,3}(\.[0-9]{1,9})?")
_FRACTION = re.compile(r"[0-9]{1,9}(/[1-9][0-9]{0,8})?")
_NAME = re.compile(r"[a-z]+(-[a-z]+)*")


def list_files(skeleton: object) -> list[str]:
    """Return the names of the list files of a template (``skeleton`` in ``law.json``)."""
    entry = record(skeleton, {"function_words", "kinds"}, LAW)
    kinds = (record(kind, {"name", "shape", "file"}, LAW) for kind in an_array(entry["kinds"], LAW, MAX_KINDS))
    return [text(name, LAW) for name in (entry["function_words"], *(kind["file"] for kind in kinds))]


def open_staircase(contents: Mapping[str, bytes], law: dict[str, Any]) -> StaircasePart:
    """Parse the files of the staircase mechanism.

    Args:
        contents: The verified bytes of the bundle's files, by name.
        law: The parsed ``law.json``, with an entry ``staircase`` whose lists exist and are printable.

    Raises:
        BundleDamaged: The table, a level, a list or a default is malformed, or violates a condition of the theorem.
    """
    table = StaircaseTable.from_tensors(parse_tensors(contents[STAIRCASE], STAIRCASE), law["symbols"])
    levels = staircase_levels(table, record(law["staircase"], {"levels"}, LAW)["levels"])
    skeleton = _skeleton(contents, law["skeleton"])
    defaults = record(law["defaults"]["staircase"], {"level", "visible"}, LAW)
    return StaircasePart(
        staircase=table,
        staircase_levels=levels,
        skeleton=skeleton,
        default_staircase_level=check_levels([level.name for level in levels], defaults["level"]),
        default_protect=RUNG_OF_VISIBLE[one_of(defaults["visible"], RUNG_OF_VISIBLE, LAW)],
    )


def check_levels(names: list[str], default: object) -> str:
    """Return the default level of a mechanism after checking the names of its levels.

    Raises:
        BundleDamaged: A name occurs twice, or the default is not one of the names.
    """
    if len(set(names)) != len(names):
        raise BundleDamaged(f"{LAW}: a level occurs twice")
    return one_of(default, names, LAW)


def staircase_levels(table: StaircaseTable, entries: object) -> tuple[StaircaseLevel, ...]:
    """Parse the levels of the staircase mechanism in ``law.json``, strictest first.

    Raises:
        BundleDamaged: The list is empty or out of order, or a level is malformed or violates a condition of the theorem
            on this table.
    """
    levels = tuple(_level(entry) for entry in an_array(entries, LAW, MAX_LEVELS))
    everything = np.ones(table.symbols, dtype=bool)
    for level in levels:
        Staircase.of(table, level, everything)  # all outputs allowed: the largest totals of any choice of outputs
    strictness = [level.epsilon for level in levels]
    if not levels or strictness != sorted(set(strictness)):
        raise BundleDamaged(f"{LAW}: levels of the staircase are out of order")
    return levels


def _level(entry: object) -> StaircaseLevel:
    level = record(entry, {"name", "epsilon", "share", "own_share"}, LAW)
    return StaircaseLevel(
        name=text(level["name"], LAW),
        epsilon=Decimal(text(level["epsilon"], LAW, _DECIMAL)),
        share=Fraction(text(level["share"], LAW, _FRACTION)),
        own_share=Fraction(text(level["own_share"], LAW, _FRACTION)),
    )


def _skeleton(contents: Mapping[str, bytes], entry: dict[str, Any]) -> SkeletonFiles:
    kinds = tuple(_kind_file(contents, kind) for kind in entry["kinds"])
    shapes = [kind.shape for kind in kinds if kind.shape is not None]
    if len({kind.name for kind in kinds}) != len(kinds) or len(set(shapes)) != len(shapes):
        raise BundleDamaged(f"{LAW}: a kind or a shape occurs twice")
    return SkeletonFiles(contents[entry["function_words"]].decode("utf-8"), kinds)


def _kind_file(contents: Mapping[str, bytes], entry: dict[str, Any]) -> KindFile:
    shape = entry["shape"]
    return KindFile(
        text(entry["name"], LAW, _NAME), None if shape is None else text(shape, LAW, _NAME), contents[entry["file"]]
    )
