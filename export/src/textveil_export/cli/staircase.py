"""Define ``textveil-export staircase``, which builds a bundle for random replacement of words.

The bundle has the data of the staircase mechanism for the vocabulary of an existing bundle.
"""

from pathlib import Path
from typing import Annotated

import typer
from textveil.bundle import TextBundle, open_bundle
from textveil_cli.console import show_progress_bars
from textveil_cli.options import ExpectedBundleOptions

from textveil_export.cli.options import ENGLISH_VECTORS, Force, NewBundle, StaircaseOptions, check_lists_option
from textveil_export.text.contents import ENGLISH_LICENSE, NEIGHBORS_CREDIT, TEMPLATE_CREDIT, add_credits
from textveil_export.text.names_lists import add_names_lists, read_names_lists
from textveil_export.text.staircase_bundle import build_staircase_bundle
from textveil_export.text.word_roles import read_english_lists
from textveil_export.text.word_vectors import read_vectors
from textveil_export.text.write import write_bundle


def staircase(
    bundle: Annotated[Path, typer.Argument(metavar="BUNDLE", help="Folder of a bundle of words.")],
    output: NewBundle,
    vectors: Annotated[
        Path | None,
        typer.Option(help="File with a vector for each word (GloVe, word2vec, fastText). Default: English ones."),
    ] = None,
    lists: Annotated[
        str, typer.Option(help="english: the built-in list of words that are never outputs. none: no list.")
    ] = "english",
    name: Annotated[str | None, typer.Option(help="Name of the new bundle. Default: the name of its folder.")] = None,
    license: Annotated[
        str | None, typer.Option(help="SPDX license expression of the new bundle. Default: that of BUNDLE.")
    ] = None,
    attribution: Annotated[
        str | None,
        typer.Option(help="Attribution of the new bundle. Default: that of BUNDLE and of built-in lists."),
    ] = None,
    names: Annotated[
        Path | None, typer.Option(help="Folder of lists for the mode names, which are added to the new bundle.")
    ] = None,
    force: Force = False,
    *,
    options: StaircaseOptions,
    expected: ExpectedBundleOptions,
) -> None:
    """Build a bundle with only the staircase mechanism, over the words of a finished bundle."""
    check_lists_option(lists)
    names_lists = None if names is None else read_names_lists(names)
    opened = open_bundle(bundle, TextBundle, **expected.expected_bundle)
    never_output = read_english_lists()[1] if lists == "english" else frozenset()
    source = read_vectors(vectors or ENGLISH_VECTORS, 1 << 16)
    recipe = options.make_recipe(source, english=vectors is None, never_output=never_output)
    credits = {
        TEMPLATE_CREDIT: options.function_words is None,
        NEIGHBORS_CREDIT: vectors is None,
    }
    if attribution is None:
        attribution = str(opened.manifest.get("attribution", ""))
        attribution = add_credits(attribution, *(credit for credit, applies in credits.items() if applies))
    if license is None:
        license = ENGLISH_LICENSE if options.function_words is None else str(opened.manifest.get("license"))
    with show_progress_bars() as progress:
        contents = build_staircase_bundle(
            opened,
            recipe,
            name=name or output.resolve().name,
            license=license,
            attribution=attribution,
            lists={"built_in_lists": lists, "never_output_words_listed": len(recipe.never_output)},
            progress=progress,
        )
        if names_lists is not None:
            contents = add_names_lists(contents, names_lists)
        written = write_bundle(contents, output, force=force)
    print(f"{output}: {written.symbol_count:,} symbols, content hash {written.content_hash}")
