"""``textveil calibrate``: the level that does what is wished."""

from typing import Annotated

import typer

from textveil_cli.options import BundleOptions, JsonOption
from textveil_cli.show.find_level import find_level
from textveil_cli.show.text import chosen_level


def calibrate(
    unchanged: Annotated[
        float | None,
        typer.Option(
            help="The strictest level at which the median word stays unchanged at least this often, in (0, 1)."
        ),
    ] = None,
    bayes: Annotated[
        float | None,
        typer.Option(help="The lightest level at which an observer guesses a word at most this often, in (0, 1)."),
    ] = None,
    releases: Annotated[
        int, typer.Option(help="With --bayes: from how many independent releases of it: 1, 2, 5 or 10.")
    ] = 1,
    mechanism: Annotated[
        str | None,
        typer.Option("--mechanism", "-m", help="santext+ or santext; the bundle's default of these if left out."),
    ] = None,
    *,
    bundle: BundleOptions,
    as_json: JsonOption = False,
) -> None:
    """Find the level of santext+ or santext for a wish.

    Prints its options and what it promises. Nothing is drawn. The levels of the staircase are in textveil info.
    """
    opened = bundle.sanitizer().bundle
    level = find_level(opened, unchanged=unchanged, bayes=bayes, releases=releases, mechanism=mechanism)
    print(chosen_level(opened, level, as_json=as_json))
