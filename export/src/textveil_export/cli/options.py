"""Options that several commands of ``textveil-export`` share."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar

import typer

from textveil_export.errors import ExportError
from textveil_export.text import word_vectors
from textveil_export.text.staircase_bundle import StaircaseRecipe
from textveil_export.text.staircase_tables import MisleadingWords, StaircaseSettings, read_frequencies
from textveil_export.text.template_lists import TemplateLists, read_english_template, read_template_lists
from textveil_export.text.word_roles import LISTS

ENGLISH_VECTORS = LISTS / "words" / "english-3-vectors.txt.gz"
_ENGLISH_FREQUENCIES = LISTS / "words" / "english-3-frequencies.tsv"
_OPPOSITES, _ALARMING = (LISTS / "words" / name for name in ("english-3-opposites.txt", "alarming.txt"))
#: Pattern of the names of entity types. They become parts of file names, and commands print them.
_TYPE_NAME = re.compile(r"[a-z]+(-[a-z]+)*")

BundleFolder = Annotated[Path, typer.Argument(metavar="BUNDLE", help="Folder of a bundle.")]
NewBundle = Annotated[Path, typer.Option("--output", "-o", metavar="BUNDLE", help="Folder of the new bundle.")]
Force = Annotated[bool, typer.Option("--force", help="Replace an existing bundle.")]


@dataclass(frozen=True, kw_only=True)
class StaircaseOptions:
    """Options of the staircase mechanism, which replaces words at random."""

    heading: ClassVar[str] = "Staircase"
    staircase_neighbors: Annotated[
        int, typer.Option(min=1, help="Stored neighbors per word, the word itself included.")
    ] = StaircaseSettings().k
    function_words: Annotated[
        Path | None, typer.Option(help="Word list with the function words of another language. Default: English.")
    ] = None
    entity_type: Annotated[
        list[str] | None,
        typer.Option(
            help="NAME=FILE, the words of an entity type; repeatable. A word on two lists has the type of the first. "
            "Requires --function-words. Default: English lists."
        ),
    ] = None
    word_frequencies: Annotated[
        Path | None,
        typer.Option(
            help="Public frequencies of words: WORD<TAB>COUNT lines. Default: those of the built-in English words; for "
            "other words, estimated from their order, most frequent first."
        ),
    ] = None
    opposites: Annotated[
        Path | None, typer.Option(help="File of lines WORDS<TAB>OPPOSITES, which are never neighbors of each other.")
    ] = None
    alarming: Annotated[
        Path | None, typer.Option(help="Words that are not neighbors of any other word, one per line.")
    ] = None

    @property
    def has_lists(self) -> bool:
        """Whether the user passed an option that names a file with a word list."""
        lists = (self.function_words, self.word_frequencies, self.opposites, self.alarming)
        return bool(self.entity_type) or any(one is not None for one in lists)

    def make_recipe(
        self, vectors: word_vectors.WordVectors | None, *, english: bool, never_output: frozenset[str]
    ) -> StaircaseRecipe:
        """Return the settings (recipe) with which the staircase mechanism of a bundle (data folder) is built.

        Args:
            vectors: A vector for each word; ``None`` for the vectors of the bundle.
            english: Whether the words are those of the built-in English list.
            never_output: Words that are never outputs.

        Raises:
            ExportError: A list cannot be used, or options conflict.
        """
        return StaircaseRecipe(
            lists=self._read_template_lists(),
            vectors=vectors,
            per_billion=self._read_frequencies(english),
            settings=StaircaseSettings(k=self.staircase_neighbors),
            never_output=never_output,
            misleading=MisleadingWords.read_lists(
                self.opposites or (_OPPOSITES if english else None),
                self.alarming or (_ALARMING if english else None),
            ),
        )

    def _read_template_lists(self) -> TemplateLists:
        """Read the lists of words that stay unchanged or are replaced by type; by default the English lists."""
        if self.function_words is None:
            if self.entity_type:
                raise ExportError("--entity-type requires --function-words")
            return read_english_template()
        entries = [entry.partition("=") for entry in self.entity_type or []]
        if not all(name and path for name, _, path in entries):
            raise ExportError("--entity-type must be NAME=FILE")
        if not all(_TYPE_NAME.fullmatch(name) for name, _, _ in entries):
            raise ExportError("--entity-type: a name must be lower-case letters with single hyphens between them")
        return read_template_lists(self.function_words, [(name, Path(path)) for name, _, path in entries])

    def _read_frequencies(self, english: bool) -> dict[str, int] | None:
        """Read the word frequencies from the given file, or those of the built-in English words.

        Args:
            english: Whether the words are those of the built-in English list.

        Returns:
            Frequency by word; ``None`` if there is no file and the words are not the English ones.
        """
        if self.word_frequencies is None:
            return read_frequencies(_ENGLISH_FREQUENCIES) if english else None
        return read_frequencies(self.word_frequencies)


def check_lists_option(lists: str) -> None:
    """Raise ``ExportError`` if the value of ``--lists`` is neither ``english`` nor ``none``."""
    if lists not in ("english", "none"):
        raise ExportError("--lists must be english or none")
