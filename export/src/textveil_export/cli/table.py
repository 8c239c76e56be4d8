"""Groups of options of ``textveil-export table``: words and vectors, SanText, lists of words, and the card."""

from contextlib import ExitStack
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Annotated, ClassVar

import typer
from textveil.bundle import TextBundle, layout
from textveil_cli.console import progress_bars, say
from textveil_cli.options import RayOptions

from textveil_export.certify.certificate import certify
from textveil_export.certify.staircase import certify_staircase
from textveil_export.cli.options import ENGLISH_VECTORS, Force, NewBundle, StaircaseOptions, require_lists
from textveil_export.errors import ExportError
from textveil_export.leakage.word_statistics import measure
from textveil_export.parallel import here
from textveil_export.progress import Progress
from textveil_export.ray_cluster import on_ray
from textveil_export.text import word_vectors
from textveil_export.text.build import DEFAULT_K, Recipe, build_bundle
from textveil_export.text.contents import ENGLISH_LICENSE, MINILM, NEIGHBORS, NEVER_DRAWN, SKELETON, WORDS
from textveil_export.text.staircase_bundle import StaircaseRecipe
from textveil_export.text.word_roles import LISTS, Policy, english_lists
from textveil_export.text.word_vectors import by_frequency
from textveil_export.text.write import write_bundle, write_certificate, write_statistics

_ENGLISH_WORDS = LISTS / "words" / "english-3.txt"

Levels = dict[str, Decimal]


@dataclass(frozen=True, kw_only=True)
class SourceOptions:
    """The words, and a vector for each."""

    heading: ClassVar[str] = "Words and vectors"
    encoder: Annotated[
        str, typer.Option(help="minilm (the installed package), a model folder, or a model id on a hub.")
    ] = word_vectors.MINILM
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
        return self.vectors is None and self.encoder == word_vectors.MINILM

    def read(self, santext: bool, progress: Progress) -> word_vectors.Source:
        """Reads the words and their vectors, in the order of their frequency.

        Args:
            santext: Whether SanText is made: without it the built-in words need no encoder.
            progress: Told how far it is.
        """
        if self.english and not santext:
            source = word_vectors.read_vectors(ENGLISH_VECTORS, 1 << 16, progress)
        elif self.vectors is not None:
            source = word_vectors.read_vectors(self.vectors, self.max_words, progress)
        elif self.vocabulary == "wordpiece":
            source = word_vectors.Encoder(self.encoder).pieces()
        else:
            words = word_vectors.read_lines(_ENGLISH_WORDS if self.english else Path(self.vocabulary))
            source = word_vectors.Encoder(self.encoder).embed(words, progress)
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
                found = sum(word_vectors.lookup_key(word) in bundle.ids for word in words)
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
    return frozenset(word for path in paths or [] for word in word_vectors.read_lines(path))


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


DEFAULT_MECHANISMS = "staircase,santext"


@dataclass(frozen=True, kw_only=True)
class Asked:
    """Everything that the command line says."""

    output: NewBundle
    mechanisms: Annotated[
        str, typer.Option(help="Comma-separated: staircase, santext (with santext+). The staircase is for words.")
    ] = DEFAULT_MECHANISMS
    force: Force = False
    source: SourceOptions
    santext: SanTextOptions
    policy: PolicyOptions
    staircase: StaircaseOptions
    card: CardOptions
    ray: RayOptions
    workers: Annotated[
        int | None,
        typer.Option(min=1, rich_help_panel=RayOptions.heading, help="With --ray: processes; all cores if left out."),
    ] = None

    @property
    def chosen(self) -> tuple[str, ...]:
        """The mechanisms that are made."""
        return _mechanisms(self.mechanisms, self.source.vocabulary)

    def check(self) -> None:
        """Raises ``ExportError`` for options that do not go together."""
        source, chosen = self.source, self.chosen
        if "staircase" not in chosen and self.staircase.given:
            raise ExportError("--function-words, --kind and --word-frequencies belong to the staircase")
        if source.vectors is not None and (source.encoder != word_vectors.MINILM or source.vocabulary != "english"):
            raise ExportError("--vectors replaces --encoder and --vocabulary: name one or the other")
        if self.output.exists() and not self.force:
            raise ExportError("the output folder exists (use --force)")
        if not self.ray.ray and (self.ray.ray_address is not None or self.workers is not None):
            raise ExportError("--ray-address and --workers go with --ray")
        if self.ray.ray and chosen != ("staircase",):
            raise ExportError("--ray makes staircases: --mechanisms staircase")

    def recipe(self, policy: Policy) -> Recipe:
        """Returns everything that decides the bundle besides its source.

        Raises:
            ExportError: Options do not go together, or a list cannot be used.
        """
        levels, targets, default_level = self.santext.levels()
        staircase = self._staircase(policy)
        credits, license = self._credits(staircase is not None)
        return Recipe(
            name=self.card.name or self.output.resolve().name,
            policy=policy,
            k=self.santext.neighbors,
            levels=levels,
            certified_epsilons=targets,
            flatten_to=self.santext.flatten_to,
            default_level=default_level,
            santext="santext" in self.chosen,
            staircase=staircase,
            license=license,
            attribution=" ".join([*credits, self.card.attribution]).strip(),
            lists={
                "built_in_lists": self.policy.lists,
                "sensitive_words_listed": len(policy.sensitive),
                "allowed_words_listed": len(policy.allow),
                "never_output_words_listed": len(policy.never_output),
                "rank_corpora": [path.name for path in self.source.corpus or []] or "order of the source",
            },
        )

    def _staircase(self, policy: Policy) -> StaircaseRecipe | None:
        if "staircase" not in self.chosen:
            return None
        english = self.source.english
        vectors = word_vectors.read_vectors(ENGLISH_VECTORS, 1 << 16) if english else None
        return self.staircase.recipe(vectors, english=english, never_output=policy.never_output)

    def _credits(self, staircase: bool) -> tuple[list[str], str]:
        """Whose work the bundle derives from, and its license."""
        english_lists_used = staircase and self.staircase.function_words is None
        credits = {
            MINILM: self.source.default_encoder and "santext" in self.chosen,
            WORDS: self.source.english,
            NEVER_DRAWN: self.policy.lists == "english",
            SKELETON: english_lists_used,
            NEIGHBORS: staircase and self.source.english,
        }
        built_in = ENGLISH_LICENSE if self.source.english or english_lists_used else "Apache-2.0"
        license = self.card.license or (built_in if self.source.default_encoder else "not stated")
        return [credit for credit, applies in credits.items() if applies], license


def table(asked: Asked) -> None:
    """Build a bundle: the staircase with its lists, and SanText with exact neighbors and its sets."""
    asked.check()
    recipe = asked.recipe(asked.policy.policy())
    with progress_bars() as progress, ExitStack() as stack:
        source = asked.source.read(recipe.santext, progress)
        run = here
        if asked.ray.ray:
            store = 2 * source.vectors.size + 4 * asked.staircase.staircase_neighbors * len(source.words)
            run = stack.enter_context(on_ray(asked.ray.ray_address, asked.workers, store))
        contents = build_bundle(source, recipe, progress, run)
        if recipe.staircase is not None:
            certify_staircase(contents.tensors[layout.STAIRCASE], recipe.staircase.levels, progress, run)
        stack.close()
        bundle = write_bundle(contents, asked.output, force=asked.force)
        asked.policy.tell_found(bundle)
        targets = recipe.certified_epsilons
        if targets is not None and recipe.santext:
            labels = {name: float(target) for name, target in targets.items()}
            bundle = write_certificate(bundle, certify(bundle, progress), labels)
        if asked.santext.statistics and recipe.santext:
            bundle = write_statistics(bundle, measure(bundle, progress))
    print(f"{asked.output}: {bundle.symbols:,} symbols, identity {bundle.identity}")


def _mechanisms(names: str, vocabulary: str) -> tuple[str, ...]:
    chosen = tuple(name.strip() for name in names.split(","))
    if set(chosen) - {"staircase", "santext"} or len(set(chosen)) != len(chosen):
        raise ExportError("--mechanisms takes staircase, santext or both, each once")
    if vocabulary == "wordpiece":
        if names != DEFAULT_MECHANISMS and "staircase" in chosen:
            raise ExportError("the staircase is for words: leave it out with --vocabulary wordpiece")
        return ("santext",)
    return chosen
