"""``textveil-train report``: tables and pictures of what was measured."""

import os
from pathlib import Path
from typing import Annotated

import typer
from textveil.errors import OutputError

from textveil_training.cli import report_page
from textveil_training.data import FORMATS, FormatName

report_app = typer.Typer(rich_markup_mode=None, help="Tables and pictures.")
report_app.command("page")(report_page.page)


@report_app.callback()
def _report() -> None:
    """Tables and pictures."""


@report_app.command("dpnr")
def dpnr(
    runs: Annotated[list[Path], typer.Argument(metavar="RUNS...", help="Files of textveil-train grid.")],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="The tables, Markdown.")],
    format_name: Annotated[
        FormatName | None, typer.Option("--format", help="Of the data: gives the attributes their names.")
    ] = None,
    picture: Annotated[
        Path | None, typer.Option("--picture", metavar="FILE", help="Accuracy by epsilon, PNG; needs matplotlib.")
    ] = None,
    title: Annotated[str, typer.Option("--title", help="Of the picture.")] = "Accuracy of private representations",
) -> None:
    """Tables of accuracies beside their bounds and of attackers; refuses an accuracy above its ceiling."""
    from textveil.atomic import atomic_output

    from textveil_training.dpnr.report import read_runs, tables

    read = read_runs(runs)
    names = () if format_name is None else FORMATS[format_name].attributes
    drawn = None
    if picture is not None:
        from textveil_training.dpnr.figures import accuracy_by_epsilon

        drawn = accuracy_by_epsilon(read, read.kinds(), title)
    with atomic_output(output) as write:
        write(tables(read, names))
    if picture is not None and drawn is not None:
        write_picture(picture, drawn)


@report_app.command("map")
def texts(
    data: Annotated[Path, typer.Argument(metavar="PATH", help="The texts: a file of a format with attributes.")],
    format_name: Annotated[FormatName, typer.Option("--format", help="The format it is in.")],
    clean: Annotated[Path, typer.Option("--clean", metavar="CHECKPOINT", help="A checkpoint without privacy.")],
    checkpoint: Annotated[Path, typer.Option("--checkpoint", metavar="FOLDER", help="The private checkpoint.")],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="The picture, PNG.")],
    epsilon: Annotated[
        list[str] | None, typer.Option("--epsilon", "-e", help="Whole-text epsilon, repeatable; else the checkpoint's.")
    ] = None,
    texts_shown: Annotated[int, typer.Option("--texts", min=50, help="Texts of the test split that are shown.")] = 600,
    seed: Annotated[int, typer.Option("--seed", help="Of t-SNE.")] = 0,
) -> None:
    """t-SNE maps of clean and of released vectors, coloured by class and by the commonest attribute.

    Features that a checkpoint's folder holds are used, others are computed.
    """
    from textveil_training.dpnr.text_maps import text_maps
    from textveil_training.progress import bars

    with bars() as report:
        drawn = text_maps(
            data, format_name, clean, checkpoint, levels=epsilon, texts=texts_shown, seed=seed, report=report
        )
    write_picture(output, drawn)


def write_picture(path: Path, png: bytes) -> None:
    """Writes a picture, whole or not at all.

    Raises:
        OutputError: It cannot be written.
    """
    temporary = path.with_name(f".{path.name}.partial")
    try:
        with temporary.open("wb") as file:
            file.write(png)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise OutputError("the picture cannot be written") from error
