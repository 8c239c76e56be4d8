"""The parts that a bundle for text may have: the staircase, SanText, and the lists of the rung ``names``.

A part is here as an opened bundle has it. What reads its files is imported where a bundle has them, and what parses the
lists of names when the rung is first used.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from textveil.bundle.fields import an_array, record, text
from textveil.bundle.files import Contents
from textveil.bundle.layout import COMMON_WORDS, LAW, NAMES_KIND, NAMES_POOL, SHOWN_CAPITALS, SYMBOLS
from textveil.errors import BundleDamaged

if TYPE_CHECKING:
    from textveil.bundle.names_files import NamesLists
    from textveil.mechanisms.baselines.table import LevelParameters, Table
    from textveil.mechanisms.metric import Metric
    from textveil.mechanisms.staircase.staircase import StaircaseLevel
    from textveil.mechanisms.staircase.tables import StaircaseTable

#: Most symbols of a bundle, levels of a mechanism, and kinds of a skeleton.
MAX_SYMBOLS, MAX_LEVELS, MAX_KINDS = 1 << 31, 64, 256
_NAME = re.compile(r"[a-z]+(-[a-z]+)*")


class KindFile(NamedTuple):
    """One kind of the skeleton as the bundle has it: its name, its shape (``None`` for a list), its file."""

    name: str
    shape: str | None
    utf_8: bytes


class SkeletonFiles(NamedTuple):
    """What the rule of the skeleton is made from (``textveil.text.skeleton``): public lists, in their public order."""

    function_words: str
    kinds: tuple[KindFile, ...]


@dataclass(frozen=True, kw_only=True, eq=False)
class StaircasePart:
    """The staircase as a bundle has it; nothing of it where the bundle has none.

    Attributes:
        staircase: Neighbors and base.
        staircase_levels: Strictest first.
        skeleton: What the rule of the skeleton is made from.
        default_staircase_level, default_protect: Those of a call that names none.
    """

    staircase: "StaircaseTable | None" = None
    staircase_levels: "tuple[StaircaseLevel, ...]" = ()
    skeleton: SkeletonFiles | None = None
    default_staircase_level: str = ""
    default_protect: str = ""


class Level(NamedTuple):
    """One privacy level of SanText: its name, and its parameters by mechanism."""

    name: str
    parameters: "dict[str, LevelParameters]"


@dataclass(frozen=True, kw_only=True, eq=False)
class SanTextPart:
    """SanText as a bundle has it; without it there are no levels, no table and no metric.

    Attributes:
        santext_table: Neighbors, scores and roles.
        santext_metric: Distances of all inputs.
        levels: Privacy levels, strictest first.
        default_table_mechanism, default_level, default_replacement_probability: Those of a call that names none.
    """

    santext_table: "Table | None" = None
    santext_metric: "Metric | None" = None
    levels: tuple[Level, ...] = ()
    default_table_mechanism: str = ""
    default_level: str = ""
    default_replacement_probability: str = "1"


@dataclass(frozen=True)
class NamesFiles:
    """The files of the rung ``names``, not yet parsed.

    Attributes:
        kinds: Kinds with members by list, in their public order.
        pools: Kinds with outputs.
        contents: The bytes of the files, by name.
    """

    kinds: tuple[str, ...]
    pools: tuple[str, ...]
    contents: Mapping[str, bytes] = field(repr=False)

    @cached_property
    def lists(self) -> "NamesLists":
        """The lists; read at the first use.

        Raises:
            BundleDamaged: One is malformed. The message names the file and the line.
        """
        from textveil.bundle.names_files import read_names

        return read_names(self.kinds, self.pools, self.contents)


@dataclass(frozen=True, kw_only=True, eq=False)
class NamesPart:
    """The lists of the rung ``names`` as a bundle has them.

    Attributes:
        names: Its files, or ``None`` where the bundle has none.
    """

    names: NamesFiles | None = None


def names_files(entry: object) -> list[str]:
    """Returns the names of the files that ``names`` in ``law.json`` stands for."""
    kinds, pools = _kinds(entry)
    return [COMMON_WORDS, SHOWN_CAPITALS, SYMBOLS, *map(NAMES_KIND.format, kinds), *map(NAMES_POOL.format, pools)]


def open_names(contents: Contents, entry: object, *, checked: bool = False) -> NamesPart:
    """Opens the files of the rung ``names``, and reads none of them.

    Args:
        contents: The bytes of the bundle's files, by name, as they were hashed.
        entry: ``names`` in ``law.json``; its files are there.
        checked: Whether its lists were counted before, as those of the built-in bundle were.

    Raises:
        BundleDamaged: A kind has no name, or one that another has.
        BundleTooLarge: The lists have more bytes or entries than those of a bundle of that size may have.
    """
    kinds, pools = _kinds(entry)
    names = names_files(entry)
    if not checked:
        from textveil.bundle.lists import count_lists

        count_lists(contents, names)
    return NamesPart(names=NamesFiles(kinds, pools, contents.only(names)))


def _kinds(entry: object) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The kinds that have members by list, and those that have outputs."""
    named = record(entry, {"kinds", "pools"}, LAW)
    kinds, pools = (
        tuple(text(kind, LAW, _NAME) for kind in an_array(named[key], LAW, MAX_KINDS)) for key in ("kinds", "pools")
    )
    if len(set(kinds)) < len(kinds) or len(set(pools)) < len(pools):
        raise BundleDamaged(f"{LAW}: a kind of names occurs twice")
    return kinds, pools
