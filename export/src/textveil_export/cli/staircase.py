"""The command that gives a finished bundle another staircase: ``textveil-export staircase``."""

from pathlib import Path
from typing import Annotated

import typer
from textveil.bundle import Bundle
from textveil_cli.console import progress_bars
from textveil_cli.options import PinOptions

from textveil_export.cli.options import ENGLISH_VECTORS, Force, NewBundle, StaircaseOptions, require_lists
from textveil_export.text.renew_staircase import renew_staircase
from textveil_export.text.sources import read_vectors
from textveil_export.text.word_sets import english_lists


def staircase(
    bundle: Annotated[Path, typer.Argument(metavar="BUNDLE", help="Folder of a bundle of words with SanText.")],
    output: NewBundle,
    vectors: Annotated[
        Path | None,
        typer.Option(help="A vector for each word as text: GloVe, word2vec, fastText. Else the English ones."),
    ] = None,
    lists: Annotated[
        str, typer.Option(help="english: the built-in list of words that never come out. none: no list.")
    ] = "english",
    attribution: Annotated[
        str | None, typer.Option(help="Whose work the new bundle is; as the old one says if left out.")
    ] = None,
    force: Force = False,
    *,
    of: StaircaseOptions,
    must_be: PinOptions,
) -> None:
    """Build the staircase of a finished bundle anew; its tables of SanText stay.

    Their certificate and statistics stay too.
    """
    require_lists(lists)
    opened = Bundle(bundle, **must_be.pins)
    never_output = english_lists()[1] if lists == "english" else frozenset()
    source = read_vectors(vectors or ENGLISH_VECTORS, 1 << 16)
    recipe = of.recipe(source, english=vectors is None, never_output=never_output)
    with progress_bars() as progress:
        renewed = renew_staircase(opened, recipe, output, attribution=attribution, force=force, progress=progress)
    print(f"{output}: {renewed.symbols:,} symbols, identity {renewed.identity}")
