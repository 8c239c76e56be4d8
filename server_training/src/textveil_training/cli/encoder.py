"""Define ``textveil-train encoder``, which trains a model that encodes texts as randomized class labels."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import typer
from textveil.errors import OptionError
from textveil_cli.console import get_safe_file_name, print_message

from textveil_training.cli.options import JsonOption, ThreadsOption, set_threads
from textveil_training.cli.progress_lines import report_progress
from textveil_training.data.skipped_rows import SkippedRows
from textveil_training.errors import (
    InvalidJson,
    InvalidUtf8,
    MissingExtra,
    MissingLabel,
    MissingText,
    UnreadableFile,
    WrongColumnCount,
)
from textveil_training.file_hashes import hash_file
from textveil_training.terminal_tables import format_table

if TYPE_CHECKING:
    from textveil_export.label import LabelBundleContents

    from textveil_training.data import LabeledExample
    from textveil_training.encoder.class_bundle import EncoderBundleSettings
    from textveil_training.encoder.resume_cache import ResumeCache

_NEEDS_EXPORT = (
    "this command needs textveil-export: pip install 'textveil-training[bundle]' (in a clone: pip install ./export)"
)


@dataclass(frozen=True, kw_only=True)
class LabeledTextOptions:
    """Options that name the texts and their labels."""

    heading: ClassVar[str] = "Data"
    file: Annotated[Path, typer.Argument(metavar="FILE", help="CSV, TSV, JSON lines or Parquet, by its ending.")]
    text: Annotated[str, typer.Option("--text", help="Column of the texts; its number if the file has no header.")]
    label: Annotated[
        str | None, typer.Option("--label", help="Column of the labels; its number if the file has no header.")
    ] = None
    test: Annotated[
        Path | None,
        typer.Option("--test", metavar="FILE", help="Texts for the figures; by default a part of FILE. Same columns."),
    ] = None
    skip_empty: Annotated[
        bool, typer.Option("--skip-empty", help="Skip rows without a text or a label, and count them.")
    ] = False
    rejected_rows: Annotated[
        Path | None,
        typer.Option(
            help="Write rejected rows to this file, readable by its owner alone; without it the first rejected "
            "row is an error."
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class ExtractorOptions:
    """Options for the extractor, which is the model that converts a text to a vector, and for training this model."""

    heading: ClassVar[str] = "Extractor"
    clusters: Annotated[
        int | None,
        typer.Option(
            "--clusters",
            help="Learn this many clusters of texts from at least 1,000 texts; the column of labels serves "
            "measurements only.",
        ),
    ] = None
    extractor: Annotated[
        Literal["static", "minilm"],
        typer.Option(
            "--extractor",
            help="static: a table of word vectors, requires only numpy on devices; minilm: MiniLM as int8 ONNX, "
            "fine-tuned except with --clusters.",
        ),
    ] = "static"
    encoder: Annotated[
        str | None,
        typer.Option(
            "--encoder", help="minilm: encoder to fine-tune: minilm (the default), a BERT folder, or a hub id."
        ),
    ] = None
    max_tokens: Annotated[
        int | None,
        typer.Option(
            "--max-tokens", min=5, help="minilm: maximum tokens; longer texts are truncated; 128 if left out."
        ),
    ] = None
    learning_rate: Annotated[
        float | None,
        typer.Option("--learning-rate", help="minilm: peak learning rate of the encoder; 1e-4 if left out."),
    ] = None
    frozen: Annotated[
        bool,
        typer.Option("--frozen", help="minilm: do not fine-tune it, but fit a linear map to its vectors."),
    ] = False
    teacher: Annotated[
        str | None,
        typer.Option(
            "--teacher",
            help="--clusters with --extractor static: model whose vectors of texts the word vectors approximate: "
            "minilm (the default if installed), a BERT folder, a hub id, or none. The bundle does not contain it.",
        ),
    ] = None
    num_epochs: Annotated[
        int | None,
        typer.Option(
            "--num-epochs",
            min=1,
            help="minilm: passes over the training texts; by default as many as give 12,000 texts.",
        ),
    ] = None

    @property
    def minilm(self) -> dict[str, Any]:
        """Return the options for the extractor MiniLM by name; ``None`` for an option that the user did not give."""
        named = {name: getattr(self, name) for name in ("encoder", "max_tokens", "learning_rate", "num_epochs")}
        return named | {"tuned": False if self.frozen else None}

    def check(self) -> None:
        """Check that no two options exclude each other.

        Raises:
            OptionError: Two options exclude each other.
        """
        if self.teacher is not None and self.clusters is None:
            raise OptionError("--teacher needs --clusters")
        of_minilm = self.clusters is not None and self.extractor == "minilm"
        if of_minilm and self.teacher is not None:
            raise OptionError(
                "--teacher needs --extractor static; with --extractor minilm pass the model with --encoder"
            )
        if of_minilm and (self.learning_rate is not None or self.num_epochs is not None):
            raise OptionError(
                "with --extractor minilm, --clusters trains no weights: omit --learning-rate and --num-epochs"
            )

    def choose_teacher(self) -> str:
        """Return the name of the teacher, a model whose vectors the training imitates; ``NO_TEACHER`` for none.

        If the default teacher is not installed, the function prints a hint and returns ``NO_TEACHER``.
        """
        from textveil_training.encoder.teacher import NO_TEACHER, choose_default_teacher

        if self.clusters is None or self.extractor == "minilm":
            return NO_TEACHER
        asked = self.teacher or choose_default_teacher()
        if self.teacher is None and asked == NO_TEACHER:
            print_message(
                "textveil-train: MiniLM is not installed, so the clusters are learned from public word vectors "
                "alone, and are a few percentage points less "
                "accurate (in a clone: pip install './server_training[minilm]')"
            )
        return asked


@dataclass(frozen=True, kw_only=True)
class CardOptions:
    """Options for the epsilons and the model card of the trained bundle (folder with the model)."""

    heading: ClassVar[str] = "Bundle"
    levels: Annotated[str | None, typer.Option(help="Comma-separated epsilons per text. Default: 0.5,1,2,3,4,6,8.")] = (
        None
    )
    default_level: Annotated[str, typer.Option(help="Epsilon of calls that pass none.")] = "4"
    name: Annotated[str | None, typer.Option(help="Name of the bundle; by default that of the output folder.")] = None
    license: Annotated[str, typer.Option(help="License of the bundle, for the card.")] = "not stated"
    source: Annotated[str, typer.Option(help="Source and license of the data, for the card.")] = ""
    sentences: Annotated[
        Path | None,
        typer.Option(
            exists=True,
            help="Public sentences for the command textveil encode --as-text: LABEL<TAB>SENTENCE lines; with "
            "--clusters candidate sentences, of which each cluster gets one.",
        ),
    ] = None


def encoder(
    texts: LabeledTextOptions,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="BUNDLE", help="Folder of the new bundle.")],
    extractor: ExtractorOptions,
    card: CardOptions,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the division and of training.")] = 0,
    resume: Annotated[bool, typer.Option("--resume", help="Resume an interrupted run.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing bundle, and its unfinished run.")] = False,
    threads: ThreadsOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Train a class label bundle from your own texts: devices send one label per text.

    A label is a class of the column --label, or with --clusters a cluster of similar texts. Similar texts are never
    divided between training and test. The bundle has two randomizers. With 'counts', a server can estimate the true
    number of texts per label. 'accuracy' never outputs rare labels if this makes the other labels more accurate. The
    bundle does not protect its training texts.

    Finished parts are saved in BUNDLE.unfinished. After Ctrl-C, --resume continues to the same bundle.
    """
    try:
        from textveil_export.label import add_sentences, write_label_bundle
    except ImportError as error:
        raise MissingExtra(_NEEDS_EXPORT) from error
    from textveil_training.encoder.resume_cache import ResumeCache, get_unfinished_folder

    try:
        settings = _make_settings(texts, extractor, card, output, seed)
    except OSError as error:
        name = get_safe_file_name(texts.file) or "the file"
        raise UnreadableFile(f"{name} cannot be opened ({error.strerror})") from None
    if output.exists() and not force:
        raise OptionError("the output folder exists: choose another -o, or use --force")
    if texts.label is None and (extractor.clusters is None or texts.test is not None):
        raise OptionError("pass the column of the labels with --label, or learn clusters with --clusters")
    extractor.check()
    asked = extractor.choose_teacher()
    set_threads(threads)
    skipped = SkippedRows(texts.rejected_rows, empty_alone=not texts.rejected_rows)
    task = _read_task(texts, seed, skipped if texts.rejected_rows or texts.skip_empty else None)
    skipped.write_rejected_rows()
    if skipped.reasons:
        print_message(f"textveil-train: {skipped}")
    key = [settings.describe(), task.compute_sha256(), extractor.clusters, asked]
    kept = ResumeCache(get_unfinished_folder(output), key, resume=resume, replace=force)
    try:
        contents = _train_bundle(task, settings, extractor, asked, kept)
        if card.sentences is not None:
            contents = add_sentences(contents, card.sentences, "")
        written = write_label_bundle(contents, output, force=force)
    except KeyboardInterrupt as interrupt:
        if kept.folder.exists():
            interrupt.add_note(f"finished parts are in {kept.folder.name}; repeat the command with --resume")
        raise
    kept.remove()
    about = {"content_hash": written.bundle.content_hash, "measured": contents.measured, "left_out": skipped.reasons}
    if not as_json:
        _print_summary(contents, has_clusters=extractor.clusters is not None)
    print(json.dumps(about, ensure_ascii=False) if as_json else f"content hash {about['content_hash']}")


def _make_settings(
    texts: LabeledTextOptions, extractor: ExtractorOptions, card: CardOptions, output: Path, seed: int
) -> "EncoderBundleSettings":
    from textveil_training.encoder.class_bundle import EncoderBundleSettings, parse_levels

    return EncoderBundleSettings.with_seed(
        levels=parse_levels(card.levels, card.default_level),
        name=card.name or output.resolve().name,
        data=texts.file.name,
        data_sha256=hash_file(texts.file),
        license=card.license,
        source=card.source,
        default=("counts", card.default_level),
        extractor=extractor.extractor,
        seed=seed,
        minilm=extractor.minilm,
    )


def _read_task(texts: LabeledTextOptions, seed: int, skipped: SkippedRows | None) -> Any:
    """Read the texts that the options name, and divide them into training, calibration and test texts."""
    from textveil_training.data.tables import read_table
    from textveil_training.encoder.labeled_texts import split_labeled_texts, split_unlabeled_texts

    def read(file: Path) -> "list[LabeledExample]":
        try:
            return list(read_table(file, texts.text, texts.label, skipped=skipped))
        except (MissingText, MissingLabel) as error:
            raise type(error)(f"{error.reason} (--skip-empty skips such rows)", error.location) from None
        except (InvalidJson, InvalidUtf8, WrongColumnCount) as error:
            raise type(error)(f"{error.reason} (--rejected-rows FILE skips rejected rows)", error.location) from None

    rows = read(texts.file)
    if texts.label is None:
        return split_unlabeled_texts(rows, seed)
    return split_labeled_texts(rows, None if texts.test is None else read(texts.test), seed)


def _train_bundle(
    task: Any, settings: "EncoderBundleSettings", extractor: ExtractorOptions, teacher: str, kept: "ResumeCache"
) -> "LabelBundleContents":
    from textveil_training.encoder.class_bundle import train_class_bundle
    from textveil_training.encoder.codebook_bundle import train_codebook_bundle

    with report_progress() as report:
        if extractor.clusters is not None:
            return train_codebook_bundle(task, extractor.clusters, settings, report, teacher, kept)
        return train_class_bundle(task, settings, report, kept)


def _print_summary(contents: "LabelBundleContents", *, has_clusters: bool) -> None:
    measured = contents.measured
    if has_clusters:
        print(f"{len(contents.labels)} clusters")
    if "clean" in measured:
        print(_format_table(measured))


def _format_table(measured: dict[str, Any]) -> str:
    rows = [["randomizer", "epsilon", "accuracy", "balanced", "worst label"]]
    clean = {"without noise": {"": measured["clean"]}}
    for randomizer, found in {**clean, **measured["randomizers"]}.items():
        for epsilon, figures in found.items():
            shares = (figures[key] for key in ("accuracy", "balanced_accuracy", "worst_recall"))
            rows.append([randomizer, epsilon, *(f"{share:.4f}" for share in shares)])
    return format_table(rows, left_columns=1)
