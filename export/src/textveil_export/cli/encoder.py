"""Define ``textveil-export encoder``, which builds an encoder bundle (folder with a model for noisy vectors)."""

import shlex
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar

import typer
from textveil_cli.console import show_progress_bars

from textveil_export.cli.options import Force, NewBundle
from textveil_export.errors import ExportError


@dataclass(frozen=True, kw_only=True)
class EncoderLevelOptions:
    """Options that set the epsilons and the noise of an encoder bundle (folder with a model for noisy vectors)."""

    heading: ClassVar[str] = "Levels and noise"
    levels: Annotated[
        str | None,
        typer.Option(help="Comma-separated epsilons per text. Default: those of the training."),
    ] = None
    default_level: Annotated[
        str | None, typer.Option(help="Epsilon of calls that pass none. Default: 4, or the middle one.")
    ] = None
    delta: Annotated[
        str | None, typer.Option(help="Delta of the mode l2, a decimal number. Default: that of the training.")
    ] = None
    grid: Annotated[
        int | None, typer.Option(min=1, help="Integer steps per unit of a coordinate. Default: 1024 (box: 64 or 16).")
    ] = None


@dataclass(frozen=True, kw_only=True)
class WordPieceOptions:
    """Options that select which WordPieces (parts of words) the vocabulary of an encoder bundle (data folder) has."""

    heading: ClassVar[str] = "WordPieces"
    keep_pieces: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Keep only this many WordPieces: special pieces, single characters, then the most frequent ones in "
            "--vocabulary-from, or the first of the vocabulary. The accuracy gate applies to the result.",
        ),
    ] = None
    vocabulary_from: Annotated[
        Path | None,
        typer.Option(
            help="PUBLIC text, UTF-8, that selects the pieces. The list ships with the bundle, so never use text that "
            "needs protection. Without --keep-pieces all pieces in the text are kept."
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class EncoderCardOptions:
    """Options that set the content of the model card (README) of an encoder bundle."""

    heading: ClassVar[str] = "Card"
    measured: Annotated[
        Path | None,
        typer.Option(
            help="External figures for the card, JSON: {columns: {TITLE: {EPSILON: SHARE}}, notes: [TEXT]}. "
            "No accuracy may exceed the column named ceiling."
        ),
    ] = None
    name: Annotated[str | None, typer.Option(help="Name of the bundle; by default that of the output folder.")] = None
    license: Annotated[str, typer.Option(help="SPDX license expression of the bundle.")] = "not stated"
    attribution: Annotated[str, typer.Option(help="Authors and sources of the model.")] = ""


def encoder(
    checkpoint: Annotated[
        Path, typer.Argument(metavar="CHECKPOINT", help="Folder that the command textveil-train dpnr wrote.")
    ],
    output: NewBundle,
    data: Annotated[
        Path,
        typer.Option(
            help="Labeled texts for int8 recipes, gates and the card: label<TAB>text lines without a header. Use a few "
            "hundred texts or more, none of them from the training data."
        ),
    ],
    levels: EncoderLevelOptions,
    pieces: WordPieceOptions,
    sample: Annotated[int, typer.Option(min=2, help="Number of texts on which int8 recipes are measured.")] = 1000,
    *,
    card: EncoderCardOptions,
    force: Force = False,
) -> None:
    """Build an encoder bundle for textveil encode from a trained checkpoint.

    Several ways of rounding the model to int8 (recipes) are measured on --data. The selected recipe loses at most half
    a point of accuracy, without noise and with the noise of each epsilon. Its vectors are within their bound, and the
    bundle has at most 25 MB. If no recipe passes, the command ends with an error and writes nothing.
    """
    from textveil_export.encoder.build import (  # torch and onnx take seconds to import
        EncoderBuildSettings,
        build_encoder,
    )
    from textveil_export.encoder.write import write_encoder_bundle

    if output.exists() and not force:
        raise ExportError("the output folder exists: choose another -o, or use --force")
    epsilons = levels.levels
    settings = EncoderBuildSettings(
        data=data,
        sample=sample,
        **{**vars(levels), **vars(pieces), **vars(card)}
        | {
            "name": card.name or output.resolve().name,
            "levels": None if epsilons is None else tuple(level.strip() for level in epsilons.split(",")),
        },
    )
    reproduce = _format_command(output, data, levels, pieces, card)
    with tempfile.TemporaryDirectory(prefix="textveil-encoder-") as scratch, show_progress_bars() as progress:
        contents = build_encoder(checkpoint, settings, Path(scratch), progress)
        progress("writing and opening the bundle", 0, 1)
        written = write_encoder_bundle(contents, output, reproduce=reproduce, force=force)
        progress("writing and opening the bundle", 1, 1)
    measured = contents.manifest["measurements"]
    for epsilon, accuracy in {"none": measured["accuracy_without_noise"], **measured["accuracy_by_epsilon"]}.items():
        print(f"epsilon {epsilon:<5} accuracy {accuracy['int8']:.4f} (float32 {accuracy['float32']:.4f})")
    print(f"{output}: {measured['int8']['recipe']}, model of {written.bundle.model_counts.byte_size:,} bytes")
    print(f"content hash {written.bundle.content_hash}")


def _format_command(
    output: Path, data: Path, levels: EncoderLevelOptions, pieces: WordPieceOptions, card: EncoderCardOptions
) -> str:
    """Return the command line that builds the bundle (data folder), with file names instead of full paths."""
    options = {"--data": data.name, **_collect_options(levels), **_collect_options(pieces), **_collect_options(card)}
    options["--attribution"] = card.attribution or None
    arguments = [f"{key} {shlex.quote(str(value))}" for key, value in options.items() if value is not None]
    return " ".join(["textveil-export encoder CHECKPOINT", *arguments, f"-o {shlex.quote(output.resolve().name)}"])


def _collect_options(group: EncoderLevelOptions | WordPieceOptions | EncoderCardOptions) -> dict[str, object]:
    """Return the values of a group of command-line options by option name, with file names instead of full paths."""
    return {
        f"--{name.replace('_', '-')}": value.name if isinstance(value, Path) else value
        for name, value in vars(group).items()
    }
