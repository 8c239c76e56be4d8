"""The command that makes an encoder bundle: ``textveil-export encoder``."""

import shlex
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from textveil_export.cli.progress_bars import bars
from textveil_export.errors import ExportError


def encoder(
    checkpoint: Annotated[Path, typer.Argument(metavar="CHECKPOINT", help="Folder that textveil-train dpnr wrote.")],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="BUNDLE", help="Folder of the new bundle.")],
    data: Annotated[
        Path,
        typer.Option(
            help="Labeled text, label<TAB>text lines without a header: int8 recipes, gates and the card's figures are "
            "measured on it. Texts that training has not seen; a few hundred at least."
        ),
    ],
    levels: Annotated[
        str | None,
        typer.Option(help="Comma-separated epsilons of the whole text. Default: those it was trained for."),
    ] = None,
    default_level: Annotated[
        str | None, typer.Option(help="Epsilon used when a user names none. Default: 4, or the middle one.")
    ] = None,
    delta: Annotated[
        str | None, typer.Option(help="Of mode l2, a decimal number. Default: the one it was trained for.")
    ] = None,
    grid: Annotated[
        int | None, typer.Option(min=1, help="Integer steps per unit. Default: 1024 (box: 64 or 16).")
    ] = None,
    keep_pieces: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Keep only this many WordPieces: special symbols, single characters, then the most frequent ones of "
            "--vocabulary-from, or the first of the vocabulary. The accuracy gate holds for what is left.",
        ),
    ] = None,
    vocabulary_from: Annotated[
        Path | None,
        typer.Option(
            help="PUBLIC text, UTF-8, whose pieces are kept: the list ships with the bundle, so it must never come "
            "from text that is to be protected. Without --keep-pieces every piece in it is kept."
        ),
    ] = None,
    sample: Annotated[
        int, typer.Option(min=2, help="Texts that int8 recipes are measured on; all of --data if there are fewer.")
    ] = 1000,
    measured: Annotated[
        Path | None,
        typer.Option(
            help="Figures measured elsewhere for the card, JSON: {columns: {TITLE: {EPSILON: SHARE}}, notes: [TEXT]}, "
            "such as reference and ceiling; no accuracy may exceed the column called ceiling."
        ),
    ] = None,
    name: Annotated[str | None, typer.Option(help="Name of the bundle; by default that of the output folder.")] = None,
    license: Annotated[str, typer.Option(help="SPDX license expression of the bundle.")] = "not stated",
    attribution: Annotated[str, typer.Option(help="Whose work the model derives from.")] = "",
    force: Annotated[bool, typer.Option(help="Replace an existing bundle.")] = False,
) -> None:
    """Make an encoder bundle for textveil encode: one ONNX graph, int8, checked against the trained model.

    Every way to quantize is measured on --data. What ships has lost at most half a point of accuracy, without noise
    and with the noise of every level, lies in the ball its noise is made for, and has 25 MB at most; otherwise the
    command ends with an error that tells the figures, and nothing is written.
    """
    from textveil_export.encoder.build import EncoderSettings, build_encoder  # torch and onnx take seconds to import
    from textveil_export.encoder.write import write_encoder

    if output.exists() and not force:
        raise ExportError("the output folder exists (use --force)")
    settings = EncoderSettings(
        name=name or output.resolve().name,
        data=data,
        levels=tuple(level.strip() for level in levels.split(",")) if levels is not None else None,
        default_level=default_level,
        delta=delta,
        grid=grid,
        keep_pieces=keep_pieces,
        vocabulary_from=vocabulary_from,
        sample=sample,
        measured=measured,
        license=license,
        attribution=attribution,
    )
    options = {
        "--data": data.name,
        "--levels": levels,
        "--default-level": default_level,
        "--delta": delta,
        "--grid": grid,
        "--keep-pieces": keep_pieces,
        "--vocabulary-from": vocabulary_from.name if vocabulary_from is not None else None,
        "--measured": measured.name if measured is not None else None,
        "--name": name,
        "--license": license,
        "--attribution": attribution or None,
    }
    told = [f"{key} {shlex.quote(str(value))}" for key, value in options.items() if value is not None]
    reproduce = " ".join(["textveil-export encoder CHECKPOINT", *told, f"-o {shlex.quote(output.resolve().name)}"])
    with tempfile.TemporaryDirectory(prefix="textveil-encoder-") as scratch, bars() as progress:
        contents = build_encoder(checkpoint, settings, Path(scratch), progress)
        progress("writing and opening the bundle", 0, 1)
        written = write_encoder(contents, output, reproduce=reproduce, force=force)
        progress("writing and opening the bundle", 1, 1)
    found = contents.manifest["measured"]
    for epsilon, accuracy in {"none": found["accuracy_without_noise"], **found["accuracy_by_epsilon"]}.items():
        print(f"epsilon {epsilon:<5} accuracy {accuracy['int8']:.4f} (float32 {accuracy['float32']:.4f})")
    print(f"{output}: {found['int8']['recipe']}, model of {written.bundle.model.size:,} bytes")
    print(f"identity {written.bundle.identity}")
