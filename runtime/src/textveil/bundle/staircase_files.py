"""The part of a text bundle that the staircase needs: its levels, and the public lists of the skeleton."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from textveil.bundle.lists import read_list
from textveil.bundle.safetensors_reader import parse_tensors
from textveil.errors import BundleDamaged
from textveil.mechanisms.staircase.context import ContextTable
from textveil.mechanisms.staircase.fluent import FluentStaircase
from textveil.mechanisms.staircase.staircase import Staircase, StaircaseLevel
from textveil.mechanisms.staircase.table import StaircaseTable

LAW = "law.json"
STAIRCASE, CONTEXT = "staircase.safetensors", "context.safetensors"
#: Most levels of a mechanism, and kinds of a skeleton.
MAX_LEVELS, MAX_KINDS = 64, 256
_DECIMAL = re.compile(r"[0-9]{1,3}(\.[0-9]{1,9})?")
_FRACTION = re.compile(r"[0-9]{1,9}(/[1-9][0-9]{0,8})?")
_NAME = re.compile(r"[a-z]+(-[a-z]+)*")


@dataclass(frozen=True)
class KindFile:
    """One kind of the skeleton as the bundle has it: its name, its shape (``None`` for a list) and its entries.

    They stay the bytes of the file: a text with one letter that is not Latin takes twice as many.
    """

    name: str
    shape: str | None
    utf_8: bytes

    @property
    def content(self) -> str:
        """Returns the entries as text."""
        return self.utf_8.decode("utf-8")


@dataclass(frozen=True)
class SkeletonFiles:
    """What the rule of the skeleton is made from (``textveil.text.skeleton``): public lists, in their public order."""

    function_words: str
    kinds: tuple[KindFile, ...]


def staircase_levels(table: StaircaseTable, constants: dict[str, Any]) -> tuple[StaircaseLevel, ...]:
    """Returns the levels of the staircase as ``law.json`` has them, strictest first.

    Raises:
        BundleDamaged: There is none, one is malformed or does not fulfill the theorem's conditions on this table.
    """
    if set(constants) != {"levels"}:
        raise BundleDamaged(f"{LAW}: unknown or missing keys")
    if len(constants["levels"]) > MAX_LEVELS:
        raise BundleDamaged(f"{LAW}: has more than {MAX_LEVELS} levels")
    levels = tuple(_level(entry) for entry in constants["levels"])
    everything = np.ones(table.symbols, dtype=bool)
    for level in levels:
        Staircase.of(table, level, everything)  # the largest totals that any choice of outputs has
    strictness = [level.epsilon for level in levels]
    if not levels or strictness != sorted(set(strictness)):
        raise BundleDamaged(f"{LAW}: levels of the staircase are out of order")
    return levels


def open_context(
    content: bytes, table: StaircaseTable, levels: tuple[StaircaseLevel, ...], kinds: int, vocabulary: str
) -> ContextTable:
    """Opens ``context.safetensors`` and certifies it at every level.

    Args:
        content: Its bytes.
        table: The staircase that draws in contexts.
        levels: Its levels.
        kinds: Number of kinds of the skeleton.
        vocabulary: SHA-256 of ``vocabulary.tsv``, hexadecimal.

    Raises:
        BundleDamaged: It is of another vocabulary, malformed, or its totals may reach 2**62.
    """
    tensors = parse_tensors(content, CONTEXT)
    if tensors["vocabulary"].dtype != np.uint8 or tensors["vocabulary"].tobytes() != bytes.fromhex(vocabulary):
        raise BundleDamaged(f"{CONTEXT}: belongs to another vocabulary")
    context = ContextTable.from_tensors(tensors, table.symbols, kinds)
    everything = np.ones(table.symbols, dtype=bool)
    for level in levels:
        FluentStaircase(Staircase.of(table, level, everything), context)
    return context


def check_default_level(names: list[str], default: str) -> None:
    """Checks that the levels of a mechanism have different names, of which the default is one.

    Raises:
        BundleDamaged: They have not.
    """
    if default not in names or len(set(names)) != len(names):
        raise BundleDamaged("the default level is not a level of law.json, or a level occurs twice")


def read_skeleton(contents: Mapping[str, bytes], entry: dict[str, Any]) -> SkeletonFiles:
    """Reads the lists of the skeleton from the bytes of the bundle's files.

    Raises:
        BundleDamaged: An entry is malformed.
    """
    if set(entry) != {"function_words", "kinds"}:
        raise BundleDamaged(f"{LAW}: unknown or missing keys")
    if len(entry["kinds"]) > MAX_KINDS:
        raise BundleDamaged(f"{LAW}: has more than {MAX_KINDS} kinds")
    kinds = tuple(_kind_file(contents, kind) for kind in entry["kinds"])
    shapes = [kind.shape for kind in kinds if kind.shape is not None]
    if len({kind.name for kind in kinds}) != len(kinds) or len(set(shapes)) != len(shapes):
        raise BundleDamaged(f"{LAW}: a kind or a shape occurs twice")
    return SkeletonFiles(read_list(contents, entry["function_words"]), kinds)


def _level(entry: dict[str, Any]) -> StaircaseLevel:
    if set(entry) != {"name", "epsilon", "share", "own_share"} or not isinstance(entry["name"], str):
        raise BundleDamaged(f"{LAW}: a level has unknown or missing keys")
    if not _DECIMAL.fullmatch(entry["epsilon"]) or not all(
        _FRACTION.fullmatch(entry[key]) for key in ("share", "own_share")
    ):
        raise BundleDamaged(f"{LAW}: a number of a level is malformed")
    return StaircaseLevel(
        name=entry["name"],
        epsilon=Decimal(entry["epsilon"]),
        share=Fraction(entry["share"]),
        own_share=Fraction(entry["own_share"]),
    )


def _kind_file(contents: Mapping[str, bytes], entry: dict[str, Any]) -> KindFile:
    if set(entry) != {"name", "shape", "file"}:
        raise BundleDamaged(f"{LAW}: a kind has unknown or missing keys")
    if not _NAME.fullmatch(entry["name"]) or not (entry["shape"] is None or _NAME.fullmatch(entry["shape"])):
        raise BundleDamaged(f"{LAW}: a kind has a name or a shape that is none")
    read_list(contents, entry["file"])
    return KindFile(entry["name"], entry["shape"], contents[entry["file"]])
