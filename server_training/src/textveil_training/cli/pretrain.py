"""``textveil-train pretrain``: a masked language model that reads sanitized text."""

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, ClassVar

import typer
from textveil_cli.console import progress_bars, say
from textveil_cli.options import BundleOptions, LevelOptions, options_of

from textveil_training.cli.options import JsonOption, MachineOptions, ResumeOption, TextKeyOption, given

RawTexts = Annotated[
    list[str],
    typer.Option(
        "--data",
        metavar="PATH:FORMAT[:SPLIT]",
        help="Raw public texts, repeatable; formats as in finetune. Splits are named dev+test; train if left "
        "out and there are splits.",
    ),
]


@dataclass(frozen=True, kw_only=True)
class TrainingOptions:
    """How it is trained: what is given takes the place of the recipe, and of the defaults."""

    heading: ClassVar[str] = "Training"
    start: Annotated[
        str | None,
        typer.Option(
            "--start", help="minilm (the default), a folder or a hub id: an encoder or a masked language model."
        ),
    ] = None
    steps: Annotated[
        int | None, typer.Option("--steps", min=0, help="Optimizer steps; those of --num-epochs if left out.")
    ] = None
    num_epochs: Annotated[
        int | None, typer.Option("--num-epochs", help="Passes over the texts, without --steps; 1 if left out.")
    ] = None
    batch_size: Annotated[
        int | None,
        typer.Option("--batch-size", help="Texts per step, of all processes together; 64 if left out."),
    ] = None
    accumulate: Annotated[
        int | None,
        typer.Option("--accumulate", help="Parts a batch is computed in: less memory, the same gradient."),
    ] = None
    max_tokens: Annotated[int | None, typer.Option("--max-tokens", help="Longer texts are cut; 128 if left out.")] = (
        None
    )
    learning_rate: Annotated[
        float | None,
        typer.Option("--learning-rate", help="Peak for the encoder; if left out 3e-4 with a new head, else 5e-5."),
    ] = None
    head_learning_rate: Annotated[
        float | None,
        typer.Option("--head-learning-rate", help="Peak for the head; if left out 2e-3 for a new head, else 5e-5."),
    ] = None
    warmup: Annotated[
        float | None,
        typer.Option("--warmup", help="Share of the steps in which the rates rise; .06 if left out."),
    ] = None
    dropout: Annotated[
        float | None, typer.Option("--dropout", help="Of hidden states and attention; none if left out.")
    ] = None
    mask_probability: Annotated[
        float | None, typer.Option("--mask-probability", help="How often a word is predicted; .15 if left out.")
    ] = None
    unchanged_share: Annotated[
        float | None,
        typer.Option(
            "--unchanged-share", help="Of the predicted words, how many are shown and not hidden; .1 if left out."
        ),
    ] = None
    measure_every: Annotated[
        int | None, typer.Option("--measure-every", metavar="STEPS", help="If left out 20 measurements in all.")
    ] = None
    held_out_percent: Annotated[
        int | None,
        typer.Option("--held-out", metavar="PERCENT", help="Texts to measure on, by their hash; 2 if left out."),
    ] = None
    precision: Annotated[
        str | None,
        typer.Option("--precision", help="bfloat16 (the default; where the device computes in it) or float32."),
    ] = None
    seed: Annotated[
        int | None, typer.Option("--seed", help="Of order and masks; what is drawn has no seed. 0 if left out.")
    ] = None


def pretrain(
    data: RawTexts,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FOLDER", help="Where the model goes; must be empty.")
    ],
    recipe: Annotated[
        Path | None, typer.Argument(metavar="[RECIPE]", help="A recipe, TOML: its settings instead of the defaults.")
    ] = None,
    raw: Annotated[
        bool,
        typer.Option("--raw", help="Mask raw text: the control. A mechanism then only serves to measure."),
    ] = False,
    text_key: TextKeyOption = "text",
    resume: ResumeOption = False,
    as_json: JsonOption = False,
    *,
    bundle: BundleOptions,
    level: LevelOptions,
    training: TrainingOptions,
    machine: MachineOptions,
) -> None:
    """Pretrain a masked language model: mask the sanitized text, predict the original word.

    The folder is fine-tuned by finetune, attacked with by attack text, and opened by transformers. Texts are sanitized
    afresh at every visit; without --mechanism by the bundle's SanText or SanText+, since the staircase is not trained
    with yet. Ctrl-C ends after the step that is running; --resume goes on, with fresh draws.

    Several processes: accelerate launch --multi_gpu -m textveil_training pretrain ... --device cuda, or on processors
    torchrun --nproc-per-node N -m textveil_training -- pretrain ...
    """
    from textveil_training.engine.run import RunOptions
    from textveil_training.pretrain.settings import Settings, read_recipe
    from textveil_training.pretrain.sources import parse_source, read_texts
    from textveil_training.pretrain.train import pretrain as train
    from textveil_training.text_channel import TextChannel

    settings = Settings()
    if recipe is not None:
        chosen = read_recipe(recipe)
        settings, raw = chosen.training, raw or chosen.raw
    settings = replace(settings, **given(training))
    sources = [parse_source(one) for one in data]
    run = RunOptions(output, resume, machine.use())
    named = bundle.bundle is not None or bundle.must_be.named or bool(given(level))
    channel = None
    if named or not raw:
        channel = TextChannel(bundle.bundle, pins=bundle.must_be.pins, **options_of(level))
    texts = read_texts(sources, text_key)
    try:
        with progress_bars() as report:
            record = train(settings, texts, channel, run, raw=raw, report=report)
    except KeyboardInterrupt:
        say("textveil-train: interrupted; --resume goes on")
        raise
    if record["result"] is not None:  # of several processes only the first one has it
        print(json.dumps(record["result"]) if as_json else _table(record["result"]))


def _table(result: dict[str, Any]) -> str:
    rows = [
        f"{result['steps']:,} steps, loss {result['loss']:.3f}",
        f"held out, raw text:        top 1 {result['clean_top1']:.4f}, loss {result['clean_loss']:.3f}",
    ]
    if "sanitized_top1" in result:
        rows.append(
            f"held out, sanitized text:  top 1 {result['sanitized_top1']:.4f}, loss {result['sanitized_loss']:.3f}"
        )
    return "\n".join(rows)
