"""Train a bundle (folder with a model for devices) from lists of texts and labels in one call."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from textveil.errors import OptionError
from textveil.vector import TextLabelEncoder
from textveil_cli.console import show_progress_bars

from textveil_training.data import LabeledExample
from textveil_training.data.rows import check_label, check_text
from textveil_training.data.skipped_rows import SkippedRows
from textveil_training.errors import DataOptionError, FileLocation, MissingExtra, MissingLabel, MissingText


@dataclass(frozen=True, kw_only=True)
class TrainedEncoder:
    """The bundle that ``train_encoder`` wrote, and its measurements.

    Attributes:
        encoder: The encoder of the bundle, which converts a text to a randomized class label.
        folder: Folder of the bundle; its ``README.md`` is the model card.
        measured: Accuracies for each epsilon and way to randomize labels, on texts that the training did not use; the
            model card shows them.
        left_out: Number of rows without a text or a label.

    Example:
        >>> texts = [f"{word} film number {number}" for word in ("warm", "dull") for number in range(60)]
        >>> trained = train_encoder(texts, 60 * ["good"] + 60 * ["bad"], "my-classes", progress=False)
        >>> trained.encoder.bundle.labels, trained.left_out
        (('bad', 'good'), 0)
    """

    encoder: TextLabelEncoder = field(repr=False)
    folder: Path
    measured: dict[str, Any] = field(repr=False)
    left_out: int


def train_encoder(
    texts: Iterable[Any],
    labels: Iterable[Any],
    output: str | Path,
    *,
    extractor: Literal["static", "minilm"] = "static",
    levels: str | None = None,
    default_level: str = "4",
    name: str | None = None,
    license: str = "not stated",
    source: str = "",
    skip_empty: bool = False,
    seed: int = 0,
    resume: bool = False,
    force: bool = False,
    progress: bool = True,
) -> TrainedEncoder:
    """Train a bundle, with which devices encode a text as a randomized class label, on labeled texts.

    A bundle is a folder with the model and its settings. The command ``textveil-train encoder`` trains the same bundle
    and has more options. To continue an interrupted run, pass ``resume``.

    Args:
        texts: The texts: a list, a column of a frame or of a data set.
        labels: Label of each text; a number is converted to a string.
        output: Folder of the new bundle.
        extractor: ``static`` (word embeddings; devices need numpy only) or ``minilm`` (a small language model).
        levels: Comma-separated epsilons; ``None`` for ``0.5,1,2,3,4,6,8``.
        default_level: Epsilon that a device uses if the user names none.
        name: Name of the bundle; ``None`` for the name of the folder.
        license: License of the bundle, for its card.
        source: Source of the data and its terms of use, for the model card.
        skip_empty: Whether to omit and count rows without a text or a label; otherwise such a row is an error.
        seed: Seed of the division of the texts and of the training.
        resume: Whether to continue an interrupted run.
        force: Whether to replace an existing bundle, and an unfinished run for this bundle.
        progress: Whether to show progress bars on a terminal.

    Raises:
        OptionError: The folder exists, or a level is not valid.
        DataError: A row has no text or no label, a label has too few texts, or texts and labels differ in number.
        MissingExtra: The package textveil-export, or one that ``minilm`` needs, is not installed.

    Privacy:
        The bundle does not protect its training texts. It protects the texts that devices encode with it.

    Example:
        >>> texts = [f"{word} film number {number}" for word in ("warm", "dull") for number in range(60)]
        >>> trained = train_encoder(texts, 60 * ["good"] + 60 * ["bad"], "my-bundle", progress=False)
        >>> print(trained.encoder.encode("A warm film.", epsilon=4).statement.whole_text)
        epsilon 4 for the whole text (any two texts)
    """
    try:
        from textveil_export.label import write_label_bundle
    except ImportError as error:
        raise MissingExtra(
            "this function needs textveil-export: pip install 'textveil-training[bundle]' (in a clone: pip install "
            "./export)"
        ) from error
    from textveil_training.encoder.class_bundle import EncoderBundleSettings, parse_levels, train_class_bundle
    from textveil_training.encoder.labeled_texts import split_labeled_texts
    from textveil_training.encoder.resume_cache import ResumeCache, get_unfinished_folder

    output, chosen = Path(output), parse_levels(levels, default_level)
    if output.exists() and not force:
        raise OptionError("the output folder exists: choose another, or replace it with force=True")
    skipped = SkippedRows() if skip_empty else None
    task = split_labeled_texts(_make_examples(texts, labels, skipped), None, seed)
    settings = EncoderBundleSettings.with_seed(
        name=name or output.resolve().name,
        data="texts of a program",
        data_sha256=task.compute_sha256(),
        license=license,
        source=source,
        levels=chosen,
        default=("counts", default_level),
        extractor=extractor,
        seed=seed,
        minilm={},
    )
    kept = ResumeCache(
        get_unfinished_folder(output), [settings.describe(), task.compute_sha256()], resume=resume, replace=force
    )
    with show_progress_bars(enabled=progress) as report:
        contents = train_class_bundle(task, settings, report, kept)
    encoder = write_label_bundle(contents, output, force=force)
    kept.remove()
    left_out = 0 if skipped is None else skipped.reasons.total()
    return TrainedEncoder(encoder=encoder, folder=output, measured=contents.measured, left_out=left_out)


def _make_examples(texts: Iterable[Any], labels: Iterable[Any], skipped: SkippedRows | None) -> list[LabeledExample]:
    if isinstance(texts, str) or isinstance(labels, str):
        raise DataOptionError("texts and labels must be lists of strings, not one string")
    texts, labels, rows = list(texts), list(labels), list[LabeledExample]()
    if len(texts) != len(labels):
        raise DataOptionError(f"texts and labels must have the same length, not {len(texts):,} and {len(labels):,}")
    for number, (text, label) in enumerate(zip(texts, labels, strict=True), 1):
        location = FileLocation("texts", number)
        text = "" if _is_missing(text) else text
        if not isinstance(text, str):
            raise DataOptionError(f"text {number:,} of {len(texts):,} must be a string")
        try:
            found = check_label("" if _is_missing(label) else str(label), None, location)
            rows.append(LabeledExample(texts=(check_text(text, location),), label=found))
        except (MissingText, MissingLabel) as error:
            if skipped is None:
                raise type(error)(f"{error.reason} (skip_empty=True skips such rows)", location) from None
            skipped.add(error)
    return rows


def _is_missing(cell: Any) -> bool:
    """Return whether a cell is None, NaN or NA; comparing NaN or NA with itself does not give ``True``."""
    return cell is None or str(cell == cell) != "True"
