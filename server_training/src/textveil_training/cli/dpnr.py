"""``textveil-train dpnr`` and ``evaluate``: train a representation, and measure it."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from textveil_training.cli.options import (
    DeviceOption,
    FormatOption,
    JsonOption,
    LabelKeyOption,
    OtherFormat,
    RecipeData,
    ReleaseEpsilons,
    ResumeOption,
    TextKeyOption,
    ThreadsOption,
    use_threads,
)
from textveil_training.tables import aligned


def dpnr(
    recipe: Annotated[Path, typer.Argument(metavar="RECIPE", help="A recipe, TOML.")],
    data: RecipeData,
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
    format_name: OtherFormat = None,
    text_key: TextKeyOption = "text",
    label_key: LabelKeyOption = "label",
    resume: ResumeOption = False,
    seed: Annotated[int | None, typer.Option("--seed", help="Instead of the recipe's.")] = None,
    device: DeviceOption = "cpu",
    threads: ThreadsOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Train a recipe: a representation under noise, or one of its baselines.

    A file that is one split is divided: 80 % train, 10 % dev, 10 % test, close texts on one side. Ctrl-C ends after the
    step that is running; --resume continues to the same result.
    """
    from dataclasses import replace

    from textveil_training.data import ReadOptions
    from textveil_training.dpnr.recipe import read_recipe, with_seed
    from textveil_training.dpnr.task import load_task, of_format
    from textveil_training.dpnr.train import Options, train
    from textveil_training.progress import bars

    chosen = read_recipe(recipe)
    if seed is not None:
        chosen = with_seed(chosen, seed)
    chosen = replace(chosen, data=of_format(chosen.data, format_name))
    task = load_task(chosen.data, data, ReadOptions(text_key=text_key, label_key=label_key))
    use_threads(threads)
    with bars() as report:
        options = Options(output, resume, device, start, features, write_features)
        record = train(chosen, task, options, report)
    print(json.dumps(record["result"]) if as_json else _table(record["result"]))


def evaluate(
    checkpoint: Annotated[Path, typer.Argument(metavar="CHECKPOINT", help="The folder of a checkpoint.")],
    data: RecipeData,
    format_name: FormatOption,
    split: Annotated[
        str,
        typer.Option("--split", help="The split; of a file that is one, a part of its division, or all of it: all."),
    ] = "test",
    epsilon: ReleaseEpsilons = None,
    text_key: TextKeyOption = "text",
    label_key: LabelKeyOption = "label",
    word_dropout: Annotated[
        str | None, typer.Option(help="Probability that a word is removed; else the checkpoint's.")
    ] = None,
    draws: Annotated[int, typer.Option("--draws", min=1, help="Noise draws per text.")] = 20,
    device: DeviceOption = "cpu",
    threads: ThreadsOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Measure a checkpoint through the device's own release: accuracy over noise draws."""
    from textveil_training.data import ReadOptions
    from textveil_training.dpnr.evaluation import evaluate_checkpoint

    use_threads(threads)
    result = evaluate_checkpoint(
        checkpoint,
        data,
        format_name,
        None if split == "all" else split,
        options=ReadOptions(text_key=text_key, label_key=label_key),
        levels=epsilon,
        word_dropout=word_dropout,
        draws=draws,
        device=device,
    )
    print(json.dumps(result) if as_json else _table({split: result}))


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
    return aligned(rows)
