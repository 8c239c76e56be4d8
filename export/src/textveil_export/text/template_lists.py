"""Read the word lists that define the template of a text: built-in English lists, or other files.

The template is the public part of a text, on which the output of the staircase mechanism may depend: function words,
which are left unchanged, and the entity types of other words.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from textveil.bundle import DEFAULT_BUNDLE, EntityTypeFile, TemplateFiles, TextBundle, layout, open_bundle
from textveil.errors import BundleDamaged
from textveil.text import EntityTypes, TemplateRule, parse_entity_type, parse_function_words

from textveil_export.errors import SourceError
from textveil_export.text.word_vectors import read_text

FUNCTION_WORDS = "function-words.txt"


@dataclass(frozen=True)
class TemplateLists:
    """Parsed and checked lists of words that are left unchanged (function words) or replaced by type (such as cities).

    Attributes:
        files: Content of the lists, as a bundle (data folder) stores them.
        words: Function words, each with a flag that is true if the word can also be a name, such as "will".
        kinds: Entity types (such as city), with the words of each type.
    """

    files: TemplateFiles
    words: Mapping[str, bool]
    kinds: EntityTypes

    def make_rule(self, *, visible: bool) -> TemplateRule:
        """Return the rule that decides which words of a text are left unchanged, replaced by type, or randomized.

        Args:
            visible: Whether function words, such as "the", are left unchanged.
        """
        return TemplateRule(function_words=self.words, listed_types=self.kinds, keeps_function_words=visible)

    def list_texts(self) -> dict[str, str]:
        """Return the content of each word list by its file name."""
        lists = {name: content.decode() for kind in self.files.entity_types for name, content in kind.files.items()}
        return {FUNCTION_WORDS: self.files.function_words, **lists}

    def describe(self) -> dict[str, Any]:
        """Return the value to write for ``template`` in ``mechanism.json``.

        ``function_words`` is the name of their list. ``entity_types`` has one object for each type, with its ``name``,
        its ``shape`` and the names of its ``files``.
        """
        entity_types = [
            {"name": kind.name, "shape": kind.shape, "files": list(kind.files)} for kind in self.files.entity_types
        ]
        return {"function_words": FUNCTION_WORDS, "entity_types": entity_types}


@cache
def _open_built_in() -> TemplateFiles:
    """Return the word lists of the staircase mechanism in the built-in bundle, the only copy of the English lists."""
    template = open_bundle(DEFAULT_BUNDLE, TextBundle).template
    assert template is not None
    return template


def read_english_template() -> TemplateLists:
    """Read the English lists of function words and names from the built-in bundle.

    ``artifacts/lists`` documents the sources of the lists.
    """
    return check_template_lists(_open_built_in())


def read_template_lists(words: Path, kinds: Sequence[tuple[str, Path]]) -> TemplateLists:
    """Read the lists of function words and of names by entity type from files.

    Entity types that are defined by form, such as numbers, come from the built-in bundle.

    Args:
        words: File of function words, one per line (docs/format-staircase.md, "Files").
        kinds: Name and file of each entity type. Of two types that contain the same word, the first one applies.

    Raises:
        SourceError: A file cannot be read or is malformed; the message contains its name and the line.
    """
    shapes = [kind for kind in _open_built_in().entity_types if kind.shape is not None]
    lists = [
        EntityTypeFile(name, None, {layout.ENTITY_LIST.format(name): read_text(path).encode()}) for name, path in kinds
    ]
    return check_template_lists(TemplateFiles(read_text(words), (*shapes, *lists)), words.name)


def check_template_lists(files: TemplateFiles, function_words: str = FUNCTION_WORDS) -> TemplateLists:
    """Parse and check the lists of function words and of names by entity type.

    Args:
        files: Content of the lists.
        function_words: Name of the file of function words, for error messages.

    Raises:
        SourceError: A list is malformed; the message contains its name and the line.
    """
    try:
        parsed_words = parse_function_words(files.function_words)
    except BundleDamaged as error:
        raise SourceError(f"{function_words}: {error}") from error
    parsed = []
    for file in files.entity_types:
        try:
            parsed.append(parse_entity_type(file.name, file.shape, file.utf_8))
        except BundleDamaged as error:
            raise SourceError(f"entity type {file.name}: {error}") from error
    try:
        return TemplateLists(files, parsed_words, EntityTypes(parsed))
    except BundleDamaged as error:
        raise SourceError(str(error)) from error
