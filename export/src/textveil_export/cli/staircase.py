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
from textveil_export.text.attribution import ENGLISH_LICENSE, NEIGHBORS, SKELETON, credited
from textveil_export.text.build_staircase import StaircaseRecipe
from textveil_export.text.context import ContextModel, read_context_model
from textveil_export.text.skeleton_lists import SkeletonLists, english_skeleton, read_skeleton_lists
from textveil_export.text.staircase import StaircaseSettings, read_frequencies
from textveil_export.text.staircase_alone import staircase_alone
from textveil_export.text.word_sets import LISTS, english_lists
from textveil_export.text.write import write_bundle

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
    bundle: Annotated[Path, typer.Argument(metavar="BUNDLE", help="Folder of a bundle of words.")],
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
    name: Annotated[str | None, typer.Option(help="Name of the new bundle; by default that of its folder.")] = None,
    license: Annotated[
        str | None, typer.Option(help="SPDX license expression of the new bundle; that of BUNDLE if left out.")
    ] = None,
    attribution: Annotated[
        str | None, typer.Option(help="Whose work the new bundle is; BUNDLE's and that of built-in lists if left out.")
    ] = None,
    force: Annotated[bool, typer.Option(help="Replace an existing bundle.")] = False,
    *,
    pins: Pins,
) -> None:
    """Build a bundle with a staircase alone, over the words of a finished one."""
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
    credits = {
        SKELETON: function_words is None,
        NEIGHBORS: vectors is None,
        recipe.context.credit if recipe.context is not None else "": True,
    }
    if attribution is None:
        attribution = str(opened.manifest.get("attribution", ""))
        attribution = credited(attribution, *(credit for credit, applies in credits.items() if applies))
    if license is None:
        license = ENGLISH_LICENSE if function_words is None else str(opened.manifest.get("licence"))
    with bars() as progress:
        contents = staircase_alone(
            opened,
            recipe,
            name=name or output.resolve().name,
            license=license,
            attribution=attribution,
            lists={"built_in_lists": lists, "never_output_words_listed": len(recipe.never_output)},
            progress=progress,
        )
        made = write_bundle(contents, output, force=force)
    print(f"{output}: {made.symbols:,} symbols, identity {made.identity}")


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
