"""``textveil-train dpnr`` and ``evaluate``: train a representation, and measure it."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

Data = Annotated[Path, typer.Option("--data", metavar="PATH", help="File or folder of the recipe's data.")]
Device = Annotated[str, typer.Option("--device", help="cpu, or a CUDA device such as cuda:0.")]
Threads = Annotated[int, typer.Option("--threads", min=0, help="Processor threads; 0 lets PyTorch choose.")]


def dpnr(
    recipe: Annotated[Path, typer.Argument(metavar="RECIPE", help="A recipe, TOML.")],
    data: Data,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FOLDER", help="Where the checkpoint goes.")],
    start: Annotated[
        Path | None,
        typer.Option("--start", metavar="CHECKPOINT", help="The checkpoint to start from, if the recipe does."),
    ] = None,
    features: Annotated[
        Path | None,
        typer.Option("--features", metavar="FOLDER", help="Features of the start, written by --write-features."),
    ] = None,
    write_features: Annotated[
        bool, typer.Option("--write-features", help="Leave the features of all splits in the output folder.")
    ] = False,
    resume: Annotated[bool, typer.Option("--resume", help="Continue an interrupted run.")] = False,
    seed: Annotated[int | None, typer.Option("--seed", help="Instead of the recipe's.")] = None,
    device: Device = "cpu",
    threads: Threads = 0,
    as_json: Annotated[bool, typer.Option("--json", help="The result as one line of JSON.")] = False,
) -> None:
    """Train a recipe: a representation under noise, or one of its baselines.

    Ctrl-C ends after the step that is running; --resume continues to the same result.
    """
    from textveil_training.dpnr.recipe import read_recipe, with_seed
    from textveil_training.dpnr.task import load_task
    from textveil_training.progress import bars
    from textveil_training.tasks.dpnr import Options, train

    chosen = read_recipe(recipe)
    if seed is not None:
        chosen = with_seed(chosen, seed)
    task = load_task(chosen.data, data)
    _set_threads(threads)
    with bars() as report:
        options = Options(output, resume, device, start, features, write_features)
        record = train(chosen, task, options, report)
    print(json.dumps(record["result"]) if as_json else _table(record["result"]))


def evaluate(
    checkpoint: Annotated[Path, typer.Argument(metavar="CHECKPOINT", help="The folder of a checkpoint.")],
    data: Data,
    format_name: Annotated[str, typer.Option("--format", help="The format of the data (see data inspect).")],
    split: Annotated[str | None, typer.Option("--split", help="The split; not for files that are one.")] = "test",
    epsilon: Annotated[
        list[str] | None, typer.Option("--epsilon", "-e", help="Whole-text epsilon, repeatable; else the checkpoint's.")
    ] = None,
    word_dropout: Annotated[
        str | None, typer.Option(help="Probability that a word is removed; else the checkpoint's.")
    ] = None,
    draws: Annotated[int, typer.Option("--draws", min=1, help="Noise draws per text.")] = 20,
    device: Device = "cpu",
    threads: Threads = 0,
    as_json: Annotated[bool, typer.Option("--json", help="One line of JSON instead of a table.")] = False,
) -> None:
    """Measure a checkpoint through the device's own release: accuracy over noise draws."""
    from textveil_training.dpnr.evaluation import evaluate_checkpoint

    _set_threads(threads)
    result = evaluate_checkpoint(
        checkpoint, data, format_name, split, levels=epsilon, word_dropout=word_dropout, draws=draws, device=device
    )
    print(json.dumps(result) if as_json else _table({split or "all": result}))


def _set_threads(threads: int) -> None:
    if threads:
        import torch

        torch.set_num_threads(threads)


def _table(result: dict[str, Any]) -> str:
    rows = [["split", "epsilon", "accuracy", "+-", "without noise"]]
    for split, figures in result.items():
        if "majority" in figures:
            rows.append([split, "majority", f"{figures['majority']:.4f}", "", ""])
        if "levels" not in figures:
            rows.append([split, "-", f"{figures['accuracy']:.4f}", f"{figures['standard_error']:.4f}", ""])
            continue
        for level, found in figures["levels"].items():
            numbers = [found["accuracy"], found["standard_error"], found["without_noise"]]
            rows.append([split, level, *(f"{number:.4f}" for number in numbers)])
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )
