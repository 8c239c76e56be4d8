"""Define ``textveil-train pretrain``, which trains a masked language model on sanitized text."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import typer
from textveil_cli.options import BundleOptions, MechanismOptions
from textveil_cli.options import combine_options as options_of_text

from textveil_training.cli.options import (
    JsonOption,
    MachineOptions,
    ResumeOption,
    TextKeyOption,
    get_given_options,
    make_setting_options,
)
from textveil_training.cli.progress_lines import report_progress
from textveil_training.errors import SettingError
from textveil_training.pretrain.settings import PretrainingSettings, read_pretraining_recipe

ModeOption = Annotated[
    Literal["names", "words", "all"] | None,
    typer.Option("--protect", help="Sanitize the raw texts in a mode, each once, and predict their original words."),
]
RawTexts = Annotated[
    list[str],
    typer.Option(
        "--data",
        metavar="PATH:FORMAT[:SPLIT]",
        help="Raw public texts, or a sanitized corpus of any mode; repeatable; formats as for the command "
        "finetune. Several splits: dev+test; default: train, if there are splits.",
    ),
]


class PretrainingOptions(make_setting_options(PretrainingSettings)):
    """Options for training; they override the settings of the recipe (TOML file) or the defaults."""

    heading: ClassVar[str] = "Training"


def pretrain(
    data: RawTexts,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FOLDER", help="Folder of the new model; must be empty.")
    ],
    recipe: Annotated[
        Path | None, typer.Argument(metavar="[RECIPE]", help="Recipe (TOML) whose settings replace the defaults.")
    ] = None,
    raw: Annotated[
        bool,
        typer.Option("--raw", help="Do not sanitize: mask raw text, to compare with sanitized text."),
    ] = False,
    text_key: TextKeyOption = "text",
    resume: ResumeOption = False,
    as_json: JsonOption = False,
    *,
    bundle: BundleOptions,
    level: MechanismOptions,
    mode: ModeOption = None,
    training: PretrainingOptions,
    machine: MachineOptions,
) -> None:
    """Pretrain a masked language model: mask the sanitized text, predict the original word.

    The commands 'finetune' and 'attack text' and the library transformers can read the resulting folder. Raw texts are
    sanitized again, word by word, each time they are used: by --mechanism, or by default by the bundle's SanText or
    SanText+. With --protect they are sanitized once in a mode. The model then predicts a masked word only if its
    original is known: a full name, for example, can become one word. A corpus of the command 'sanitize-corpus' has no
    originals: the model predicts its sanitized words, and the folder's record.json contains the corpus's privacy
    statement. Ctrl-C ends the run after the current step; --resume continues with new random numbers.

    Several processes: accelerate launch --multi_gpu -m textveil_training pretrain ... --device cuda, or on processors
    torchrun --nproc-per-node N -m textveil_training -- pretrain ...
    """
    from textveil_training.engine.run import RunOptions
    from textveil_training.pretrain.pretraining_data import parse_source, read_texts
    from textveil_training.pretrain.train import pretrain as train
    from textveil_training.token_randomizer import TokenRandomizer

    settings = PretrainingSettings()
    if recipe is not None:
        chosen = read_pretraining_recipe(recipe)
        settings, raw = chosen.training, raw or chosen.raw
    settings = replace(settings, **get_given_options(training))
    sources = [parse_source(one) for one in data]
    run = RunOptions(output, resume, machine.apply())
    named = bundle.bundle is not None or bundle.expected.has_requirements or bool(get_given_options(level))
    texts, randomizer = read_texts(sources, text_key), None
    if mode is not None:
        randomizer = _make_mode_texts(bundle, level, mode, raw)
    elif named or (not raw and texts.release is None):
        randomizer = TokenRandomizer(bundle.bundle, pins=bundle.expected_bundle, **options_of_text(level))
    with report_progress() as report:
        record = train(settings, texts, randomizer, run, raw=raw, report=report)
    if record["result"] is not None:  # among several processes only the first one has the result
        print(json.dumps(record["result"]) if as_json else _format_table(record["result"]))


def _make_mode_texts(bundle: BundleOptions, level: MechanismOptions, mode: str, raw: bool) -> Any:
    """Return an object that sanitizes whole texts in the protection mode 'names', 'words' or 'all'.

    Args:
        bundle: Options that name the bundle.
        level: Options of the mechanism and its epsilon.
        mode: The protection mode.
        raw: Whether the user passed ``--raw``, which is an error here.

    Raises:
        SettingError: The user also named a mechanism, or passed ``--raw``.
    """
    from textveil_training.pretrain.aligned_corpus import ModeTexts

    given = get_given_options(level)
    if raw or "mechanism" in given:
        raise SettingError("--protect sanitizes in a mode: omit --raw and --mechanism")
    return ModeTexts(bundle.load_sanitizer(), options_of_text(level) | {"protect": mode})


_MEASURED = {"clean": "raw text:", "released": "released text:", "sanitized": "sanitized text:"}


def _format_table(result: dict[str, Any]) -> str:
    rows = [f"{result['steps']:,} steps, loss {result['loss']:.3f}"]
    for name, what in _MEASURED.items():
        if f"{name}_top1" in result:
            rows.append(f"held out, {what:<16} top 1 {result[f'{name}_top1']:.4f}, loss {result[f'{name}_loss']:.3f}")
    return "\n".join(rows)
