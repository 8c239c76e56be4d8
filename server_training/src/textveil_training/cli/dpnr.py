"""Define ``textveil-train dpnr``, which trains a model that encodes texts as noisy vectors.

The training data are a user's table. With a recipe (TOML file with settings) they are a published data set.
"""

import json
import re
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import typer
from textveil_cli.console import get_safe_file_name

from textveil_training.cli.figures import format_accuracies
from textveil_training.cli.options import (
    JsonOption,
    KeyOptions,
    MachineOptions,
    OtherFormat,
    RecipeData,
    ResumeOption,
)
from textveil_training.cli.progress_lines import report_progress
from textveil_training.errors import DataOptionError, MissingExtra, UnreadableFile
from textveil_training.terminal_tables import format_table

if TYPE_CHECKING:
    from textveil_training.data import ReadOptions
    from textveil_training.encoder.labeled_texts import LabeledTexts
    from textveil_training.encoder.vector_bundle import TrainedVectorBundle, VectorBundleSettings

_NEEDS_EXPORT = (
    "writing the bundle needs textveil-export with the extra encoder "
    "(in a clone: pip install -e './export[encoder]' -e './server_training[minilm]')"
)
#: An epsilon as a decimal number, and the largest one.
_LEVEL = re.compile(r"\d+(?:\.\d+)?", re.ASCII)
_LARGEST_EPSILON = 16


@dataclass(frozen=True, kw_only=True)
class RecipeOptions:
    """Options that are valid only with a recipe (TOML file with all settings of a training)."""

    heading: ClassVar[str] = "With a recipe"
    start: Annotated[
        Path | None,
        typer.Option(
            "--start", metavar="CHECKPOINT", help="Checkpoint to start from, for recipes that start from one."
        ),
    ] = None
    features: Annotated[
        Path | None,
        typer.Option(
            "--features", metavar="FOLDER", help="Features of the --start checkpoint, written by --write-features."
        ),
    ] = None
    write_features: Annotated[
        bool, typer.Option("--write-features", help="Write the features of all splits to the output folder.")
    ] = False
    format_name: OtherFormat = None


@dataclass(frozen=True, kw_only=True)
class VectorBundleOptions:
    """Options that are valid only without a recipe (file of settings), for training on the user's own table."""

    heading: ClassVar[str] = "Without a recipe"
    noise: Annotated[
        Literal["l1", "l2", "box"] | None,
        typer.Option("--noise", help="Bound and noise of the bundle: l1 (default), l2, or box (the paper's)."),
    ] = None
    levels: Annotated[str | None, typer.Option(help="Comma-separated epsilons per text. Default: 1,2,4,8,16.")] = None
    compare: Annotated[
        bool, typer.Option("--compare/--no-compare", help="Train the paper's noise too, to compare.")
    ] = True
    encoder: Annotated[str, typer.Option("--encoder", help="minilm, a model folder, or a hub id.")] = "minilm"
    max_tokens: Annotated[
        int, typer.Option("--max-tokens", min=3, max=512, help="Maximum tokens; longer texts are truncated.")
    ] = 128
    num_epochs: Annotated[
        int | None,
        typer.Option(
            "--num-epochs",
            min=1,
            help="Passes over the texts that tune the encoder; default: as many as give 6,000 texts in total, at "
            "most 8.",
        ),
    ] = None
    keep_pieces: Annotated[
        int | None,
        typer.Option(
            "--keep-pieces", min=1, help="Maximum WordPieces in the bundle, those of the training texts first."
        ),
    ] = None
    license: Annotated[str, typer.Option(help="License of the bundle, for the card.")] = "not stated"
    source: Annotated[str, typer.Option(help="Source and license of the data, for the card.")] = ""
    force: Annotated[bool, typer.Option("--force", help="Replace an existing bundle, and its unfinished run.")] = False

    def list_changed(self) -> list[str]:
        """Return the options that influence the trained model, with their values, for the model card.

        Folders are given by their names, without the path.
        """
        folder = Path(self.encoder)
        given = {
            "--noise": self.noise,
            "--levels": self.levels,
            "--encoder": None
            if self.encoder == "minilm"
            else folder.resolve().name
            if folder.is_dir()
            else self.encoder,
            "--max-tokens": None if self.max_tokens == type(self).max_tokens else self.max_tokens,
            "--num-epochs": self.num_epochs,
            "--keep-pieces": self.keep_pieces,
        }
        return [part for name, value in given.items() if value is not None for part in (name, str(value))]

    def list_levels(self) -> tuple[str, ...] | None:
        """List the epsilons of the option ``--levels``; ``None`` if it is not given.

        Raises:
            DataOptionError: An epsilon is not a number above 0 and at most 16.
        """
        if self.levels is None:
            return None
        listed = tuple(level.strip() for level in self.levels.split(","))
        if not all(_LEVEL.fullmatch(level) and 0 < float(level) <= _LARGEST_EPSILON for level in listed):
            raise DataOptionError("--levels takes epsilons above 0 and at most 16, with commas between: --levels 2,4,8")
        return listed

    def make_settings(
        self, output: Path, seed: int | None, precision: str | None, labels: int
    ) -> "VectorBundleSettings":
        """Convert the options to settings of the bundle (folder with the trained model), and check the settings.

        Args:
            output: Folder of the bundle.
            seed: Seed of the training, or ``None``.
            precision: Precision of the encoder in training, or ``None``.
            labels: Number of labels in the table.
        """
        from textveil_training.encoder.vector_bundle import LEVELS, VectorBundleSettings, check_settings

        settings = VectorBundleSettings(
            name=output.resolve().name,
            mode=self.noise or "l1",
            levels=self.list_levels() or LEVELS,
            encoder=self.encoder,
            max_tokens=self.max_tokens,
            num_epochs=self.num_epochs,
            precision=precision,
            compare=self.compare,
            keep_pieces=self.keep_pieces,
            license=self.license,
            source=self.source,
            seed=seed or 0,
        )
        check_settings(settings, labels)
        return settings


def dpnr(
    data: RecipeData,
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            metavar="FOLDER",
            help="Folder of the new checkpoint; without RECIPE, of the bundle.",
        ),
    ],
    recipe: Annotated[
        Path | None, typer.Argument(metavar="RECIPE", help="Recipe file (TOML); without one, DATA is your own table.")
    ] = None,
    resume: ResumeOption = False,
    seed: Annotated[int | None, typer.Option("--seed", help="Seed of the training, instead of the recipe's.")] = None,
    precision: Annotated[
        Literal["float32", "bfloat16"] | None,
        typer.Option(
            "--precision",
            help="Precision of the encoder in training; by default the recipe's, and float32 on processors that "
            "emulate bfloat16.",
        ),
    ] = None,
    as_json: JsonOption = False,
    *,
    keys: KeyOptions,
    with_recipe: RecipeOptions,
    own: VectorBundleOptions,
    machine: MachineOptions,
) -> None:
    """Train a noisy representation: a bundle from your own table, or a checkpoint from a recipe.

    Without a recipe, --data is CSV, TSV, JSON lines or Parquet, and the result is a bundle for textveil encode. The
    options --text and --label name the columns. The command prints the accuracy with the noise of the bundle and with
    that of the DPNR paper. With a recipe, the result is a checkpoint of the private model or of the baseline that the
    recipe describes.

    The command divides a file without splits, and puts similar texts into the same split. Ctrl-C ends the run after the
    current step; --resume continues to the same result. If standard error is a log or a pipe, the command writes a
    progress line every 25 seconds.
    """
    from textveil_training.data import ReadOptions

    options = ReadOptions(**vars(keys))
    if recipe is None:
        if with_recipe != RecipeOptions():
            raise DataOptionError("--start, --features, --write-features and --format need a recipe: pass one first")
        _train_own(data, output, options, own, seed, precision, resume, machine, as_json)
        return
    if own != VectorBundleOptions():
        raise DataOptionError(
            "--noise, --levels, --no-compare, --encoder, --max-tokens, --num-epochs, --keep-pieces, --license, "
            "--source and --force cannot be combined with a recipe: omit them, and set these values in the recipe"
        )
    _train_recipe(recipe, data, output, options, with_recipe, seed, precision, resume, machine, as_json)


def _train_recipe(
    path: Path,
    data: Path,
    output: Path,
    options: "ReadOptions",
    chosen: RecipeOptions,
    seed: int | None,
    precision: str | None,
    resume: bool,
    machine: MachineOptions,
    as_json: bool,
) -> None:
    """Train a model by a recipe (TOML file with settings), and print the accuracies of the model.

    Args:
        path: The recipe.
        data: File or folder of the data.
        output: Folder of the trained model (checkpoint).
        options: Column names of the data.
        chosen: Values of ``--start``, ``--features``, ``--write-features`` and ``--format``.
        seed: Seed that replaces the recipe's; ``None`` to keep it.
        precision: Precision that replaces the recipe's; ``None`` to keep it.
        resume: Whether to continue an interrupted run.
        machine: Threads and device.
        as_json: Whether to print JSON.
    """
    from dataclasses import replace

    from textveil_training.dpnr.recipe import read_recipe, replace_seed

    recipe = read_recipe(path)  # before the imports below, which take seconds
    if not data.exists():
        raise UnreadableFile("the path of --data does not exist: check it")
    with report_progress() as report:
        from textveil_training.dpnr.classification_data import load_classification_task, override_format
        from textveil_training.dpnr.train import RepresentationRunOptions, train_representation

        recipe = recipe if seed is None else replace_seed(recipe, seed)
        recipe = replace(recipe, data=override_format(recipe.data, chosen.format_name))
        task = load_classification_task(recipe.data, data, options)
        device = machine.apply()
        run = RepresentationRunOptions(
            output, resume, device, chosen.start, chosen.features, chosen.write_features, precision=precision
        )
        record = train_representation(recipe, task, run, report)
    print(json.dumps(record["result"]) if as_json else format_accuracies(record["result"]))


def _train_own(
    data: Path,
    output: Path,
    options: "ReadOptions",
    own: VectorBundleOptions,
    seed: int | None,
    precision: str | None,
    resume: bool,
    machine: MachineOptions,
    as_json: bool,
) -> None:
    """Train a bundle (folder with a model) on a table, and print the commands with which a device uses the bundle."""
    own.list_levels()  # before the imports below, which take seconds
    texts = read_own_texts(data, options, seed or 0)
    if output.exists() and not own.force:
        raise DataOptionError("the output folder exists: choose another -o, or use --force")
    with report_progress() as report:
        _require_export()
        from textveil_training.encoder.vector_bundle import train_vector_bundle

        settings = own.make_settings(output, seed, precision, len(texts.labels))
        named = ["--data", data.name, "--text", options.text_key, "--label", options.label_key or ""]
        named += own.list_changed()
        named += [] if seed is None else ["--seed", str(seed)]
        named += [] if precision is None else ["--precision", precision]
        command = shlex.join(["textveil-train", "dpnr", *named, "-o", output.resolve().name])
        how: dict[str, Any] = {"resume": resume, "force": own.force, "device": machine.apply()}
        try:
            found = train_vector_bundle(texts, settings, output, reproduce=command, report=report, **how)
        except KeyboardInterrupt as interrupt:
            interrupt.add_note("finished parts are kept beside the bundle; repeat the command with --resume")
            raise
    content_hash = found.encoder.bundle.content_hash
    if as_json:
        print(json.dumps({"content_hash": content_hash, "clean": found.without_noise, "measured": found.measured}))
        return
    print(format_noise_comparison(found))
    print(f"content hash {content_hash}")


def read_own_texts(path: Path, options: "ReadOptions", seed: int) -> "LabeledTexts":
    """Read the texts and labels of a user's table, and divide the rows into training, calibration and test texts.

    Raises:
        DataError: The file cannot be read, or a row has no text or no label.
        InvalidClasses: There is only one label, or a label has too few texts.
    """
    from textveil_training.data import read_table
    from textveil_training.encoder.labeled_texts import split_labeled_texts

    try:
        return split_labeled_texts(list(read_table(path, options.text_key, options.label_key)), None, seed)
    except OSError as error:
        name = get_safe_file_name(path) or "the file"
        raise UnreadableFile(f"{name} cannot be opened ({error.strerror})") from None


def format_noise_comparison(found: "TrainedVectorBundle") -> str:
    """Format a table of accuracies, with a row for each epsilon and a column for each noise distribution."""
    levels = list(next(iter(found.measured.values()))["levels"])
    rows = [["epsilon of the text", *found.measured]]
    for level in levels:
        rows.append([level, *(f"{one['levels'][level]['accuracy']:.4f}" for one in found.measured.values())])
    rows.append(["without noise", *[f"{found.without_noise:.4f}"] * len(found.measured)])
    return format_table(rows)


def _require_export() -> None:
    """Raise ``MissingExtra`` if the packages that write a bundle are not installed."""
    try:
        import onnx  # type: ignore[import-not-found]  # noqa: F401
        from textveil_export.encoder import build_encoder  # noqa: F401
    except ImportError as error:
        raise MissingExtra(_NEEDS_EXPORT) from error
