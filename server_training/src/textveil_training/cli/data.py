"""``textveil-train data``: what is in a data set."""

import json
from pathlib import Path
from typing import Annotated

import typer
from textveil_cli.console import SETTINGS, Command

from textveil_training.cli.options import FormatOption, JsonOption, LabelKeyOption, TextKeyOption
from textveil_training.data import ReadOptions, summarize

data = typer.Typer(add_completion=False, help="Inspect data sets.", **SETTINGS)


@data.callback()
def _data() -> None:
    """Inspect data sets."""


@data.command("inspect", cls=Command)
def inspect(
    path: Annotated[Path, typer.Argument(metavar="FILE", help="A file, or a folder of published files.")],
    format_name: FormatOption,
    split: Annotated[str | None, typer.Option("--split", help="Only this split.")] = None,
    text_key: TextKeyOption = "text",
    label_key: LabelKeyOption = "label",
    skip_headings: Annotated[bool, typer.Option("--skip-headings", help="No headings (wikitext).")] = False,
    as_json: JsonOption = False,
) -> None:
    """Count examples per split and per label, and tokens per example."""
    options = ReadOptions(text_key=text_key, label_key=label_key, skip_headings=skip_headings)
    summary = summarize(format_name, path, split, options)
    print(json.dumps(summary.as_dict()) if as_json else summary.table())
