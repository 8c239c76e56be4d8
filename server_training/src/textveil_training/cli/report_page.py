"""``textveil-train report page``: what runs measured, as one HTML page, Markdown tables and pictures."""

import json
from pathlib import Path
from typing import Annotated

import typer


def page(
    records: Annotated[
        list[Path],
        typer.Argument(metavar="RECORDS...", help="Run records, JSON or JSON Lines; in folders all such files."),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="The page, HTML.")],
    markdown: Annotated[
        Path | None, typer.Option("--markdown", metavar="FILE", help="The tables too, Markdown.")
    ] = None,
    pictures: Annotated[
        Path | None, typer.Option("--pictures", metavar="FOLDER", help="The plots too, PNG; made if not there.")
    ] = None,
    bundle: Annotated[
        list[Path] | None,
        typer.Option("--bundle", metavar="FOLDER", help="A bundle that records name: its w and pure LDP, repeatable."),
    ] = None,
    title: Annotated[str, typer.Option("--title", help="Heading of the page.")] = "Utility against privacy",
    as_json: Annotated[bool, typer.Option("--json", help="What was read and written, as one line of JSON.")] = False,
) -> None:
    """Report runs: utility against privacy, for every mechanism, as tables and plots on one page.

    Reads records of finetune, attack text, pretrain and fairness, and files of grid. Runs that differ in their seed
    only are averaged; those that have not finished are listed and not averaged; of two records of the same run the
    later counts, and the page says so. The page needs nothing beside itself: no network, no scripts.
    """
    from textveil.atomic import atomic_output
    from textveil.errors import OutputError

    from textveil_training.cli.report import write_picture
    from textveil_training.progress import bars
    from textveil_training.report.bundles import with_bundles
    from textveil_training.report.page import html, plots_of, sections
    from textveil_training.report.page import markdown as markdown_of
    from textveil_training.report.plots import COLOURS, Pictures
    from textveil_training.report.records import read

    with bars() as report:
        reading = with_bundles(read(records, report), bundle or [])
        parts = sections(reading)
        plots = plots_of(parts)
        drawing = Pictures(plots)
        whole = html(parts, title, drawing.svg, COLOURS, report)
        drawn = {f"{plot.name}.png": drawing.png(plot) for plot in plots} if pictures is not None else {}
    written = [output]
    with atomic_output(output) as write:
        write(whole)
    if markdown is not None:
        with atomic_output(markdown) as write:
            write(markdown_of(parts, title))
        written.append(markdown)
    if pictures is not None:
        try:
            pictures.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OutputError("the folder of pictures cannot be made") from error
        for name, png in drawn.items():
            write_picture(pictures / name, png)
    counts = {
        "runs": len(reading.runs),
        "unfinished": len(reading.unfinished),
        "replaced": len(reading.replaced),
        "read_twice": reading.copies,
        "passed_over": reading.passed_over,
        "grids": len(reading.grids),
        "sections": [part.name for part in parts],
        "pictures": sorted(drawn),
    }
    if as_json:
        print(json.dumps(counts))
        return
    print(f"{counts['runs']} runs, {len(plots)} plots, sections: {', '.join(part.title for part in parts)}")
    for what in ("unfinished", "replaced", "read_twice", "passed_over"):
        if counts[what]:
            print(f"{what.replace('_', ' ')}: {counts[what]}")
