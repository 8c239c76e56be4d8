"""Groups of options of ``textveil-export table``: words and vectors, SanText, lists of words, and the card."""

from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Annotated, ClassVar

import typer
from textveil.bundle import TextBundle
from textveil_cli.console import say

from textveil_export.cli.options import ENGLISH_VECTORS, require_lists
from textveil_export.errors import ExportError
from textveil_export.progress import Progress
from textveil_export.text import sources
from textveil_export.text.build import DEFAULT_K
from textveil_export.text.ranks import by_frequency
from textveil_export.text.word_sets import LISTS, Policy, english_lists

_ENGLISH_WORDS = LISTS / "words" / "english-3.txt"

Levels = dict[str, Decimal]


@dataclass(frozen=True, kw_only=True)
class SourceOptions:
    """The words, and a vector for each."""

    heading: ClassVar[str] = "Words and vectors"
    encoder: Annotated[
        str, typer.Option(help="minilm (the installed package), a model folder, or a model id on a hub.")
    ] = sources.MINILM
    vocabulary: Annotated[
        str,
        typer.Option(
            help="english: the built-in word list. wordpiece: the encoder's own pieces with its input embeddings. "
            "Or a file of words, one per line, most frequent first, run through the encoder one by one."
        ),
    ] = "english"
    vectors: Annotated[
        Path | None,
        typer.Option(help="A GloVe, word2vec or fastText text file; replaces encoder and vocabulary."),
    ] = None
    max_words: Annotated[int, typer.Option(min=2, help="Most entries read from --vectors.")] = 30_000
    corpus: Annotated[
        list[Path] | None,
        typer.Option(help="Public text for frequency ranks (repeatable); else the order of the source counts."),
    ] = None

    @property
    def english(self) -> bool:
        """Whether the words are those of the built-in list."""
        return self.vectors is None and self.vocabulary == "english"

    @property
    def default_encoder(self) -> bool:
        """Whether the vectors are those of the default encoder."""
        return self.vectors is None and self.encoder == sources.MINILM

    def read(self, santext: bool, progress: Progress) -> sources.Source:
        """Reads the words and their vectors, in the order of their frequency.

        Args:
            santext: Whether SanText is made: without it the built-in words need no encoder.
            progress: Told how far it is.
        """
        if self.english and not santext:
            source = sources.read_vectors(ENGLISH_VECTORS, 1 << 16, progress)
        elif self.vectors is not None:
            source = sources.read_vectors(self.vectors, self.max_words, progress)
        elif self.vocabulary == "wordpiece":
            source = sources.Encoder(self.encoder).pieces()
        else:
            words = sources.read_lines(_ENGLISH_WORDS if self.english else Path(self.vocabulary))
            source = sources.Encoder(self.encoder).embed(words, progress)
            source.provenance["words"] = "built-in English list" if self.english else Path(self.vocabulary).name
        return by_frequency(source, self.corpus, progress) if self.corpus else source


@dataclass(frozen=True, kw_only=True)
class SanTextOptions:
    """What SanText's tables and levels are."""

    heading: ClassVar[str] = "SanText"
    neighbors: Annotated[int, typer.Option("--neighbors", "-k", min=1, help="Stored neighbors per word.")] = DEFAULT_K
    exponent: Annotated[
        list[str] | None,
        typer.Option(help="An exponent, strictest first (repeatable). Default: six levels fitted to the metric."),
    ] = None
    certified_epsilon: Annotated[
        str | None,
        typer.Option(
            help="Comma-separated targets, strictest first: exponents are searched whose "
            "epsilon, certified over all pairs, is at most that; the certificate is written too. Takes minutes."
        ),
    ] = None
    flatten_to: Annotated[
        float,
        typer.Option(
            min=1,
            max=2,
            help="With --certified-epsilon: certified epsilon over exponent that base measures aim for. 1: as flat as "
            "can be. Where some words are crowded (WordPieces: 1.25) more starves fewer of them.",
        ),
    ] = 1.0
    default_epsilon: Annotated[
        str | None, typer.Option(help="Epsilon of the level used when a user names none; the middle one if left out.")
    ] = None
    statistics: Annotated[
        bool, typer.Option(help="Measure what the levels do to words, for textveil levels; minutes.")
    ] = True

    def levels(self) -> tuple[Levels | None, Levels | None, str | None]:
        """Returns exponents or targets by the epsilon that levels are called by, and that of the default level.

        Raises:
            ExportError: They do not go together.
        """
        if self.exponent and self.certified_epsilon is not None:
            raise ExportError("--exponent and --certified-epsilon exclude each other")
        exponents = {_name(2 * one): one for one in _ascending(self.exponent)} if self.exponent else None
        targets = self.certified_epsilon
        default = None if self.default_epsilon is None else _name(*_ascending([self.default_epsilon]))
        return exponents, None if targets is None else {_name(t): t for t in _ascending(targets.split(","))}, default


@dataclass(frozen=True, kw_only=True)
class PolicyOptions:
    """Which words are sensitive, and which never come out."""

    heading: ClassVar[str] = "Lists of words"
    share: Annotated[float, typer.Option(help="w: share of the rarest words that is sensitive.")] = 0.9
    lists: Annotated[
        str, typer.Option(help="english: the built-in sensitive and never-output lists. none: no lists.")
    ] = "english"
    deny: Annotated[list[Path] | None, typer.Option(help="More words that are always sensitive.")] = None
    allow: Annotated[list[Path] | None, typer.Option(help="Words that are never sensitive.")] = None
    never_output: Annotated[list[Path] | None, typer.Option(help="More words that must never come out.")] = None

    def policy(self) -> Policy:
        """Returns the sets of words.

        Raises:
            ExportError: A list cannot be used.
        """
        require_lists(self.lists)
        sensitive, never = english_lists() if self.lists == "english" else (frozenset[str](), frozenset[str]())
        allowed = _entries(self.allow)
        return Policy(
            share=self.share,
            sensitive=sensitive | _entries(self.deny),
            allow=allowed,
            never_output=never | _entries(self.never_output),
        )

    def tell_found(self, bundle: TextBundle) -> None:
        """Says how many words of a list the vocabulary has: a list that names none of it must not pass in silence."""
        for option, paths in (("deny", self.deny), ("allow", self.allow), ("never-output", self.never_output)):
            if words := _entries(paths):
                found = sum(sources.lookup_key(word) in bundle.ids for word in words)
                say(f"textveil-export: --{option}: {found} of {len(words)} words are in the vocabulary")


@dataclass(frozen=True, kw_only=True)
class CardOptions:
    """What the bundle says of itself."""

    heading: ClassVar[str] = "Name and license"
    name: Annotated[str | None, typer.Option(help="Name of the bundle; by default that of the output folder.")] = None
    license: Annotated[
        str | None, typer.Option(help="SPDX license expression of the bundle; Apache-2.0 for the default encoder only.")
    ] = None
    attribution: Annotated[str, typer.Option(help="Whose work the vectors and words are.")] = ""


def _entries(paths: list[Path] | None) -> frozenset[str]:
    return frozenset(word for path in paths or [] for word in sources.read_lines(path))


def _name(epsilon: Decimal) -> str:
    """Returns what a level is called by."""
    return f"{epsilon.normalize():f}"


def _ascending(options: list[str]) -> list[Decimal]:
    """Returns numbers above 0, each larger than the one before."""
    try:
        found = [Decimal(option.strip()) for option in options]
    except InvalidOperation:
        found = [Decimal("NaN")]
    if not all(number.is_finite() and number > 0 for number in found):
        raise ExportError("a level takes a number above 0")
    if sorted(set(found)) != found:
        raise ExportError("levels must come strictest first: numbers ascending")
    return found
