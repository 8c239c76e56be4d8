"""``textveil-train dpnr``: train a representation."""

import json
from pathlib import Path
from typing import Annotated

import typer
from textveil_cli.console import show_progress_bars

from textveil_training.cli.figures import format_accuracies
from textveil_training.cli.options import (
    JsonOption,
    KeyOptions,
    MachineOptions,
    OtherFormat,
    RecipeData,
    ResumeOption,
)


def dpnr(
    recipe: Annotated[Path, typer.Argument(metavar="RECIPE", help="A recipe, TOML.")],
    data: RecipeData,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FOLDER", help="Folder of the new checkpoint.")],
    start: Annotated[
        Path | None,
        typer.Option(
            "--start", metavar="CHECKPOINT", help="Checkpoint to start from, for recipes that start from one."
        ),
    ] = None,
    features: Annotated[
        Path | None,
        typer.Option(
            "--features", metavar="FOLDER", help="Features of the --start checkpoint, written by --write-features."
        ),
    ] = None,
    write_features: Annotated[
        bool, typer.Option("--write-features", help="Write the features of all splits to the output folder.")
    ] = False,
    format_name: OtherFormat = None,
    resume: ResumeOption = False,
    seed: Annotated[int | None, typer.Option("--seed", help="Seed of the training, instead of the recipe's.")] = None,
    as_json: JsonOption = False,
    *,
    keys: KeyOptions,
    machine: MachineOptions,
) -> None:
    """Train a recipe: a representation under noise, or one of its baselines.

    A file without splits is divided into 80 % train, 10 % dev and 10 % test; similar texts stay in one split. Ctrl-C
    ends the run after the current step; --resume continues to the same result.
    """
    from dataclasses import replace

    from textveil_training.data import ReadOptions
    from textveil_training.dpnr.classification_data import load_classification_task, override_format
    from textveil_training.dpnr.recipe import read_recipe, replace_seed
    from textveil_training.dpnr.train import RepresentationRunOptions, train_representation

    chosen = read_recipe(recipe)
    if seed is not None:
        chosen = replace_seed(chosen, seed)
    chosen = replace(chosen, data=override_format(chosen.data, format_name))
    task = load_classification_task(chosen.data, data, ReadOptions(**vars(keys)))
    device = machine.apply()
    with show_progress_bars() as report:
        options = RepresentationRunOptions(output, resume, device, start, features, write_features)
        record = train_representation(chosen, task, options, report)
    print(json.dumps(record["result"]) if as_json else format_accuracies(record["result"]))
