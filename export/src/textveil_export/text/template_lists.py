"""The public lists of a bundle's skeleton: the built-in English ones, or files of another language."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from textveil.bundle import KindFile, SkeletonFiles
from textveil.errors import BundleDamaged
from textveil.text import SHAPES, Kinds, SkeletonRule, function_words, read_kind

from textveil_export.errors import SourceError
from textveil_export.text.word_roles import LISTS
from textveil_export.text.word_vectors import read_text

TEMPLATE_FOLDER = LISTS / "skeleton"
FUNCTION_WORDS = "function-words.txt"
#: Lists of words, in the public order that settles a string on two of them; shapes come before them all.
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
    """The lists of a skeleton, checked.

    Attributes:
        files: As a bundle has them.
        words: Function words; ``True`` for those that may be a name.
        kinds: The kinds.
    """

    files: SkeletonFiles
    words: Mapping[str, bool]
    kinds: Kinds

    def make_rule(self, *, visible: bool) -> SkeletonRule:
        """Returns the rule with or without visible function words."""
        return SkeletonRule(function_words=self.words, kinds=self.kinds, visible=visible)


def read_english_template() -> TemplateLists:
    """Reads the built-in English lists (artifacts/lists)."""
    return read_template_lists(
        TEMPLATE_FOLDER / FUNCTION_WORDS, [(name, _find_built_in(name)) for name in ENGLISH_KINDS]
    )


def read_template_lists(words: Path, kinds: Sequence[tuple[str, Path]]) -> TemplateLists:
    """Reads the lists of a skeleton. Kinds by shape are the built-in ones, whatever the language.

    Args:
        words: Function words, one a line (docs/format-staircase.md, "Lists of the skeleton").
        kinds: Name and file of every kind by list, in their public order.

    Raises:
        SourceError: A file cannot be read or is malformed; the message names it, and the line.
    """
    files = [KindFile(shape, shape, read_text(_find_built_in(shape)).encode()) for shape in SHAPES]
    files += [KindFile(name, None, read_text(path).encode()) for name, path in kinds]
    content = read_text(words)
    try:
        parsed_words = function_words(content)
    except BundleDamaged as error:
        raise SourceError(f"{words.name}: {error}") from error
    parsed = []
    for file in files:
        try:
            parsed.append(read_kind(file.name, file.shape, file.utf_8))
        except BundleDamaged as error:
            raise SourceError(f"kind {file.name}: {error}") from error
    try:
        return TemplateLists(SkeletonFiles(content, tuple(files)), parsed_words, Kinds(parsed))
    except BundleDamaged as error:
        raise SourceError(str(error)) from error


def _find_built_in(name: str) -> Path:
    return TEMPLATE_FOLDER / f"kind.{name}.txt"
