"""Measure the accuracy of the main task for persons with and without each private attribute.

    python benchmarks/fairness/run.py PATH... --format FORMAT --checkpoint FOLDER [--clean FOLDER] [-o RECORD]
    python benchmarks/fairness/run.py PATH... --format FORMAT --model FOLDER [--clean FOLDER --clean-data PATH]

``subgroups.py`` computes the tables, ``correctness.py`` runs the models, and ``measure.py`` writes the record that
docs/results/fairness.md shows.
"""

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from textveil_cli.console import run, show_progress_bars
from textveil_training.data import FormatName
from textveil_training.terminal_tables import format_table

app = typer.Typer(pretty_exceptions_enable=False, rich_markup_mode=None, add_completion=False)


@app.command()
def fairness(
    data: Annotated[
        list[Path],
        typer.Argument(metavar="PATH", help="The texts; for a sanitized corpus one or several copies."),
    ],
    format_name: Annotated[
        FormatName, typer.Option("--format", help="Format of the data; it must have private attributes.")
    ],
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            "--checkpoint", metavar="FOLDER", help="Checkpoint of dpnr, whose released vectors are classified."
        ),
    ] = None,
    model: Annotated[
        Path | None, typer.Option("--model", metavar="FOLDER", help="Model of finetune, for raw or sanitized texts.")
    ] = None,
    clean: Annotated[
        Path | None,
        typer.Option("--clean", metavar="FOLDER", help="Model or checkpoint without privacy, to compare with."),
    ] = None,
    clean_data: Annotated[
        Path | None,
        typer.Option(
            "--clean-data", metavar="PATH", help="The raw texts for --clean, if the texts at PATH are sanitized."
        ),
    ] = None,
    split: Annotated[
        str, typer.Option("--split", help="The split, or all for files that contain a single split.")
    ] = "test",
    epsilon: Annotated[
        list[str] | None,
        typer.Option("--epsilon", "-e", help="Whole-text epsilon; repeatable. Default: that of the checkpoint."),
    ] = None,
    draws: Annotated[
        int, typer.Option("--draws", min=1, help="Number of releases of each text with --checkpoint.")
    ] = 20,
    minimum: Annotated[
        int,
        typer.Option("--minimum", min=2, help="Least number of texts in a subgroup; smaller subgroups get no figures."),
    ] = 30,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write a run record in JSON to this file.")
    ] = None,
    device: Annotated[str, typer.Option("--device", help="cpu, or a CUDA device such as cuda:0.")] = "cpu",
    threads: Annotated[int, typer.Option("--threads", min=0, help="Processor threads; 0: PyTorch decides.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print one line of JSON instead of tables.")] = False,
) -> None:
    """Measure accuracy with and without each private attribute, and test whether a gap is significant.

    Pass --checkpoint or --model. Every figure has its standard error over texts. A gap is accuracy with the attribute
    minus accuracy without. With probability 95 %, all intervals of one model's gaps are right. A star marks a gap whose
    interval excludes 0. The column "same class" has the gap for equal shares of the classes on both sides, and in
    brackets the share of the texts that it covers.

    With --clean the change of each gap is measured, on the same texts.
    """
    import torch
    from fairness.measure import Request, measure

    request = Request(
        data=data,
        format_name=format_name,
        split=None if split == "all" else split,
        checkpoint=checkpoint,
        model=model,
        clean=clean,
        clean_data=clean_data,
        levels=epsilon or (),
        draws=draws,
        minimum=minimum,
        device=device,
    )
    if threads:
        torch.set_num_threads(threads)
    with show_progress_bars() as report:
        result = measure(request, output, report)
    print(json.dumps(result) if as_json else "\n\n".join(_blocks(result["lines"])))


def _blocks(lines: list[dict[str, Any]]) -> list[str]:
    """Return a table for each line; lines of a classifier without noise share a table if their results are equal."""
    quiet = [line for line in lines if line["kind"] == "without noise"]
    blocks = []
    for line in lines:
        same = [line]
        if line["kind"] == "without noise":
            same = [other for other in quiet if other["result"] == line["result"]]
        if same[0] is line:
            blocks.append(_block(line, [_format_epsilon(other["release"]) for other in same if other["release"]]))
    return blocks


def _format_epsilon(release: dict[str, Any]) -> str:
    """Return the epsilon of a release; the mode names has none."""
    return "none" if release["epsilon"] is None else f"{release['epsilon']:g}"


def _block(line: dict[str, Any], epsilons: list[str]) -> str:
    found = line["result"]
    changes = any(one["change_from_clean"] for one in found["attributes"])
    head = ["attribute", "texts with", "accuracy", "without", "accuracy", "gap", "95 % together", "same class"]
    rows = [[*head, *(["change of the gap"] if changes else [])]]
    for one in found["attributes"]:
        sides = [cell for side in ("with", "without") for cell in _side(one[side])]
        gaps = [one, one["within_classes"], *([one["change_from_clean"]] if changes else [])]
        shown = [_gap(gap) for gap in gaps]
        rows.append([one["name"], *sides, shown[0], _interval(one), *shown[1:]])
    accuracy = f"{found['accuracy']:.4f} +- {found['standard_error']:.4f}"
    return "\n".join([f"{_name(line, epsilons)}: accuracy {accuracy}, {found['examples']:,} texts", format_table(rows)])


def _name(line: dict[str, Any], epsilons: list[str]) -> str:
    release = line["release"]
    if release is None:
        return {"clean": "clean model"}.get(line["kind"], "without privacy")
    if line["kind"] == "without noise":
        return f"{release['mechanism']} for epsilon {', '.join(epsilons)}, without noise, for comparison only"
    level = f", level {release['level']}" if release["level"] else ""
    draws = "1 draw" if line["draws"] == 1 else f"{line['draws']} draws"
    if release["epsilon"] is None:
        return f"mode {release['mode']}, no epsilon, {draws} a text"
    return f"{release['mechanism']}{level}, epsilon {epsilons[0]} ({release['epsilon_notion']}), {draws} a text"


def _side(side: dict[str, Any]) -> list[str]:
    if side["accuracy"] is None:
        return [f"{side['examples']:,}", "too few"]
    return [f"{side['examples']:,}", f"{side['accuracy']:.4f} +- {side['standard_error']:.4f}"]


def _gap(gap: dict[str, Any] | None) -> str:
    if gap is None or gap["gap"] is None:
        return "-"
    share = f" ({gap['share']:.0%})" if "share" in gap else ""
    return f"{gap['gap']:+.4f} +- {gap['gap_standard_error']:.4f}{' *' if gap['differs'] else ''}{share}"


def _interval(gap: dict[str, Any]) -> str:
    return "-" if gap["interval"] is None else "[{:+.4f}, {:+.4f}]".format(*gap["interval"])


if __name__ == "__main__":
    sys.exit(run(app, "fairness"))
