"""``textveil-train finetune``: what can be learned from raw or sanitised text."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from textveil_training.data import FormatName


def finetune(
    data: Annotated[
        Path, typer.Argument(metavar="PATH", help="Raw or sanitised data: a file, or a folder of published files.")
    ],
    format_name: Annotated[FormatName, typer.Option("--format", help="The format it is in.")],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FOLDER", help="Where the model goes.")],
    test: Annotated[
        Path | None, typer.Option("--test", metavar="FILE", help="A file to test on, in the same format.")
    ] = None,
    encoder: Annotated[
        str, typer.Option("--encoder", help="minilm, a model folder (also of pretrain), or a model id on a hub.")
    ] = "minilm",
    frozen: Annotated[
        bool, typer.Option("--frozen", help="Do not tune the encoder: fit a linear model to its vectors.")
    ] = False,
    labels_of_pairs: Annotated[
        bool, typer.Option("--classes", help="Learn the class of scored pairs (sick), not the score.")
    ] = False,
    epochs: Annotated[int, typer.Option("--epochs", min=1, help="Passes over the training rows.")] = 3,
    batch: Annotated[int, typer.Option("--batch", min=1, help="Rows per step.")] = 64,
    learning_rate: Annotated[float, typer.Option("--learning-rate", help="Peak for the encoder.")] = 2e-5,
    max_tokens: Annotated[int, typer.Option("--max-tokens", min=5, help="Longer inputs are cut.")] = 128,
    train_examples: Annotated[
        int,
        typer.Option("--train-examples", min=0, help="At most so many training rows, the same ones always; 0: all."),
    ] = 0,
    seed: Annotated[int, typer.Option("--seed", help="Of the training.")] = 0,
    precision: Annotated[str, typer.Option("--precision", help="float32 or bfloat16.")] = "bfloat16",
    text_key: Annotated[str, typer.Option("--text-key", help="Key of the text (jsonl).")] = "text",
    label_key: Annotated[str, typer.Option("--label-key", help="Key of the label (jsonl).")] = "label",
    resume: Annotated[bool, typer.Option("--resume", help="Go on with an interrupted run; not with --frozen.")] = False,
    device: Annotated[str, typer.Option("--device", help="cpu, or a CUDA device such as cuda:0.")] = "cpu",
    threads: Annotated[int, typer.Option("--threads", min=0, help="Processor threads; 0 lets PyTorch choose.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="The result as one line of JSON.")] = False,
) -> None:
    """Fine-tune an encoder on raw or sanitised text: classes, or scores of sentence pairs.

    Defaults are the settings of the SanText paper. A model learns and is tested on the same kind of text: sanitise
    all files of a data set first (sanitize-corpus), and name the folder here; its record is taken over. Which rows
    decide between epochs depends on row numbers alone, so raw and sanitised text are divided alike.

    Ctrl-C ends after the step that is running; --resume goes on to the same result.
    """
    from textveil.cli import say

    from textveil_training.data import ReadOptions
    from textveil_training.data.release import law_of
    from textveil_training.engine.run import Place
    from textveil_training.errors import DataOptionError
    from textveil_training.finetune.examples import check_options, load_task
    from textveil_training.finetune.settings import Settings
    from textveil_training.progress import bars
    from textveil_training.tasks import finetune as run

    settings = Settings(
        encoder=encoder,
        tuned=not frozen,
        max_tokens=max_tokens,
        epochs=epochs,
        batch=batch,
        learning_rate=learning_rate,
        train_examples=train_examples,
        seed=seed,
        precision=precision,
    )
    check_options(format_name, labels_of_pairs)
    options = ReadOptions(text_key=text_key, label_key=label_key)
    task = load_task(
        format_name,
        data,
        test=test,
        options=options,
        labels_of_pairs=labels_of_pairs,
        train_examples=train_examples,
    )
    if threads:
        import torch

        torch.set_num_threads(threads)
    law = law_of(format_name, data)
    if test is not None and law_of(format_name, test) != law:
        raise DataOptionError("training and test rows went through different laws")
    subject = {"data": task.described(format_name), "law": law}
    try:
        with bars() as report:
            record = run.finetune(settings, task, subject, Place(output, resume, device), report)
    except KeyboardInterrupt:
        if not frozen:
            say("textveil-train: interrupted; --resume goes on")
        raise
    print(json.dumps(record["result"]) if as_json else _table(record["result"]))


def _table(result: dict[str, dict[str, Any]]) -> str:
    names = [name for name in next(iter(result.values())) if name != "examples"]
    rows = [["split", "examples", *(name.replace("_", " ") for name in names)]]
    for split, found in result.items():
        rows.append([split, f"{found['examples']:,}", *(f"{found[name]:.4f}" for name in names)])
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )
