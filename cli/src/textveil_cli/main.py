"""The ``textveil`` command: parse, one library call, print. Only data goes to standard output."""

import sys
from pathlib import Path
from typing import Annotated

import typer
from textveil import __version__
from textveil.bundle.index import IndexBundle
from textveil.bundle.open import open_bundle
from textveil.bundle.pins import Pins
from textveil.bundle.text import TextBundle
from textveil.bundle.vectors import VectorBundle
from textveil.errors import OptionError
from textveil.text.options import Options
from textveil.text.sanitizer import Sanitizer
from textveil.verify import PAIRS, verify_encoder, verify_index, verify_text

from textveil_cli import show_encoder, show_index, show_text
from textveil_cli.commands.classify import classify
from textveil_cli.commands.encode import encode
from textveil_cli.commands.ledger import ledger
from textveil_cli.commands.preview import preview
from textveil_cli.commands.receipt import verify_receipt
from textveil_cli.commands.restore import restore
from textveil_cli.commands.sanitize import sanitize
from textveil_cli.commands.serve import serve
from textveil_cli.configuration import ConfigOption, say_configured
from textveil_cli.console import run
from textveil_cli.find_level import find_level
from textveil_cli.options import (
    BundleArgument,
    BundleOption,
    EpsilonOption,
    JsonOption,
    KindsOption,
    LevelOption,
    MechanismOption,
    ReplacementOption,
    VisibleOption,
    one_bundle,
    staircase_options,
)
from textveil_cli.pins import pinned

app = typer.Typer(
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Rewrites text on this device, offline, with a differential-privacy bound for every drawn word.",
)


@app.callback(invoke_without_command=True)
def _root(
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
) -> None:
    if version:
        print(f"textveil {__version__}")
        raise typer.Exit


app.command()(sanitize)
app.command()(preview)
app.command()(restore)


@app.command()
@pinned()
def inspect(
    context: typer.Context,
    word: Annotated[str, typer.Argument(metavar="WORD", help="One word.")],
    bundle: BundleOption = None,
    mechanism: MechanismOption = None,
    epsilon: EpsilonOption = None,
    level: LevelOption = None,
    replacement_probability: ReplacementOption = None,
    visible: VisibleOption = None,
    kinds: KindsOption = None,
    count: Annotated[int, typer.Option("--count", "-n", min=1, help="How many replacements to list.")] = 15,
    as_json: JsonOption = False,
    config: ConfigOption = None,
    *,
    pins: Pins,
) -> None:
    """Show what a word may become, with exact probabilities."""
    options = Options(
        mechanism=mechanism,
        epsilon=epsilon,
        level=level,
        replacement_probability=replacement_probability,
        **staircase_options(visible, kinds, False, None, False),
    )
    sanitizer = Sanitizer.load(bundle, **pins)
    print(show_text.inspection(sanitizer, word, options, count, as_json=as_json))
    say_configured(context)


@app.command()
@pinned()
def info(
    folder: BundleArgument = None,
    bundle: BundleOption = None,
    as_json: JsonOption = False,
    path: Annotated[bool, typer.Option("--path", help="Print only the folder of the bundle.")] = False,
    *,
    pins: Pins,
) -> None:
    """Show what a bundle is, what it promises and what not.

    It may be a bundle for texts or an encoder.
    """
    bundle = one_bundle(folder, bundle)
    opened = Sanitizer.load(**pins).bundle if bundle is None else open_bundle(bundle, **pins)
    if path:
        print(opened.path)
        return
    match opened:
        case IndexBundle():
            print(show_index.information(opened, as_json=as_json))
        case VectorBundle():
            print(show_encoder.information(opened, as_json=as_json))
        case _:
            print(show_text.information(Sanitizer(opened).bundle, as_json=as_json))


@app.command()
@pinned()
def levels(bundle: BundleOption = None, as_json: JsonOption = False, *, pins: Pins) -> None:
    """List all levels: what they promise and do to words."""
    print(show_text.levels_table(Sanitizer.load(bundle, **pins).bundle, as_json=as_json))


@app.command()
@pinned()
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
    bundle: BundleOption = None,
    mechanism: Annotated[
        str | None,
        typer.Option("--mechanism", "-m", help="santext+ or santext; the bundle's default of these if left out."),
    ] = None,
    as_json: JsonOption = False,
    *,
    pins: Pins,
) -> None:
    """Find the level of santext+ or santext for a wish.

    Prints its options and what it promises. Nothing is drawn. The levels of the staircase are in textveil info.
    """
    opened = Sanitizer.load(bundle, **pins).bundle
    level = find_level(opened, unchanged=unchanged, bayes=bayes, releases=releases, mechanism=mechanism)
    print(show_text.chosen_level(opened, level, as_json=as_json))


@app.command()
@pinned()
def verify(
    folder: BundleArgument = None,
    bundle: BundleOption = None,
    pairs: Annotated[
        int | None, typer.Option(min=1, help=f"Pairs of words to audit anew; {PAIRS:,} if left out.")
    ] = None,
    receipt: Annotated[Path | None, typer.Option("--receipt", help="Check this receipt instead of a bundle.")] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", help="With --receipt: the output that it must be of; - is standard input."),
    ] = None,
    signed_by: Annotated[
        str | None, typer.Option("--signed-by", help="With --receipt: the public key that must have signed it.")
    ] = None,
    *,
    pins: Pins,
) -> None:
    """Check a bundle on this device, and its bounds anew; or a receipt.

    Hashes, structure, certificate, and a fresh audit of random pairs of words. Of an encoder bundle: hashes, structure,
    the model's operators, and the finished noise or channel of every level. Of a receipt: its signature, and
    the hash of the output.
    """
    bundle = one_bundle(folder, bundle)
    if receipt is not None:
        if bundle is not None or pairs is not None or pins.get("maker") is not None:
            raise OptionError("--receipt is checked without a bundle")
        print(verify_receipt(receipt, output, signed_by, pins.get("expect_id")))
        return
    if output is not None or signed_by is not None:
        raise OptionError("--output and --signed-by go with --receipt")
    opened = Sanitizer.load(**pins).bundle if bundle is None else open_bundle(bundle, **pins)
    if pairs is not None and not isinstance(opened, TextBundle):
        raise OptionError("--pairs is for bundles of words: the noise of an encoder is computed whole")
    match opened:
        case IndexBundle():
            print(verify_index(opened))
        case VectorBundle():
            print(verify_encoder(opened))
        case _:
            print(verify_text(Sanitizer(opened).bundle, PAIRS if pairs is None else pairs))


app.command()(encode)
app.command()(classify)
app.command()(serve)
app.add_typer(ledger, name="ledger")


def main() -> None:
    """Runs the ``textveil`` command."""
    sys.exit(run(app, "textveil"))
