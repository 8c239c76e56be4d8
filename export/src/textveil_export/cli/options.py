"""Options of the exporter's commands, in groups."""

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
#: Names of kinds are names of files, and are printed.
_KIND_NAME = re.compile(r"[a-z]+(-[a-z]+)*")

BundleFolder = Annotated[Path, typer.Argument(metavar="BUNDLE", help="Folder of a bundle.")]
NewBundle = Annotated[Path, typer.Option("--output", "-o", metavar="BUNDLE", help="Folder of the new bundle.")]
Force = Annotated[bool, typer.Option("--force", help="Replace an existing bundle.")]


@dataclass(frozen=True, kw_only=True)
class StaircaseOptions:
    """What a staircase is made of."""

    heading: ClassVar[str] = "Staircase"
    staircase_neighbors: Annotated[int, typer.Option(min=1, help="Stored neighbors per word, itself included.")] = (
        StaircaseSettings().k
    )
    function_words: Annotated[
        Path | None, typer.Option(help="Function words of another language; the English ones if left out.")
    ] = None
    kind: Annotated[
        list[str] | None,
        typer.Option(
            help="NAME=FILE, the words of one kind (repeatable, in the order that settles a word on two lists); with "
            "--function-words. The English lists if both are left out."
        ),
    ] = None
    word_frequencies: Annotated[
        Path | None, typer.Option(help="Public frequencies, a word, a tab and a count per line; else the order counts.")
    ] = None
    opposites: Annotated[
        Path | None, typer.Option(help="Words, a tab and their opposites per line: neither becomes the other.")
    ] = None
    alarming: Annotated[Path | None, typer.Option(help="Words that no other word becomes, one per line.")] = None

    @property
    def has_lists(self) -> bool:
        """Whether a list is named."""
        lists = (self.function_words, self.word_frequencies, self.opposites, self.alarming)
        return bool(self.kind) or any(one is not None for one in lists)

    def make_recipe(
        self, vectors: word_vectors.WordVectors | None, *, english: bool, never_output: frozenset[str]
    ) -> StaircaseRecipe:
        """Returns how the staircase is made.

        Args:
            vectors: A vector for each word; ``None`` for those of the bundle.
            english: Whether the words are those of the built-in English list.
            never_output: Words that never come out.

        Raises:
            ExportError: A list cannot be used, or does not go with another.
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
        """The lists that are named, the built-in English ones if none are."""
        if self.function_words is None:
            if self.kind:
                raise ExportError("--kind goes with --function-words")
            return read_english_template()
        entries = [entry.partition("=") for entry in self.kind or []]
        if not all(name and path for name, _, path in entries):
            raise ExportError("--kind takes NAME=FILE")
        if not all(_KIND_NAME.fullmatch(name) for name, _, _ in entries):
            raise ExportError("--kind: a name is of lower-case letters, with single hyphens between them")
        return read_template_lists(self.function_words, [(name, Path(path)) for name, _, path in entries])

    def _read_frequencies(self, english: bool) -> dict[str, int] | None:
        """The public frequencies that are named; without them those of the built-in English list, or none."""
        if self.word_frequencies is None:
            return read_frequencies(_ENGLISH_FREQUENCIES) if english else None
        return read_frequencies(self.word_frequencies)


def check_lists_option(lists: str) -> None:
    """Raises ``ExportError`` for lists that there are not."""
    if lists not in ("english", "none"):
        raise ExportError("--lists must be english or none")
