"""Parser of the data of the staircase mechanism (random replacement of words): similar words, epsilons and lists."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from textveil.bundle.layout import MAX_LEVELS, MECHANISM_FILE, STAIRCASE, STAIRCASE_MODES
from textveil.bundle.parsers import (
    TYPE_NAME,
    check_levels,
    parse_array,
    parse_choice,
    parse_record,
    parse_tensors,
    parse_text,
)
from textveil.errors import BundleDamaged
from textveil.mechanisms.staircase.staircase import Staircase, StaircaseLevel, StaircaseTable

_DECIMAL = re.compile(r"[0-9]{1,3}(\.[0-9]{1,9})?")
_FRACTION = re.compile(r"[0-9]{1,9}(/[1-9][0-9]{0,8})?")


class EntityTypeFile(NamedTuple):
    """One entity type, such as ``city``, with the lists of the words that belong to this type.

    Attributes:
        name: Name of the entity type.
        shape: Name of the pattern that strings of the type match, such as ``email`` or ``date``. ``None`` if the type
            consists of listed words.
        files: Content of each list by file name.

    Example:
        >>> files = {"entity.city.txt": b"leeds\\n", "entity.state.txt": b"ohio\\n"}
        >>> EntityTypeFile("city", None, files).utf_8.split()
        [b'leeds', b'ohio']
    """

    name: str
    shape: str | None
    files: Mapping[str, bytes]

    @property
    def utf_8(self) -> bytes:
        """The bytes of all word lists of the entity type, joined in order. Each list ends with a line feed."""
        return b"".join(content if content.endswith(b"\n") else content + b"\n" for content in self.files.values())


class TemplateFiles(NamedTuple):
    """Public word lists: words that stay unchanged in a text, and words that are replaced by others of their type.

    ``textveil.text.token_rules`` applies the lists.

    Attributes:
        function_words: Text of the list of function words, one per line.
        entity_types: Entity types in the order of ``mechanism.json``. If several types list a word, the first one
            applies.

    Example:
        >>> from textveil.bundle import DEFAULT_BUNDLE, open_bundle
        >>> template = open_bundle(DEFAULT_BUNDLE).template
        >>> [entity_type.name for entity_type in template.entity_types][:2]
        ['email', 'url']
    """

    function_words: str
    entity_types: tuple[EntityTypeFile, ...]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class StaircaseData:
    """Data of the staircase mechanism, which replaces words at random, in a bundle (data folder).

    Attributes:
        table: Similar words of each word (neighbors), and base weights.
        levels: Parameters of each epsilon, smallest epsilon first.
        template: Public lists of the words that stay unchanged, and of the words that are replaced by others of their
            type.
        default_level: Name of the epsilon for calls that pass no epsilon.
        default_mode: Protection mode for calls that select the mechanism but no mode.
    """

    table: StaircaseTable
    levels: tuple[StaircaseLevel, ...]
    template: TemplateFiles
    default_level: str
    default_mode: str


def parse_staircase(contents: Mapping[str, bytes], definition: dict[str, Any]) -> StaircaseData:
    """Parse the files of the staircase mechanism, which replaces words at random.

    Args:
        contents: Dictionary from each file name of the bundle (data folder) to the bytes of the file. The caller has
            checked their hashes.
        definition: The parsed ``mechanism.json``, with an entry ``staircase``. The caller has checked that the word
            lists exist and are printable.

    Raises:
        BundleDamaged: The table, an epsilon with its parameters, or a default is malformed, or violates a condition of
            the privacy theorem (docs/proofs/staircase.md).
    """
    table = StaircaseTable.from_tensors(parse_tensors(contents[STAIRCASE], STAIRCASE), definition["vocabulary_size"])
    levels = parse_staircase_levels(table, parse_record(definition["staircase"], {"levels"}, MECHANISM_FILE)["levels"])
    template = _parse_template(contents, definition["template"])
    defaults = parse_record(definition["defaults"]["staircase"], {"level", "mode"}, MECHANISM_FILE)
    return StaircaseData(
        table=table,
        levels=levels,
        template=template,
        default_level=check_levels([level.name for level in levels], defaults["level"]),
        default_mode=parse_choice(defaults["mode"], STAIRCASE_MODES, MECHANISM_FILE),
    )


def parse_staircase_levels(table: StaircaseTable, entries: object) -> tuple[StaircaseLevel, ...]:
    """Parse the parameters of each epsilon of the staircase mechanism, smallest epsilon first.

    Args:
        table: The nearest words of each word (neighbors), and the base weights.
        entries: The list of levels (epsilons with their parameters) in ``mechanism.json``.

    Raises:
        BundleDamaged: The list is empty or out of order, a level is malformed, or a level violates a condition of the
            privacy theorem on this table (docs/proofs/staircase.md).
    """
    levels = tuple(_parse_level(entry) for entry in parse_array(entries, MECHANISM_FILE, MAX_LEVELS))
    all_outputs = np.ones(table.symbol_count, dtype=bool)
    for level in levels:
        # This check covers every choice of outputs: the totals of weights are largest if all outputs are allowed.
        Staircase.from_table(table, level, all_outputs)
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
    entity_types = tuple(_parse_template_type(contents, fields) for fields in entry["entity_types"])
    shapes = [entity_type.shape for entity_type in entity_types if entity_type.shape is not None]
    names = {entity_type.name for entity_type in entity_types}
    if len(names) != len(entity_types) or len(set(shapes)) != len(shapes):
        raise BundleDamaged(f"{MECHANISM_FILE}: an entity type or a pattern occurs twice")
    return TemplateFiles(contents[entry["function_words"]].decode("utf-8"), entity_types)


def _parse_template_type(contents: Mapping[str, bytes], entry: dict[str, Any]) -> EntityTypeFile:
    shape = entry["shape"]
    return EntityTypeFile(
        parse_text(entry["name"], MECHANISM_FILE, TYPE_NAME),
        None if shape is None else parse_text(shape, MECHANISM_FILE, TYPE_NAME),
        {name: contents[name] for name in entry["files"]},
    )
