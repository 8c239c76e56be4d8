"""The ``textveil-train`` command: parse, one library call, print. Only data goes to standard output."""

import json
import sys
from pathlib import Path
from typing import Annotated

import typer
from textveil.cli import run

from textveil_training import __version__
from textveil_training.commands import corpus, dpnr, fairness, finetune, grid, pretrain
from textveil_training.commands.attack import attack_app
from textveil_training.data import FormatName, ReadOptions, summarise

app = typer.Typer(
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Reads the data and trains on what devices release.",
)
data_app = typer.Typer(rich_markup_mode=None, help="Look at data sets.")
app.add_typer(data_app, name="data")
app.command("dpnr")(dpnr.dpnr)
app.command("evaluate")(dpnr.evaluate)
app.command("classify")(dpnr.classify)
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
        typer.Option("--version", help="Print the version and leave.", is_eager=True, callback=_tell_version),
    ] = False,
) -> None:
    """Reads the data and trains on what devices release."""


@data_app.callback()
def _data() -> None:
    """Look at data sets."""


@data_app.command("inspect")
def inspect_data(
    path: Annotated[Path, typer.Argument(metavar="FILE", help="A file, or a folder of published files.")],
    format_name: Annotated[FormatName, typer.Option("--format", help="The format it is in.")],
    split: Annotated[str | None, typer.Option("--split", help="Only this split.")] = None,
    text_key: Annotated[str, typer.Option("--text-key", help="Key of the text (jsonl).")] = "text",
    label_key: Annotated[str, typer.Option("--label-key", help="Key of the label (jsonl).")] = "label",
    skip_headings: Annotated[bool, typer.Option("--skip-headings", help="No headings (wikitext).")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One line of JSON instead of a table.")] = False,
) -> None:
    """Count examples per split and per label, and tokens per example."""
    options = ReadOptions(text_key=text_key, label_key=label_key, skip_headings=skip_headings)
    summary = summarise(format_name, path, split, options)
    print(json.dumps(summary.as_dict()) if as_json else summary.table())


def main() -> None:
    """Entry point of the ``textveil-train`` command."""
    sys.exit(run(app, "textveil-train"))
