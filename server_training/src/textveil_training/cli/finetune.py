"""Define ``textveil-train finetune``, which fine-tunes an encoder on raw or sanitized text."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, ClassVar

import typer

from textveil_training.cli.options import (
    FormatOption,
    JsonOption,
    KeyOptions,
    MachineOptions,
    get_given_options,
    make_setting_options,
)
from textveil_training.cli.progress_lines import report_progress
from textveil_training.errors import DataOptionError
from textveil_training.finetune.settings import FinetuningSettings, read_finetuning_recipe
from textveil_training.terminal_tables import format_table


class FinetuningOptions(make_setting_options(FinetuningSettings, "tuned")):
    """Options for training; they override the settings of the recipe (TOML file) or of the paper."""

    heading: ClassVar[str] = "Training"

    def make_settings(self, recipe: Path | None, frozen: bool) -> FinetuningSettings:
        """Combine the settings of a recipe (TOML file) with the options, and return all settings of the training.

        Args:
            recipe: A recipe; ``None`` for the settings of the paper.
            frozen: Whether the encoder is not trained.
        """
        settings = FinetuningSettings() if recipe is None else read_finetuning_recipe(recipe).training
        return replace(settings, **get_given_options(self), **({"tuned": False} if frozen else {}))


def finetune(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="PATH", help="Raw or sanitized data: a file, or a folder of published files; or a recipe (TOML)."
        ),
    ],
    format_name: FormatOption,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FOLDER", help="Folder of the new model.")],
    data: Annotated[
        Path | None, typer.Option("--data", metavar="PATH", help="With a recipe: path of the data.")
    ] = None,
    test: Annotated[
        Path | None, typer.Option("--test", metavar="FILE", help="File of test rows, in the same format.")
    ] = None,
    frozen: Annotated[
        bool, typer.Option("--frozen", help="Do not fine-tune the encoder, but fit a linear model to its vectors.")
    ] = False,
    labels_of_pairs: Annotated[
        bool, typer.Option("--classes", help="Data in the format sick: learn the class of a pair, not its score.")
    ] = False,
    resume: Annotated[bool, typer.Option("--resume", help="Resume an interrupted run; not with --frozen.")] = False,
    as_json: JsonOption = False,
    *,
    keys: KeyOptions,
    training: FinetuningOptions,
    machine: MachineOptions,
) -> None:
    """Fine-tune an encoder on raw or sanitized text: classes, or scores of sentence pairs.

    The settings are those of a recipe, or without a recipe those of the SanText paper; options override them. The
    recipes of the published results are in recipes/. Training and test rows must be sanitized alike: sanitize all files
    of a data set first (sanitize-corpus), and pass the output folder; its record becomes part of this run's record. The
    rows that select the best epoch depend on row numbers alone, so raw and sanitized text are divided alike.

    Ctrl-C ends the run after the current step; --resume continues to the same result.
    """
    from textveil_training.engine.run import RunOptions
    from textveil_training.finetune import train as script

    named = source.suffix == ".toml"
    if named != (data is not None):
        raise DataOptionError("a recipe (.toml) and --data need each other: pass both, or the data alone")
    settings = training.make_settings(source if named else None, frozen)
    path = source if data is None else data
    task, release = _load_task(format_name, path, test, keys, labels_of_pairs, settings.train_examples)
    run = RunOptions(output, resume, machine.apply())
    try:
        with report_progress() as report:
            subject = {"data": task.describe(format_name), "release": release}
            record = script.finetune(settings, task, subject, run, report)
    except KeyboardInterrupt as interrupt:
        if not settings.tuned:
            interrupt.add_note("nothing is kept")
        raise
    print(json.dumps(record["result"]) if as_json else _format_table(record["result"]))


def _load_task(
    format_name: Any, path: Path, test: Path | None, keys: KeyOptions, labels_of_pairs: bool, train_examples: int
) -> tuple[Any, Any]:
    """Load training and test rows, and the mode, mechanism and epsilon with which the texts were sanitized.

    Mode, mechanism and epsilon (the second result) come from the record of ``sanitize-corpus``; ``None`` for raw texts.
    """
    from textveil_training.data import ReadOptions
    from textveil_training.data.corpus_release import read_release_terms
    from textveil_training.finetune.finetuning_data import load_finetuning_task
    from textveil_training.release_terms import format_release_terms

    task = load_finetuning_task(
        format_name,
        path,
        test=test,
        options=ReadOptions(**vars(keys)),
        labels_of_pairs=labels_of_pairs,
        train_examples=train_examples,
    )
    release = read_release_terms(format_name, path)
    if test is not None and (other := read_release_terms(format_name, test)) != release:
        trained, tested = format_release_terms(release), format_release_terms(other)
        which = f"{trained} and {tested}" if trained != tested else f"{trained} under different options"
        raise DataOptionError(
            f"training and test rows are of different releases ({which}): sanitize both in one run, or pass raw texts"
        )
    return task, release


def _format_table(result: dict[str, dict[str, Any]]) -> str:
    names = [name for name in next(iter(result.values())) if name != "examples"]
    rows = [["split", "examples", *(name.replace("_", " ") for name in names)]]
    for split, found in result.items():
        rows.append([split, f"{found['examples']:,}", *(f"{found[name]:.4f}" for name in names)])
    return format_table(rows)
