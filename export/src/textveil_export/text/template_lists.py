"""Read the public lists of the template: built-in English ones, or other files.

The template of a text is the part that its output may depend on: function words, and the entity types of other words.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from textveil.bundle import EntityTypeFile, TemplateFiles
from textveil.errors import BundleDamaged
from textveil.text import SHAPES, EntityTypes, TemplateRule, parse_entity_type, parse_function_words

from textveil_export.errors import SourceError
from textveil_export.text.word_roles import LISTS
from textveil_export.text.word_vectors import read_text

TEMPLATE_FOLDER = LISTS / "template"
FUNCTION_WORDS = "function-words.txt"
#: Entity types defined by lists. The first one wins for a string on two lists; types defined by shape precede all.
ENGLISH_KINDS = (
    "weekday",
    "month",
    "number-word",
    "ordinal",
    "country",
    "nationality",
    "given-name",
    "family-name",
    "city",
    "organization",
    "street-word",
    "unit-word",
    "place-word",
    "institution-word",
    "organization-word",
)


@dataclass(frozen=True)
class TemplateLists:
    """Validated lists of a template.

    Attributes:
        files: The lists as a bundle stores them.
        words: Function words; ``True`` for those that can also be a name.
        kinds: Entity types.
    """

    files: TemplateFiles
    words: Mapping[str, bool]
    kinds: EntityTypes

    def make_rule(self, *, visible: bool) -> TemplateRule:
        """Return the template rule, with function words kept or not."""
        return TemplateRule(function_words=self.words, listed_types=self.kinds, keeps_function_words=visible)


def read_english_template() -> TemplateLists:
    """Read the built-in English lists (artifacts/lists)."""
    return read_template_lists(
        TEMPLATE_FOLDER / FUNCTION_WORDS, [(name, _find_built_in(name)) for name in ENGLISH_KINDS]
    )


def read_template_lists(words: Path, kinds: Sequence[tuple[str, Path]]) -> TemplateLists:
    """Read the lists of a template.

    Entity types defined by shape, such as numbers, are always built in.

    Args:
        words: Function words, one per line (docs/format-staircase.md, "Lists of the skeleton").
        kinds: Name and file of each entity type, in order of precedence.

    Raises:
        SourceError: A file cannot be read or is malformed; the message contains its name and the line.
    """
    files = [EntityTypeFile(shape, shape, read_text(_find_built_in(shape)).encode()) for shape in SHAPES]
    files += [EntityTypeFile(name, None, read_text(path).encode()) for name, path in kinds]
    content = read_text(words)
    try:
        parsed_words = parse_function_words(content)
    except BundleDamaged as error:
        raise SourceError(f"{words.name}: {error}") from error
    parsed = []
    for file in files:
        try:
            parsed.append(parse_entity_type(file.name, file.shape, file.utf_8))
        except BundleDamaged as error:
            raise SourceError(f"entity type {file.name}: {error}") from error
    try:
        return TemplateLists(TemplateFiles(content, tuple(files)), parsed_words, EntityTypes(parsed))
    except BundleDamaged as error:
        raise SourceError(str(error)) from error


def _find_built_in(name: str) -> Path:
    """Return the path of a built-in list."""
    return TEMPLATE_FOLDER / f"template.{name}.txt"
