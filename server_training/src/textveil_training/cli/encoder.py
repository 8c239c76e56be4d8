"""``textveil-train encoder``: a bundle from a file of labeled texts."""

import hashlib
import json
from pathlib import Path
from typing import Annotated, Any

import typer
from textveil.errors import OptionError

from textveil_training.cli.options import JsonOption, ThreadsOption, use_threads
from textveil_training.errors import MissingExtra
from textveil_training.tables import aligned


def encoder(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="CSV, TSV, JSON lines or Parquet, by its ending.")],
    text: Annotated[str, typer.Option("--text", help="Column of the texts; its number where there is no header.")],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="BUNDLE", help="Folder of the new bundle.")],
    label: Annotated[
        str | None, typer.Option("--label", help="Column of the labels; its number where there is no header.")
    ] = None,
    codes: Annotated[
        int | None,
        typer.Option(
            "--codes",
            help="Learn so many codes from the texts alone, from at least 1,000; labels are for figures only.",
        ),
    ] = None,
    test: Annotated[
        Path | None,
        typer.Option("--test", metavar="FILE", help="Texts for the figures; by default a part of FILE. Same columns."),
    ] = None,
    levels: Annotated[
        str | None, typer.Option(help="Comma-separated epsilons of the whole text. Default: 0.5,1,2,3,4,6,8.")
    ] = None,
    default_level: Annotated[str, typer.Option(help="Epsilon used when a user names none.")] = "4",
    name: Annotated[str | None, typer.Option(help="Name of the bundle; by default that of the output folder.")] = None,
    license: Annotated[str, typer.Option(help="License of data and weights, for the card.")] = "not stated",
    seed: Annotated[int, typer.Option(min=0, help="Seed of the division and of training.")] = 0,
    force: Annotated[bool, typer.Option(help="Replace an existing bundle.")] = False,
    threads: ThreadsOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Make a bundle of your own texts: devices release the index of a label or a code, bounded for the whole text.

    Close texts stay on one side of the division. The bundle has two channels: counts, whose counts can be corrected,
    and accuracy, which gives up rare labels where that pays. It is not private toward its training texts.
    """
    try:
        from textveil_export.index import write_index
    except ImportError as error:
        raise MissingExtra("this command needs the extra bundle (in a clone: pip install ./export)") from error
    from textveil_training.data.tables import read_table
    from textveil_training.encoder.static import StaticSettings
    from textveil_training.encoder.task import divided, unlabeled
    from textveil_training.progress import bars
    from textveil_training.tasks.codebook import train_codebook
    from textveil_training.tasks.encoder import LEVELS, EncoderSettings, checked_levels, train_encoder

    chosen = checked_levels(levels) if levels is not None else LEVELS
    if default_level not in chosen:
        raise OptionError("the default level is not one of the levels")
    if output.exists() and not force:
        raise OptionError("the output folder exists (use --force)")
    if label is None and (codes is None or test is not None):
        raise OptionError("name the column of the labels with --label, or learn codes with --codes")
    use_threads(threads)
    rows = list(read_table(file, text, label))
    given = list(read_table(test, text, label)) if test is not None else None
    settings = EncoderSettings(
        name=name or output.resolve().name,
        data=file.name,
        data_sha256=hashlib.sha256(file.read_bytes()).hexdigest(),
        license=license,
        levels=chosen,
        default=("counts", default_level),
        static=StaticSettings(seed=seed),
    )
    with bars() as report:
        task = unlabeled(rows, seed) if label is None else divided(rows, given, seed)
        if codes is None:
            contents = train_encoder(task, settings, report)
        else:
            contents = train_codebook(task, codes, settings, report)
        written = write_index(contents, output, force=force)
    measured = contents.measured
    if as_json:
        print(json.dumps({"identity": written.bundle.identity, "measured": measured}, ensure_ascii=False))
        return
    if codes is not None:
        print(f"{len(contents.labels)} codes")
    if "clean" in measured:
        print(_table(measured))
    print(f"identity {written.bundle.identity}")


def _table(measured: dict[str, Any]) -> str:
    rows = [["channel", "epsilon", "accuracy", "balanced", "worst label"]]
    clean = {"without noise": {"": measured["clean"]}}
    for channel, found in {**clean, **measured["channels"]}.items():
        for epsilon, figures in found.items():
            shares = (figures[key] for key in ("accuracy", "balanced_accuracy", "worst_recall"))
            rows.append([channel, epsilon, *(f"{share:.4f}" for share in shares)])
    return aligned(rows, left=1)
