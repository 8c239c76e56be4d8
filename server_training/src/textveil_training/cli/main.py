"""The ``textveil-train`` command: parse, one library call, print. Only data goes to standard output."""

import sys
from typing import Annotated

import typer
from textveil import __version__
from textveil_cli import run

from textveil_training.cli import corpus, dpnr, encoder, fairness, finetune, grid, held_out, pretrain
from textveil_training.cli.attack import attack_app
from textveil_training.cli.data import data_app

app = typer.Typer(
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Trains on what devices release, and attacks it.",
)
app.add_typer(data_app, name="data")
app.command("dpnr")(dpnr.dpnr)
app.command("evaluate")(dpnr.evaluate)
app.command("encoder")(encoder.encoder)
app.command("held-out")(held_out.held_out)
app.command("grid")(grid.grid)
app.command("finetune")(finetune.finetune)
app.command("fairness")(fairness.fairness)
app.command("pretrain")(pretrain.pretrain)
app.command("sanitize-corpus")(corpus.sanitize_corpus)
app.add_typer(attack_app, name="attack")


def _tell_version(wanted: bool) -> None:
    if wanted:
        print(f"textveil-train {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    _: Annotated[
        bool,
        typer.Option("--version", help="Print the version and exit.", is_eager=True, callback=_tell_version),
    ] = False,
) -> None:
    """Trains on what devices release, and attacks it."""


def main() -> None:
    """Runs the ``textveil-train`` command."""
    sys.exit(run(app, "textveil-train"))
