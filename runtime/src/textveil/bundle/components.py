"""Parts of a text bundle (folder with data for rewriting texts).

The parts are two mechanisms that replace words at random (staircase and SanText), and the word lists of the mode
``names``, which hides names and numbers.

The classes hold the data of an opened bundle. The functions parse the parts that ``mechanism.json`` defines. The
vocabulary, the staircase and the lists of the mode ``names`` are parsed at their first use, so that bundles open
quickly.
"""

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from textveil.bundle.files import BundleFiles
from textveil.bundle.layout import (
    COMMON_WORDS,
    ENTITY_LIST,
    FACT_LIST,
    KEPT_CAPITALS,
    MAX_ENTITY_TYPES,
    MECHANISM_FILE,
    RULES,
    SURROGATE_POOL,
    SYMBOLS,
    VOCABULARY,
)
from textveil.bundle.parsers import TYPE_NAME, parse_array, parse_object, parse_record, parse_text
from textveil.errors import BundleDamaged

if TYPE_CHECKING:
    from textveil.bundle.names_files import NamesLists
    from textveil.bundle.staircase_files import StaircaseData, TemplateFiles
    from textveil.mechanisms.baselines.table import LevelParameters, SanTextTable
    from textveil.mechanisms.metric import WordMetric
    from textveil.mechanisms.staircase.staircase import StaircaseLevel, StaircaseTable

#: Keys of ``names`` in ``mechanism.json``; ``facts`` is optional.
_NAMES_KEYS = ("entity_types", "surrogate_pools", "facts")


@dataclass(frozen=True, eq=False, repr=False)
class VocabularyFile:
    """The file with the words that a mechanism can read or print, not yet parsed.

    Attributes:
        contents: The file of the vocabulary by its name; empty if the bundle (data folder) has no mechanism.
        size: Number of words by ``mechanism.json``.
    """

    contents: BundleFiles = field(repr=False)
    size: int

    @cached_property
    def words_and_ids(self) -> tuple[list[str], dict[str, int]]:
        """Return the printed spelling of each word, and the id of each spelling. The first access parses the file.

        Raises:
            BundleDamaged: The file is malformed, or has another number of words than ``mechanism.json``.
        """
        contents = self.contents.select_files(self.contents)  # a copy, which drops the bytes of the file after parsing
        words, ids = _parse_vocabulary(contents[VOCABULARY].decode("utf-8")) if contents else ([], {})
        if self.size != len(words):
            raise BundleDamaged(f"{MECHANISM_FILE}: its sizes do not match the vocabulary")
        return words, ids


@dataclass(frozen=True, eq=False, repr=False)
class StaircaseFiles:
    """Files of the staircase mechanism, which replaces words at random, not yet parsed.

    The mechanism is that of Kairouz, Oh, Viswanath 2014 (extremal mechanisms for local differential privacy), not that
    of Geng and Viswanath for numbers.

    Attributes:
        contents: Dictionary from each file name of the bundle (data folder) to the bytes of the file.
        definition: The parsed ``mechanism.json``, with an entry ``staircase``.
    """

    contents: BundleFiles = field(repr=False)
    definition: dict[str, Any] = field(repr=False)

    @cached_property
    def data(self) -> "StaircaseData":
        """Return the contents of the files as typed values. The first access parses the files.

        Raises:
            BundleDamaged: The table, an epsilon with its parameters, or a default is malformed.
        """
        from textveil.bundle.staircase_files import parse_staircase

        contents = self.contents.select_files(self.contents)  # a copy, which drops the bytes of the files after parsing
        return parse_staircase(contents, self.definition)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class StaircaseComponent:
    """Part of a bundle (data folder) for the staircase mechanism, which replaces words at random.

    The files are parsed at their first use, so that bundles open quickly. All properties are empty if the bundle lacks
    the mechanism.

    Attributes:
        staircase_files: Files of the mechanism; ``None`` if the bundle lacks it.
    """

    staircase_files: StaircaseFiles | None = None

    @property
    def staircase_table(self) -> "StaircaseTable | None":
        """Similar words of each word (neighbors), and base weights."""
        return None if self.staircase_files is None else self.staircase_files.data.table

    @property
    def staircase_levels(self) -> "tuple[StaircaseLevel, ...]":
        """Parameters of each epsilon, smallest epsilon first."""
        return () if self.staircase_files is None else self.staircase_files.data.levels

    @property
    def template(self) -> "TemplateFiles | None":
        """Public lists of the words that stay unchanged, and of the words that are replaced by others of their type."""
        return None if self.staircase_files is None else self.staircase_files.data.template

    @property
    def default_staircase_level(self) -> str:
        """Name of the epsilon for calls that pass no epsilon."""
        return "" if self.staircase_files is None else self.staircase_files.data.default_level

    @property
    def default_staircase_mode(self) -> str:
        """Protection mode for calls that select the mechanism but no mode."""
        return "" if self.staircase_files is None else self.staircase_files.data.default_mode


class SanTextLevel(NamedTuple):
    """Parameters of SanText and SanText+ (random replacement of words) at one epsilon, with the name of the epsilon."""

    name: str
    parameters: "dict[str, LevelParameters]"


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SanTextComponent:
    """Data of SanText (random replacement of words) in a bundle (data folder). Without SanText, all fields are empty.

    Attributes:
        santext_table: Similar words of each word (neighbors) with their scores; and for each word, whether it may be an
            output and whether it may be left unchanged.
        santext_metric: Distances between words.
        santext_levels: Parameters of each epsilon, smallest epsilon first.
        default_table_mechanism, default_level, default_replacement_probability: Values of options that a call does not
            pass.
    """

    santext_table: "SanTextTable | None" = None
    santext_metric: "WordMetric | None" = None
    santext_levels: tuple[SanTextLevel, ...] = ()
    default_table_mechanism: str = ""
    default_level: str = ""
    default_replacement_probability: str = "1"


@dataclass(frozen=True, eq=False, repr=False)
class NamesFiles:
    """Files with the word lists of the mode ``names`` (which hides names and numbers), not yet parsed.

    Attributes:
        entity_types: Names of the entity types for which a file lists the known strings (such as cities), in the order
            of ``mechanism.json``.
        pool_types: Names of the entity types for which a file lists possible surrogates (replacements).
        contents: Dictionary from each file name of the bundle to the bytes of the file.
        is_checked: Whether the lists are known to be valid, like those of the built-in bundle.
    """

    entity_types: tuple[str, ...]
    pool_types: tuple[str, ...]
    contents: Mapping[str, bytes] = field(repr=False)
    _: KW_ONLY
    is_checked: bool = False

    @cached_property
    def lists(self) -> "NamesLists":
        """Return the parsed word lists. The first access parses them.

        Raises:
            BundleDamaged: A list is malformed. The message contains the file name and the line number.
        """
        from textveil.bundle.names_files import parse_names_lists

        return parse_names_lists(self.entity_types, self.pool_types, self.contents, is_checked=self.is_checked)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class NamesComponent:
    """Part of a bundle (data folder) for the mode ``names``, which hides names and numbers.

    Attributes:
        names_files: Files with the lists of the mode; ``None`` if the bundle does not support the mode.
    """

    names_files: NamesFiles | None = None


def list_template_files(template: object) -> list[str]:
    """Return the file names of all word lists that decide which words of a text are left unchanged.

    Args:
        template: The entry ``template`` of ``mechanism.json``, which names these lists.

    Raises:
        BundleDamaged: The entry is malformed.
    """
    entry = parse_record(template, {"function_words", "entity_types"}, MECHANISM_FILE)
    names = [entry["function_words"]]
    for entity_type in parse_array(entry["entity_types"], MECHANISM_FILE, MAX_ENTITY_TYPES):
        files = parse_record(entity_type, {"name", "shape", "files"}, MECHANISM_FILE)["files"]
        if not parse_array(files, MECHANISM_FILE, MAX_ENTITY_TYPES):
            raise BundleDamaged(f"{MECHANISM_FILE}: an entity type has no file")
        names += files
    return [parse_text(name, MECHANISM_FILE) for name in names]


def list_names_files(entry: object) -> list[str]:
    """Return the file names of all word lists of the mode ``names``, which hides names and numbers.

    Args:
        entry: The entry ``names`` of ``mechanism.json``.

    Raises:
        BundleDamaged: The entry is malformed.
    """
    entity_types, pool_types, fact_names = _parse_entity_types(entry)
    return [
        COMMON_WORDS,
        KEPT_CAPITALS,
        SYMBOLS,
        *map(ENTITY_LIST.format, entity_types),
        *map(SURROGATE_POOL.format, pool_types),
        *map(FACT_LIST.format, fact_names),
    ]


def select_names_files(contents: BundleFiles, entry: object, *, is_checked: bool = False) -> NamesComponent:
    """Select the word lists of the mode ``names`` (which hides names) from the files of a bundle.

    The function checks the total size of the lists, but does not parse them.

    Args:
        contents: The files of the bundle. They include all files that ``entry`` requires.
        entry: The entry ``names`` of ``mechanism.json``.
        is_checked: Whether the lists are known to be valid, like those of the built-in bundle. If so, this function
            reads no file.

    Raises:
        BundleDamaged: The name of an entity type is invalid or occurs twice.
        BundleTooLarge: The lists have more bytes or entries than a bundle of this size may have.
    """
    entity_types, pool_types, _ = _parse_entity_types(entry)
    names = list_names_files(entry)
    if not is_checked:
        from textveil.bundle.word_lists import check_list_sizes

        check_list_sizes(contents, names)
    names += [RULES] if RULES in contents else []
    return NamesComponent(
        names_files=NamesFiles(entity_types, pool_types, contents.select_files(names), is_checked=is_checked)
    )


def _parse_entity_types(entry: object) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """Parse the entry ``names`` of ``mechanism.json`` into three tuples of names.

    Returns:
        The entity types for which a file lists known names (such as cities); the entity types for which a file lists
        possible replacements; and the categories of public facts (such as technical terms) that have a list.
    """
    names_by_key = {"facts": [], **parse_object(entry, MECHANISM_FILE)}
    parse_record(names_by_key, _NAMES_KEYS, MECHANISM_FILE)
    entity_types, pool_types, fact_names = (
        tuple(
            parse_text(name, MECHANISM_FILE, TYPE_NAME)
            for name in parse_array(names_by_key[key], MECHANISM_FILE, MAX_ENTITY_TYPES)
        )
        for key in _NAMES_KEYS
    )
    if any(len(set(names)) < len(names) for names in (entity_types, pool_types, fact_names)):
        raise BundleDamaged(f"{MECHANISM_FILE}: an entity type occurs twice")
    return entity_types, pool_types, fact_names


def _parse_vocabulary(text: str) -> tuple[list[str], dict[str, int]]:
    lines = text.split("\n")
    if lines.pop() != "" or not lines:
        raise BundleDamaged(f"{VOCABULARY}: the last line is incomplete")
    ids = dict(zip(lines, range(len(lines)), strict=True))
    spellings = len(lines)
    printed = lines
    if merged := [index for index, line in enumerate(lines) if "\t" in line]:
        printed = list(lines)
        for index in merged:
            ids.pop(lines[index], None)
            printed[index], *_ = alternatives = lines[index].split("\t")
            spellings += len(alternatives) - 1
            ids.update(dict.fromkeys(alternatives, index))
    if len(ids) != spellings or "" in ids:
        raise BundleDamaged(f"{VOCABULARY}: a spelling is empty or occurs twice")
    return printed, ids
