"""The command that gives a finished bundle another staircase: ``textveil-export staircase``."""

import re
from pathlib import Path
from typing import Annotated

import typer
from textveil.bundle import Pins, TextBundle, open_bundle
from textveil_cli import pinned

from textveil_export.cli.progress_bars import bars
from textveil_export.errors import ExportError
from textveil_export.progress import Progress, no_progress
from textveil_export.text import sources
from textveil_export.text.build_staircase import StaircaseRecipe
from textveil_export.text.context import ContextModel, read_context_model
from textveil_export.text.renew_staircase import renew_staircase
from textveil_export.text.skeleton_lists import SkeletonLists, english_skeleton, read_skeleton_lists
from textveil_export.text.staircase import StaircaseSettings, read_frequencies
from textveil_export.text.word_sets import LISTS, english_lists

ENGLISH_VECTORS = LISTS / "words" / "english-3-vectors.txt"
ENGLISH_FREQUENCIES = LISTS / "words" / "english-3-frequencies.tsv"
ENGLISH_CONTEXT = LISTS / "words" / "english-3-context.txt"
DEFAULT_NEIGHBORS = StaircaseSettings().k
#: Names of kinds are names of files, and are printed.
_KIND_NAME = re.compile(r"[a-z]+(-[a-z]+)*")

StaircaseNeighborsOption = Annotated[
    int, typer.Option(min=1, help="staircase: stored neighbors per word, itself included.")
]
FunctionWordsOption = Annotated[
    Path | None,
    typer.Option(help="staircase: function words of another language; the English ones if left out."),
]
KindOption = Annotated[
    list[str] | None,
    typer.Option(
        help="staircase: NAME=FILE, the words of one kind (repeatable, in the order that settles a word on two "
        "lists); with --function-words. The English lists if both are left out."
    ),
]
WordFrequenciesOption = Annotated[
    Path | None,
    typer.Option(help="staircase: public frequencies, a word, a tab and a count per line; else the order counts."),
]
ContextOption = Annotated[
    str | None,
    typer.Option(help="staircase: lets the base follow the text (--fluent). english, or a file (docs/format.md)."),
]


@pinned()
def staircase(
    bundle: Annotated[Path, typer.Argument(metavar="BUNDLE", help="Folder of a bundle of words with SanText.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder of the new bundle.")],
    vectors: Annotated[
        Path | None,
        typer.Option(help="A vector for each word as text: GloVe, word2vec, fastText. Else the English ones."),
    ] = None,
    staircase_neighbors: StaircaseNeighborsOption = DEFAULT_NEIGHBORS,
    function_words: FunctionWordsOption = None,
    kind: KindOption = None,
    word_frequencies: WordFrequenciesOption = None,
    context: ContextOption = None,
    lists: Annotated[
        str, typer.Option(help="english: the built-in list of words that never come out. none: no list.")
    ] = "english",
    attribution: Annotated[
        str | None, typer.Option(help="Whose work the new bundle is; as the old one says if left out.")
    ] = None,
    force: Annotated[bool, typer.Option(help="Replace an existing bundle.")] = False,
    *,
    pins: Pins,
) -> None:
    """Build the staircase of a finished bundle anew; its tables of SanText stay, with certificate and statistics."""
    if lists not in ("english", "none"):
        raise ExportError("--lists must be english or none")
    opened = open_bundle(bundle, TextBundle, **pins)
    recipe = StaircaseRecipe(
        lists=skeleton(function_words, kind),
        vectors=vectors_of(vectors or ENGLISH_VECTORS),
        per_billion=frequencies(word_frequencies, vectors is None),
        settings=StaircaseSettings(k=staircase_neighbors),
        never_output=english_lists()[1] if lists == "english" else frozenset(),
        context=context_model(context),
    )
    with bars() as progress:
        renewed = renew_staircase(opened, recipe, output, attribution=attribution, force=force, progress=progress)
    print(f"{output}: {renewed.symbols:,} symbols, identity {renewed.identity}")


def skeleton(function_words: Path | None, kinds: list[str] | None) -> SkeletonLists:
    """Returns the lists that the options name, the built-in English ones if they name none."""
    if function_words is None:
        if kinds:
            raise ExportError("--kind goes with --function-words")
        return english_skeleton()
    named = [entry.partition("=") for entry in kinds or []]
    if not all(name and path for name, _, path in named):
        raise ExportError("--kind takes NAME=FILE")
    if not all(_KIND_NAME.fullmatch(name) for name, _, _ in named):
        raise ExportError("--kind: a name is of lower-case letters, with single hyphens between them")
    return read_skeleton_lists(function_words, [(name, Path(path)) for name, _, path in named])


def context_model(name: str | None) -> ContextModel | None:
    """Returns the model of contexts that the option names."""
    if name is None:
        return None
    return read_context_model(ENGLISH_CONTEXT if name == "english" else Path(name))


def vectors_of(path: Path, progress: Progress = no_progress) -> sources.Source:
    """Reads vectors of words from a text file."""
    return sources.read_vectors(path, 1 << 16, progress)


def frequencies(path: Path | None, english: bool) -> dict[str, int] | None:
    """Returns the public frequencies that the option names; without it those of the built-in English list, or none."""
    if path is None:
        return read_frequencies(ENGLISH_FREQUENCIES) if english else None
    return read_frequencies(path)
