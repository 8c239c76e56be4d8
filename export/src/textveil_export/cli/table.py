"""The command that makes a text bundle: ``textveil-export table``."""

from contextlib import ExitStack
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Annotated

import typer
from textveil.bundle import STAIRCASE, Bundle
from textveil_cli import say

from textveil_export.certify.certificate import certify
from textveil_export.certify.staircase import certify_staircase
from textveil_export.cli.progress_bars import bars
from textveil_export.cli.staircase import (
    DEFAULT_NEIGHBORS,
    ENGLISH_VECTORS,
    ContextOption,
    FunctionWordsOption,
    KindOption,
    StaircaseNeighborsOption,
    WordFrequenciesOption,
    context_model,
    frequencies,
    skeleton,
    vectors_of,
)
from textveil_export.errors import ExportError
from textveil_export.leakage.statistics import measure
from textveil_export.on_ray import on_ray
from textveil_export.parallel import here
from textveil_export.progress import Progress
from textveil_export.text import sources
from textveil_export.text.attribution import MINILM, NEIGHBORS, NEVER_DRAWN, SKELETON, SKELETON_LICENSE, WORDS
from textveil_export.text.build import DEFAULT_K, DEFAULT_LEVEL, Recipe, build_bundle
from textveil_export.text.build_staircase import StaircaseRecipe
from textveil_export.text.calibrate_epsilon import DEFAULT_LEVELS
from textveil_export.text.ranks import by_frequency
from textveil_export.text.staircase import StaircaseSettings
from textveil_export.text.word_sets import LISTS, Policy, english_lists
from textveil_export.text.write import write_bundle, write_certificate, write_statistics

DEFAULT_MECHANISMS = "staircase,santext"
ENGLISH_WORDS = LISTS / "words" / "english-3.txt"


def table(
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder of the new bundle.")],
    encoder: Annotated[
        str, typer.Option(help="minilm (the installed package), a model folder, or a model id on a hub.")
    ] = sources.MINILM,
    vocabulary: Annotated[
        str,
        typer.Option(
            help="english: the built-in word list. wordpiece: the encoder's own pieces with its input embeddings. "
            "Or a file of words, one per line, most frequent first, run through the encoder one by one."
        ),
    ] = "english",
    vectors: Annotated[
        Path | None,
        typer.Option(help="A GloVe, word2vec or fastText text file; replaces encoder and vocabulary."),
    ] = None,
    max_words: Annotated[int, typer.Option(min=2, help="Most entries read from --vectors.")] = 30_000,
    corpus: Annotated[
        list[Path] | None,
        typer.Option(help="Public text for frequency ranks (repeatable); else the order of the source counts."),
    ] = None,
    neighbors: Annotated[int, typer.Option("--neighbors", "-k", min=1, help="Stored neighbors per word.")] = DEFAULT_K,
    level: Annotated[
        list[str] | None,
        typer.Option(help="NAME=EXPONENT, strictest first (repeatable). Default: six levels fitted to the metric."),
    ] = None,
    certified_epsilon: Annotated[
        str | None,
        typer.Option(
            help="Comma-separated targets, strictest first, each NUMBER or NAME=NUMBER: exponents are searched whose "
            "epsilon, certified over all pairs, is at most that; the certificate is written too. Takes minutes."
        ),
    ] = None,
    flatten_to: Annotated[
        float,
        typer.Option(
            min=1,
            max=2,
            help="With --certified-epsilon: certified epsilon over exponent that base measures aim for. 1: as flat as "
            "can be. Where some words are crowded (WordPieces: 1.25) more starves fewer of them.",
        ),
    ] = 1.0,
    default_level: Annotated[str, typer.Option(help="Level used when a user names none.")] = DEFAULT_LEVEL,
    share: Annotated[float, typer.Option(help="w: share of the rarest words that is sensitive.")] = 0.9,
    lists: Annotated[
        str, typer.Option(help="english: the built-in sensitive and never-output lists. none: no lists.")
    ] = "english",
    deny: Annotated[list[Path] | None, typer.Option(help="More words that are always sensitive.")] = None,
    allow: Annotated[list[Path] | None, typer.Option(help="Words that are never sensitive.")] = None,
    never_output: Annotated[list[Path] | None, typer.Option(help="More words that must never come out.")] = None,
    mechanisms: Annotated[
        str, typer.Option(help="Comma-separated: staircase, santext (with santext+). The staircase is for words.")
    ] = DEFAULT_MECHANISMS,
    staircase_neighbors: StaircaseNeighborsOption = DEFAULT_NEIGHBORS,
    function_words: FunctionWordsOption = None,
    kind: KindOption = None,
    word_frequencies: WordFrequenciesOption = None,
    context: ContextOption = None,
    statistics: Annotated[
        bool, typer.Option(help="Measure what the levels do to words, for textveil levels and calibrate; minutes.")
    ] = True,
    name: Annotated[str | None, typer.Option(help="Name of the bundle; by default that of the output folder.")] = None,
    license: Annotated[
        str | None, typer.Option(help="SPDX license expression of the bundle; Apache-2.0 for the default encoder only.")
    ] = None,
    attribution: Annotated[str, typer.Option(help="Whose work the vectors and words are.")] = "",
    ray: Annotated[
        bool, typer.Option("--ray", help="The work by tasks of a Ray cluster; with --mechanisms staircase.")
    ] = False,
    ray_address: Annotated[
        str | None, typer.Option(help="With --ray: a cluster that is there. Else one is started on this machine.")
    ] = None,
    workers: Annotated[int | None, typer.Option(min=1, help="With --ray: processes; all cores if left out.")] = None,
    force: Annotated[bool, typer.Option(help="Replace an existing bundle.")] = False,
) -> None:
    """Build a bundle: the staircase with the lists of its skeleton, and SanText with exact neighbors and its sets."""
    if lists not in ("english", "none"):
        raise ExportError("--lists must be english or none")
    sensitive, never = english_lists() if lists == "english" else (frozenset[str](), frozenset[str]())
    policy = Policy(
        share=share,
        sensitive=sensitive | _entries(deny),
        allow=_entries(allow),
        never_output=never | _entries(never_output),
    )
    default_encoder = vectors is None and encoder == sources.MINILM
    chosen = _mechanisms(mechanisms, vocabulary)
    english = vectors is None and vocabulary == "english"
    staircase = None
    if "staircase" in chosen:
        staircase = StaircaseRecipe(
            lists=skeleton(function_words, kind),
            vectors=vectors_of(ENGLISH_VECTORS) if english else None,
            per_billion=frequencies(word_frequencies, english),
            settings=StaircaseSettings(k=staircase_neighbors),
            never_output=policy.never_output,
            context=context_model(context),
        )
    elif function_words is not None or kind or word_frequencies is not None or context is not None:
        raise ExportError("--function-words, --kind, --word-frequencies and --context belong to the staircase")
    english_lists_used = staircase is not None and function_words is None
    credits = {
        MINILM: default_encoder and "santext" in chosen,
        WORDS: english,
        NEVER_DRAWN: lists == "english",
        SKELETON: english_lists_used,
        NEIGHBORS: staircase is not None and english,
    }
    attribution = " ".join([*(credit for credit, applies in credits.items() if applies), attribution]).strip()
    built_in = SKELETON_LICENSE if english_lists_used else "Apache-2.0"
    license = license or (built_in if default_encoder else "not stated")
    levels = _levels(level)
    targets = None if certified_epsilon is None else _levels(_named(certified_epsilon))
    if levels is not None and targets is not None:
        raise ExportError("--level and --certified-epsilon exclude each other")
    only_level = list(levels or targets or {})
    if len(only_level) == 1:
        default_level = only_level[0]
    if vectors is not None and (encoder != sources.MINILM or vocabulary != "english"):
        raise ExportError("--vectors replaces --encoder and --vocabulary: name one or the other")
    recipe = Recipe(
        name=name or output.resolve().name,
        policy=policy,
        k=neighbors,
        levels=levels,
        certified_epsilons=targets,
        flatten_to=flatten_to,
        default_level=default_level,
        santext="santext" in chosen,
        staircase=staircase,
        license=license,
        attribution=attribution,
        lists={
            "built_in_lists": lists,
            "sensitive_words_listed": len(policy.sensitive),
            "allowed_words_listed": len(policy.allow),
            "never_output_words_listed": len(policy.never_output),
            "rank_corpora": [path.name for path in corpus or []] or "order of the source",
        },
    )
    if output.exists() and not force:
        raise ExportError("the output folder exists (use --force)")
    if not ray and (ray_address is not None or workers is not None):
        raise ExportError("--ray-address and --workers go with --ray")
    if ray and chosen != ("staircase",):
        raise ExportError("--ray makes staircases: --mechanisms staircase")
    with bars() as progress, ExitStack() as stack:
        if english and "santext" not in chosen:  # no encoder is needed
            source = vectors_of(ENGLISH_VECTORS, progress)
        else:
            source = _source(encoder, vocabulary, vectors, max_words, progress)
        if corpus:
            source = by_frequency(source, corpus, progress)
        run = here
        if ray:
            store = 2 * source.vectors.size + 4 * staircase_neighbors * len(source.words)
            run = stack.enter_context(on_ray(ray_address, workers, store))
        contents = build_bundle(source, recipe, progress, run)
        if staircase is not None:
            certify_staircase(contents.tensors[STAIRCASE], staircase.levels, progress, run)
        stack.close()
        bundle = write_bundle(contents, output, force=force)
        for option, words in (("deny", deny), ("allow", allow), ("never-output", never_output)):
            _tell_found(option, _entries(words), bundle)
        if targets is not None and "santext" in chosen:
            labels = {name: float(target) for name, target in targets.items()}
            bundle = write_certificate(bundle, certify(bundle, progress), labels)
        if statistics and "santext" in chosen:
            bundle = write_statistics(bundle, measure(bundle, progress))
    print(f"{output}: {bundle.symbols:,} symbols, identity {bundle.identity}")


def _mechanisms(names: str, vocabulary: str) -> tuple[str, ...]:
    chosen = tuple(name.strip() for name in names.split(","))
    if set(chosen) - {"staircase", "santext"} or len(set(chosen)) != len(chosen):
        raise ExportError("--mechanisms takes staircase, santext or both, each once")
    if vocabulary == "wordpiece":
        if names != DEFAULT_MECHANISMS and "staircase" in chosen:
            raise ExportError("the staircase is for words: leave it out with --vocabulary wordpiece")
        return ("santext",)
    return chosen


def _source(encoder: str, vocabulary: str, vectors: Path | None, max_words: int, progress: Progress) -> sources.Source:
    if vectors is not None:
        return sources.read_vectors(vectors, max_words, progress)
    if vocabulary == "wordpiece":
        return sources.Encoder(encoder).pieces()
    words = sources.read_lines(ENGLISH_WORDS if vocabulary == "english" else Path(vocabulary))
    source = sources.Encoder(encoder).embed(words, progress)
    source.provenance["words"] = "built-in English list" if vocabulary == "english" else Path(vocabulary).name
    return source


def _tell_found(option: str, words: frozenset[str], bundle: Bundle) -> None:
    """Says how many words of a list the vocabulary has: a list that names nothing in it must not pass in silence."""
    if words:
        found = sum(sources.lookup_key(word) in bundle.ids for word in words)
        say(f"textveil-export: --{option}: {found} of {len(words)} words are in the vocabulary")


def _entries(paths: list[Path] | None) -> frozenset[str]:
    return frozenset(word for path in paths or [] for word in sources.read_lines(path))


def _named(targets: str) -> list[str]:
    """Returns ``NAME=NUMBER`` for every target: six bare numbers are the default levels, others get their number."""
    entries = [entry.strip() for entry in targets.split(",")]
    names = list(DEFAULT_LEVELS) if len(entries) == len(DEFAULT_LEVELS) else [f"e{entry}" for entry in entries]
    return [entry if "=" in entry else f"{name}={entry}" for name, entry in zip(names, entries, strict=True)]


def _levels(options: list[str] | None) -> dict[str, Decimal] | None:
    if not options:
        return None
    levels: dict[str, Decimal] = {}
    for option in options:
        name, _, number = option.partition("=")
        try:
            exponent = Decimal(number)
        except InvalidOperation:
            exponent = Decimal("NaN")
        if not name or name in levels or not exponent.is_finite() or exponent <= 0:
            raise ExportError("levels need NAME=NUMBER with a new name and a number above 0")
        levels[name] = exponent
    if sorted(levels.values()) != list(levels.values()):
        raise ExportError("levels must come strictest first: numbers ascending")
    return levels
