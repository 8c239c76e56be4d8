"""Parts of a text bundle: the staircase mechanism, SanText, and lists of the mode ``names``.

The classes hold the data of an opened bundle. The reader of SanText's files is imported only for bundles with SanText,
the parser of the name lists only at the first use of the mode.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from textveil.bundle.fields import an_array, record, text
from textveil.bundle.files import Contents
from textveil.bundle.layout import COMMON_WORDS, LAW, NAMES_KIND, NAMES_POOL, RULES, SHOWN_CAPITALS, SYMBOLS
from textveil.errors import BundleDamaged

if TYPE_CHECKING:
    from textveil.bundle.names_files import NamesLists
    from textveil.mechanisms.baselines.table import LevelParameters, Table
    from textveil.mechanisms.metric import Metric
    from textveil.mechanisms.staircase.staircase import StaircaseLevel
    from textveil.mechanisms.staircase.tables import StaircaseTable

#: Most symbols of a bundle, levels of a mechanism, and entity types of a template.
MAX_SYMBOLS, MAX_LEVELS, MAX_KINDS = 1 << 31, 64, 256
_NAME = re.compile(r"[a-z]+(-[a-z]+)*")


class KindFile(NamedTuple):
    """One entity type of the template: name, shape (``None`` for a list), bytes of its file."""

    name: str
    shape: str | None
    utf_8: bytes


class SkeletonFiles(NamedTuple):
    """Public lists that define the template (``textveil.text.skeleton``), in their public order."""

    function_words: str
    kinds: tuple[KindFile, ...]


@dataclass(frozen=True, kw_only=True, eq=False)
class StaircasePart:
    """Staircase mechanism of a bundle.

    The mechanism is that of Kairouz, Oh, Viswanath 2014 (extremal mechanisms for local differential privacy), not that
    of Geng and Viswanath for numbers. All fields are empty in a bundle without it.

    Attributes:
        staircase: Neighbors and base weights.
        staircase_levels: Parameters by epsilon, smallest first.
        skeleton: Public lists that define the template.
        default_staircase_level, default_protect: Level and mode of a call without these options.
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
    """SanText in a bundle; without it the bundle has no levels, no table and no metric.

    Attributes:
        santext_table: Neighbors, scores and roles.
        santext_metric: Distances of all inputs.
        levels: Privacy levels, strictest first.
        default_table_mechanism, default_level, default_replacement_probability: Values of a call without these options.
    """

    santext_table: "Table | None" = None
    santext_metric: "Metric | None" = None
    levels: tuple[Level, ...] = ()
    default_table_mechanism: str = ""
    default_level: str = ""
    default_replacement_probability: str = "1"


@dataclass(frozen=True)
class NamesFiles:
    """Files of the mode ``names`` before parsing.

    Attributes:
        kinds: Entity types with listed members, in their public order.
        pools: Entity types with a surrogate pool.
        contents: The bytes of the files, by name.
    """

    kinds: tuple[str, ...]
    pools: tuple[str, ...]
    contents: Mapping[str, bytes] = field(repr=False)

    @cached_property
    def lists(self) -> "NamesLists":
        """Return the lists, which are parsed at the first access.

        Raises:
            BundleDamaged: A list is malformed. The message has the file and the line.
        """
        from textveil.bundle.names_files import read_names

        return read_names(self.kinds, self.pools, self.contents)


@dataclass(frozen=True, kw_only=True, eq=False)
class NamesPart:
    """Lists of the mode ``names`` in a bundle.

    Attributes:
        names: The files, or ``None`` if the bundle has none.
    """

    names: NamesFiles | None = None


def names_files(entry: object) -> list[str]:
    """Return the names of the files that the entry ``names`` of ``law.json`` implies."""
    kinds, pools = _kinds(entry)
    return [COMMON_WORDS, SHOWN_CAPITALS, SYMBOLS, *map(NAMES_KIND.format, kinds), *map(NAMES_POOL.format, pools)]


def open_names(contents: Contents, entry: object, *, checked: bool = False) -> NamesPart:
    """Select the files of the mode ``names`` and check their total size; parse none of them.

    Args:
        contents: The verified bytes of the bundle's files, by name.
        entry: ``names`` in ``law.json``; its files exist.
        checked: Whether the size of the lists was checked before, as for the built-in bundle; no file is read then.

    Raises:
        BundleDamaged: An entity type has an invalid or a repeated name.
        BundleTooLarge: The lists exceed the bytes or entries that the size of the bundle allows.
    """
    kinds, pools = _kinds(entry)
    names = names_files(entry)
    if not checked:
        from textveil.bundle.lists import count_lists

        count_lists(contents, names)
    names += [RULES] if RULES in contents else []
    return NamesPart(names=NamesFiles(kinds, pools, contents.only(names)))


def _kinds(entry: object) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the entity types with listed members, and those with a surrogate pool."""
    named = record(entry, {"kinds", "pools"}, LAW)
    kinds, pools = (
        tuple(text(kind, LAW, _NAME) for kind in an_array(named[key], LAW, MAX_KINDS)) for key in ("kinds", "pools")
    )
    if len(set(kinds)) < len(kinds) or len(set(pools)) < len(pools):
        raise BundleDamaged(f"{LAW}: a kind of names occurs twice")
    return kinds, pools
