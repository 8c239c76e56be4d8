"""``textveil inspect``: the possible replacements of a word."""

from typing import Annotated

import typer

from textveil_cli.options import BundleOptions, JsonOption, LevelOptions, ShownOptions, options_of
from textveil_cli.show.text import inspection


def inspect(
    word: Annotated[str, typer.Argument(metavar="WORD", help="One word.")],
    bundle: BundleOptions,
    level: LevelOptions,
    shown: ShownOptions,
    count: Annotated[int, typer.Option("--count", "-n", min=1, help="How many replacements to list.")] = 15,
    as_json: JsonOption = False,
) -> None:
    """Show what a word may become, with exact probabilities."""
    options = options_of(level, shown)
    print(inspection(bundle.sanitizer(), word, options, count, as_json=as_json))
