"""Define ``textveil-export table``, which builds a text bundle (data folder) from words and vectors."""

from contextlib import ExitStack
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Annotated, ClassVar

import typer
from textveil.bundle import TextBundle, layout
from textveil_cli.console import print_message, show_progress_bars
from textveil_cli.options import RayOptions

from textveil_export.certify.certificate import certify_bundle
from textveil_export.certify.staircase import certify_staircase
from textveil_export.cli.options import ENGLISH_VECTORS, Force, NewBundle, StaircaseOptions, check_lists_option
from textveil_export.errors import ExportError
from textveil_export.leakage.word_statistics import measure_statistics
from textveil_export.parallel import run_blocks
from textveil_export.progress import Progress
from textveil_export.ray_cluster import open_ray_runner
from textveil_export.text import word_vectors
from textveil_export.text.build import DEFAULT_K, TextBundleRecipe, build_text_bundle
from textveil_export.text.contents import (
    ENGLISH_LICENSE,
    MINILM_CREDIT,
    NEIGHBORS_CREDIT,
    NEVER_OUTPUT_CREDIT,
    TEMPLATE_CREDIT,
    WORDS_CREDIT,
)
from textveil_export.text.staircase_bundle import StaircaseRecipe
from textveil_export.text.word_roles import LISTS, WordPolicy, read_english_lists
from textveil_export.text.word_vectors import rank_by_frequency
from textveil_export.text.write import write_bundle, write_certificate, write_statistics

_ENGLISH_WORDS = LISTS / "words" / "english-3.txt"

LevelNumbers = dict[str, Decimal]


@dataclass(frozen=True, kw_only=True)
class WordSourceOptions:
    """Options that select the words and their vectors."""

    heading: ClassVar[str] = "Words and vectors"
    encoder: Annotated[
        str, typer.Option(help="minilm (an installed package), a model folder, or a model id on a hub.")
    ] = word_vectors.DEFAULT_ENCODER
    vocabulary: Annotated[
        str,
        typer.Option(
            help="english: the built-in word list. Or a file "
            "with one word per line, most frequent first, which the encoder embeds one by one."
        ),
    ] = "english"
    vectors: Annotated[
        Path | None,
        typer.Option(help="A GloVe, word2vec or fastText text file; replaces encoder and vocabulary."),
    ] = None
    max_words: Annotated[int, typer.Option(min=2, help="Largest number of entries read from --vectors.")] = 30_000
    corpus: Annotated[
        list[Path] | None,
        typer.Option(help="Public text for frequency ranks; repeatable. Default: the order of the source."),
    ] = None

    @property
    def uses_english_words(self) -> bool:
        """Whether the words are those of the built-in list."""
        return self.vectors is None and self.vocabulary == "english"

    @property
    def uses_default_encoder(self) -> bool:
        """Whether the vectors are those of the default encoder."""
        return self.vectors is None and self.encoder == word_vectors.DEFAULT_ENCODER

    def read_words(self, santext: bool, progress: Progress) -> word_vectors.WordVectors:
        """Read the words and their vectors in order of frequency.

        Args:
            santext: Whether the bundle (data folder) gets the mechanism SanText. Without SanText, the built-in words
                need no vectors from an encoder.
            progress: Callback that takes the name of a stage, the number of its finished steps, and their total number.
        """
        if self.uses_english_words and not santext:
            source = word_vectors.read_vectors(ENGLISH_VECTORS, 1 << 16, progress)
        elif self.vectors is not None:
            source = word_vectors.read_vectors(self.vectors, self.max_words, progress)
        else:
            words = word_vectors.read_list(_ENGLISH_WORDS if self.uses_english_words else Path(self.vocabulary))
            source = word_vectors.WordEncoder(self.encoder).embed_words(words, progress)
            source.provenance["words"] = (
                "built-in English list" if self.uses_english_words else Path(self.vocabulary).name
            )
        return rank_by_frequency(source, self.corpus, progress) if self.corpus else source


@dataclass(frozen=True, kw_only=True)
class SanTextOptions:
    """Options of ``textveil-export table`` for SanText, a mechanism that replaces words at random."""

    heading: ClassVar[str] = "SanText"
    neighbors: Annotated[int, typer.Option("--neighbors", "-k", min=1, help="Stored neighbors per word.")] = DEFAULT_K
    exponent: Annotated[
        list[str] | None,
        typer.Option(help="Exponent of a level; repeatable, strictest first. Default: six levels fitted to the words."),
    ] = None
    epsilon: Annotated[
        str | None,
        typer.Option(
            help="Comma-separated epsilons of levels, strictest first, as papers state them: SanText's own bound per "
            "unit of distance of the vectors. Instead of --exponent."
        ),
    ] = None
    certified_epsilon: Annotated[
        str | None,
        typer.Option(
            help="Comma-separated targets, strictest first. For each, the command searches an exponent whose epsilon, "
            "certified over all pairs, is at most the target. It also writes the certificate. Takes minutes."
        ),
    ] = None
    flatten_to: Annotated[
        float,
        typer.Option(
            min=1,
            max=2,
            help="With --certified-epsilon: target ratio of certified epsilon to exponent. 1 makes normalizers as "
            "equal as possible; a larger ratio leaves more probability to words with many near words.",
        ),
    ] = 1.0
    default_epsilon: Annotated[
        str | None, typer.Option(help="Epsilon of the level for users who choose none. Default: the middle one.")
    ] = None
    statistics: Annotated[
        bool,
        typer.Option(
            help="Measure the effect of each level on words, which the command textveil levels prints. Takes minutes."
        ),
    ] = True

    def parse_levels(self) -> tuple[LevelNumbers | None, LevelNumbers | None, str | None]:
        """Parse the options that set the levels of SanText (one set of parameters for each epsilon).

        A level is named by its epsilon.

        Returns:
            Three results: a mapping from the name of a level to its exponent; a mapping from the name of a level to the
            certified epsilon that the level must reach; and the name of the default level. Each is ``None`` if its
            option is not given.

        Raises:
            ExportError: The options conflict.
        """
        if sum(map(bool, (self.exponent, self.certified_epsilon is not None, self.epsilon is not None))) > 1:
            raise ExportError("pass only one of --epsilon, --exponent and --certified-epsilon")
        exponents = (
            {_format_epsilon(2 * one): one for one in _parse_ascending("--exponent", self.exponent)}
            if self.exponent
            else None
        )
        targets = self.certified_epsilon
        return (
            exponents,
            None
            if targets is None
            else {_format_epsilon(t): t for t in _parse_ascending("--certified-epsilon", targets.split(","))},
            None
            if self.default_epsilon is None
            else _format_epsilon(*_parse_ascending("--default-epsilon", [self.default_epsilon])),
        )

    def parse_vector_epsilons(self) -> tuple[Decimal, ...] | None:
        """Parse the values of ``--epsilon``; return ``None`` if the option is missing.

        Raises:
            ExportError: A value is not a number above 0, or the values do not ascend.
        """
        return None if self.epsilon is None else tuple(_parse_ascending("--epsilon", self.epsilon.split(",")))


@dataclass(frozen=True, kw_only=True)
class WordPolicyOptions:
    """Options that name lists of sensitive words, of never sensitive words, and of words that are never outputs."""

    heading: ClassVar[str] = "Lists of words"
    share: Annotated[
        float, typer.Option(help="Share of the words that is sensitive: the rarest ones, from 0 to 1.")
    ] = 0.9
    lists: Annotated[
        str, typer.Option(help="english: the built-in sensitive and never-output lists. none: no lists.")
    ] = "english"
    deny: Annotated[
        list[Path] | None, typer.Option(help="File of more words that are always sensitive; repeatable.")
    ] = None
    allow: Annotated[list[Path] | None, typer.Option(help="File of words that are never sensitive; repeatable.")] = None
    never_output: Annotated[
        list[Path] | None, typer.Option(help="File of more words that are never outputs; repeatable.")
    ] = None

    def make_policy(self) -> WordPolicy:
        """Read the lists of words that the options name.

        Raises:
            ExportError: A list cannot be used.
        """
        check_lists_option(self.lists)
        sensitive, never = read_english_lists() if self.lists == "english" else (frozenset[str](), frozenset[str]())
        allowed = _read_entries(self.allow)
        return WordPolicy(
            share=self.share,
            sensitive=sensitive | _read_entries(self.deny),
            allow=allowed,
            never_output=never | _read_entries(self.never_output),
        )

    def report_matches(self, bundle: TextBundle) -> None:
        """Print how many words of each given list are in the vocabulary; other words of a list have no effect."""
        for option, paths in (("deny", self.deny), ("allow", self.allow), ("never-output", self.never_output)):
            if words := _read_entries(paths):
                matches = sum(word_vectors.make_lookup_key(word) in bundle.symbol_ids for word in words)
                print_message(f"textveil-export: --{option}: {matches} of {len(words)} words are in the vocabulary")


@dataclass(frozen=True, kw_only=True)
class TextCardOptions:
    """Options that set the content of the model card (README) of a text bundle."""

    heading: ClassVar[str] = "Name and license"
    name: Annotated[str | None, typer.Option(help="Name of the bundle. Default: that of the output folder.")] = None
    license: Annotated[
        str | None,
        typer.Option(
            help="SPDX license expression of the bundle. Default: that of the default encoder; not stated with another "
            "one."
        ),
    ] = None
    attribution: Annotated[str, typer.Option(help="Authors and sources of the vectors and words.")] = ""


def _read_entries(paths: list[Path] | None) -> frozenset[str]:
    """Read several files with word lists, and return all entries.

    Args:
        paths: Files with one entry per line; ``None`` for no list.
    """
    return frozenset(word for path in paths or [] for word in word_vectors.read_list(path))


def _format_epsilon(epsilon: Decimal) -> str:
    """Return an epsilon as a decimal number without trailing zeros, by which users select it."""
    return f"{epsilon.normalize():f}"


def _parse_ascending(option: str, values: list[str]) -> list[Decimal]:
    """Parse positive numbers in ascending order.

    Args:
        option: Name of the option, for error messages.
        values: Values of the option.

    Raises:
        ExportError: A value is not a number above 0, or the values do not ascend.
    """
    try:
        numbers = [Decimal(value.strip()) for value in values]
    except InvalidOperation:
        numbers = [Decimal("NaN")]
    if not all(number.is_finite() and number > 0 for number in numbers):
        raise ExportError(f"{option}: the number of a level must be above 0")
    if sorted(set(numbers)) != numbers:
        raise ExportError(f"{option}: list levels strictest first, so numbers must ascend")
    return numbers


DEFAULT_MECHANISMS = "staircase,santext"


@dataclass(frozen=True, kw_only=True)
class TableArguments:
    """All arguments of the command ``textveil-export table``."""

    output: NewBundle
    mechanisms: Annotated[
        str, typer.Option(help="Comma-separated: staircase, santext (with santext+). A staircase needs words.")
    ] = DEFAULT_MECHANISMS
    force: Force = False
    source: WordSourceOptions
    santext: SanTextOptions
    policy: WordPolicyOptions
    staircase: StaircaseOptions
    card: TextCardOptions
    ray: RayOptions
    workers: Annotated[
        int | None,
        typer.Option(
            min=1, rich_help_panel=RayOptions.heading, help="With --ray: number of processes. Default: one per core."
        ),
    ] = None

    @property
    def chosen_mechanisms(self) -> tuple[str, ...]:
        """Names of the mechanisms to build, such as ``staircase`` and ``santext``."""
        return _parse_mechanisms(self.mechanisms)

    def check_options(self) -> None:
        """Raise ``ExportError`` if options conflict."""
        source, mechanisms = self.source, self.chosen_mechanisms
        if "staircase" not in mechanisms and self.staircase.has_lists:
            raise ExportError("--function-words, --entity-type and --word-frequencies need --mechanisms staircase")
        if "santext" not in mechanisms and self.santext.epsilon is not None:
            raise ExportError("--epsilon needs --mechanisms santext: the staircase mechanism has its own epsilons")
        if source.vectors is not None and (
            source.encoder != word_vectors.DEFAULT_ENCODER or source.vocabulary != "english"
        ):
            raise ExportError("--vectors replaces --encoder and --vocabulary: pass one or the other")
        if self.output.exists() and not self.force:
            raise ExportError("the output folder exists: choose another -o, or use --force")
        if not self.ray.ray and (self.ray.ray_address is not None or self.workers is not None):
            raise ExportError("--ray-address and --workers require --ray")
        if self.ray.ray and mechanisms != ("staircase",):
            raise ExportError("--ray builds only the staircase mechanism: pass --mechanisms staircase")

    def make_recipe(self, policy: WordPolicy) -> TextBundleRecipe:
        """Return the settings (recipe) with which the bundle (data folder) is built, from the arguments.

        Raises:
            ExportError: Options conflict, or a list cannot be used.
        """
        levels, targets, default_level = self.santext.parse_levels()
        staircase = self._make_staircase_recipe(policy)
        credits, license = self._collect_credits(staircase is not None)
        return TextBundleRecipe(
            name=self.card.name or self.output.resolve().name,
            policy=policy,
            k=self.santext.neighbors,
            levels=levels,
            vector_epsilons=self.santext.parse_vector_epsilons(),
            certified_epsilons=targets,
            flatten_to=self.santext.flatten_to,
            default_level=default_level,
            santext="santext" in self.chosen_mechanisms,
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

    def _make_staircase_recipe(self, policy: WordPolicy) -> StaircaseRecipe | None:
        """Return the settings (recipe) of the staircase mechanism, or ``None`` for a bundle without this mechanism."""
        if "staircase" not in self.chosen_mechanisms:
            return None
        english = self.source.uses_english_words
        vectors = word_vectors.read_vectors(ENGLISH_VECTORS, 1 << 16) if english else None
        return self.staircase.make_recipe(vectors, english=english, never_output=policy.never_output)

    def _collect_credits(self, staircase: bool) -> tuple[list[str], str]:
        """Return the credits (authors and sources of the data) of the bundle (data folder), and its license.

        Args:
            staircase: Whether the bundle has the staircase mechanism.
        """
        english_lists_used = staircase and self.staircase.function_words is None
        credits = {
            MINILM_CREDIT: self.source.uses_default_encoder and "santext" in self.chosen_mechanisms,
            WORDS_CREDIT: self.source.uses_english_words,
            NEVER_OUTPUT_CREDIT: self.policy.lists == "english",
            TEMPLATE_CREDIT: english_lists_used,
            NEIGHBORS_CREDIT: staircase and self.source.uses_english_words,
        }
        built_in = ENGLISH_LICENSE if self.source.uses_english_words or english_lists_used else "Apache-2.0"
        license = self.card.license or (built_in if self.source.uses_default_encoder else "not stated")
        return [credit for credit, applies in credits.items() if applies], license


def table(options: TableArguments) -> None:
    """Build a text bundle from words and vectors: the staircase mechanism, SanText, or both."""
    options.check_options()
    recipe = options.make_recipe(options.policy.make_policy())
    with show_progress_bars() as progress, ExitStack() as stack:
        source = options.source.read_words(recipe.santext, progress)
        run = run_blocks
        if options.ray.ray:
            store = 2 * source.vectors.size + 4 * options.staircase.staircase_neighbors * len(source.words)
            run = stack.enter_context(open_ray_runner(options.ray.ray_address, options.workers, store))
        contents = build_text_bundle(source, recipe, progress, run)
        if recipe.staircase is not None:
            certify_staircase(contents.tensors[layout.STAIRCASE], recipe.staircase.levels, progress, run)
        stack.close()
        bundle = write_bundle(contents, options.output, force=options.force)
        options.policy.report_matches(bundle)
        targets = recipe.certified_epsilons
        if targets is not None and recipe.santext:
            labels = {name: float(target) for name, target in targets.items()}
            bundle = write_certificate(bundle, certify_bundle(bundle, progress), labels)
        if options.santext.statistics and recipe.santext:
            bundle = write_statistics(bundle, measure_statistics(bundle, progress))
    print(f"{options.output}: {bundle.symbol_count:,} symbols, content hash {bundle.content_hash}")


def _parse_mechanisms(names: str) -> tuple[str, ...]:
    """Parse the value of ``--mechanisms`` to the names of mechanisms."""
    mechanisms = tuple(name.strip() for name in names.split(","))
    if set(mechanisms) - {"staircase", "santext"} or len(set(mechanisms)) != len(mechanisms):
        raise ExportError("--mechanisms must be staircase, santext or both, each once")
    return mechanisms
