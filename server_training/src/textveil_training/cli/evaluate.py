"""Define ``textveil-train evaluate``, which measures the accuracy of a model of ``textveil-train dpnr``."""

import json
from pathlib import Path
from typing import Annotated

import typer

from textveil_training.cli.figures import format_accuracies
from textveil_training.cli.options import (
    FormatOption,
    JsonOption,
    KeyOptions,
    MachineOptions,
    RecipeData,
    ReleaseEpsilons,
)


def evaluate(
    checkpoint: Annotated[Path, typer.Argument(metavar="CHECKPOINT", help="Folder of a checkpoint.")],
    data: RecipeData,
    format_name: FormatOption,
    split: Annotated[
        str,
        typer.Option(
            "--split",
            help="Split to measure (a file without splits is divided as in training), or all for the whole file.",
        ),
    ] = "test",
    epsilon: ReleaseEpsilons = None,
    word_dropout: Annotated[
        str | None, typer.Option(help="Probability that a word is removed; the checkpoint's if left out.")
    ] = None,
    draws: Annotated[int, typer.Option("--draws", min=1, help="Number of noise samples per text.")] = 20,
    as_json: JsonOption = False,
    *,
    keys: KeyOptions,
    machine: MachineOptions,
) -> None:
    """Measure the accuracy of a checkpoint with the noise that devices add."""
    from textveil_training.data import ReadOptions
    from textveil_training.dpnr.accuracy import evaluate_checkpoint

    device = machine.apply()
    result = evaluate_checkpoint(
        checkpoint,
        data,
        format_name,
        None if split == "all" else split,
        options=ReadOptions(**vars(keys)),
        levels=epsilon,
        word_dropout=word_dropout,
        draws=draws,
        device=device,
    )
    print(json.dumps(result) if as_json else format_accuracies({split: result}))
