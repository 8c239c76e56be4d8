"""Build an encoder bundle (folder with a model) from a checkpoint: export, quantize, check and measure the model."""

import importlib.metadata
import json
import platform
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from textveil import __version__
from textveil.bundle import layout
from textveil.mechanisms.noise import BOX, ReleaseParameters, VectorReleaser

from textveil_export.bundle_files import format_json
from textveil_export.encoder.checkpoint import CHECKPOINT, Checkpoint, keep_pieces, load_checkpoint
from textveil_export.encoder.device_cost import describe_processor, measure_speed
from textveil_export.encoder.evaluation import compute_vectors, encode_texts, read_labeled_texts
from textveil_export.encoder.gates import check_ceiling, check_gates
from textveil_export.encoder.int8_recipes import (
    MIN_SAMPLE,
    Int8Recipe,
    list_available_recipes,
    make_graph_name,
    measure_recipes,
    select_candidates,
)
from textveil_export.encoder.onnx_graph import DeviceSession, TorchReference, export_graph
from textveil_export.errors import AccuracyError, ExportError, SizeError, SourceError
from textveil_export.progress import Progress, ignore_progress

#: Largest size of a bundle in bytes, all files together.
MAX_BYTES = 25_000_000
#: Column of external figures that no accuracy may exceed.
CEILING_COLUMN = "ceiling"
#: File with the figures of all int8 recipes.
RECIPES_FILE = "int8_recipes.json"
#: Bytes reserved for the manifest and the card.
RESERVED_BYTES = 40_000
_PACKAGES, _OPTIONAL_PACKAGES = ("torch", "transformers", "onnx", "onnxruntime"), ("optimum-onnx",)


@dataclass(frozen=True, kw_only=True)
class EncoderBuildSettings:
    """Settings for building an encoder bundle (folder with a model for noisy vectors) from a checkpoint.

    Attributes:
        name: Name of the bundle, as ``textveil info`` prints it.
        data: File of public labeled texts, on which the accuracy of int8 models is measured.
        levels: Epsilons per text, decimal strings; ``None`` for the checkpoint's epsilons.
        default_level: Epsilon of calls that pass none; ``None`` for ``"4"``, or the middle level if there is no 4.
        delta: Delta of the mode ``l2``, a decimal string; ``None`` for the checkpoint's delta.
        grid: Number of integer steps per unit of the vector; ``None`` for the result of ``choose_grid``.
        keep_pieces: Number of WordPieces to keep; ``None`` for no limit.
        vocabulary_from: Public text that selects WordPieces by frequency, or ``None``.
        sample: Number of texts on which int8 recipes are measured.
        measured: File of external figures for the card, or ``None``.
        license: SPDX expression of the bundle.
        attribution: Authors and sources of the model.
        recipes: Ways of rounding the model to int8, in the order in which they are tried.

    Example:
        >>> EncoderBuildSettings(name="my-encoder", data=Path("texts.tsv"), levels=("4", "8")).license
        'not stated'
    """

    name: str
    data: Path
    levels: tuple[str, ...] | None = None
    default_level: str | None = None
    delta: str | None = None
    grid: int | None = None
    keep_pieces: int | None = None
    vocabulary_from: Path | None = None
    sample: int = MIN_SAMPLE
    measured: Path | None = None
    license: str = "not stated"
    attribution: str = ""
    recipes: tuple[Int8Recipe, ...] = field(default_factory=list_available_recipes)


@dataclass(frozen=True)
class EncoderContents:
    """Content of an encoder bundle (data folder) in memory.

    Attributes:
        files: Content of the model, the vocabulary, the classifier and the file with the measurements of int8 models
            (``RECIPES_FILE``), by file name.
        release: Entry ``release`` of ``manifest.json``: supported epsilons, and settings of noise and tokenizer.
        manifest: Content of ``manifest.json`` without ``release`` and ``files``.
    """

    files: dict[str, bytes]
    release: dict[str, Any]
    manifest: dict[str, Any]


def build_encoder(
    folder: Path, settings: EncoderBuildSettings, scratch: Path, progress: Progress = ignore_progress
) -> EncoderContents:
    """Export a checkpoint, round it to int8 by each recipe, and select the first recipe that passes all checks.

    Args:
        folder: The checkpoint.
        settings: Settings of the bundle.
        scratch: An empty folder for temporary ONNX graphs, which the caller deletes afterwards.
        progress: Callback that takes the name of a stage, the number of its finished steps, and their total number.

    Raises:
        EncoderCheckpointError, SourceError: An input cannot be used.
        OptionError, ExportError: The settings do not fit the checkpoint.
        GateError: No quantized model is accurate, small and bounded enough.

    Example:
        >>> import tempfile
        >>> settings = EncoderBuildSettings(name="my-encoder", data=Path("texts.tsv"), sample=50)
        >>> with tempfile.TemporaryDirectory() as scratch:
        ...     contents = build_encoder(Path("checkpoint"), settings, Path(scratch))
        >>> contents.release["noise_mode"], contents.release["epsilons"]
        ('l1', ['2', '8'])
    """
    original = load_checkpoint(folder)
    levels = make_release_levels(original, settings)
    default = _choose_default_level([level.epsilon for level in levels], settings.default_level)
    external = read_external_figures(settings.measured) if settings.measured is not None else None
    rows = read_labeled_texts(settings.data, original.labels)
    texts = encode_texts(rows, original.vocabulary, original)
    checkpoint, shipped_texts = original, texts
    if settings.keep_pieces is not None or settings.vocabulary_from is not None:
        checkpoint = keep_pieces(original, settings.keep_pieces, settings.vocabulary_from)
        shipped_texts = encode_texts(rows, checkpoint.vocabulary, checkpoint)

    progress("exporting the graph", 0, 1)
    source = scratch / "float32.onnx"
    parity = export_graph(original, source)
    progress("exporting the graph", 1, 1)
    expected = compute_vectors(DeviceSession(source), texts, "float32 vectors", progress)
    if checkpoint is not original:
        source = scratch / "trimmed.onnx"
        parity = max(parity, export_graph(checkpoint, source))

    vocabulary = "".join(f"{piece}\n" for piece in checkpoint.vocabulary).encode()
    room = MAX_BYTES - len(vocabulary) - len(checkpoint.classifier_bytes) - RESERVED_BYTES
    largest = float(levels[-1].exact_epsilon)
    sample = shipped_texts.sample_evenly(settings.sample)
    reference = TorchReference(checkpoint)
    candidates = measure_recipes(
        source, sample, checkpoint.classifier, largest, scratch, reference, recipes=settings.recipes, progress=progress
    )
    order = select_candidates(candidates, room)
    if not order:
        smallest = min(candidate.model_bytes for candidate in candidates.values())
        raise SizeError(
            f"the smallest graph has {smallest / 1e6:.1f} MB (at most {room / 1e6:.1f} MB): "
            "use a smaller encoder or lower --keep-pieces"
        )
    refusals: list[str] = []
    for candidate in order:
        graph = scratch / make_graph_name(candidate.recipe)
        shipped = compute_vectors(DeviceSession(graph), shipped_texts, f"gates: {candidate.recipe.name}", progress)
        try:
            report = check_gates(expected, shipped, texts.labels, checkpoint.classifier, levels)
        except AccuracyError as error:
            refusals.append(f"{candidate.recipe.name}: {error}")
            continue
        break
    else:
        raise AccuracyError(f"{refusals[0]} ({len(refusals)} int8 recipes tried): train longer or use another encoder")
    if external is not None:
        check_ceiling(report, external["columns"].get(CEILING_COLUMN, {}))
    manifest = {
        "name": settings.name,
        "license": settings.license,
        "provenance": _describe_provenance(original, checkpoint, settings),
        "created_by": f"textveil-export {__version__}",
        "labels": list(checkpoint.labels),
        "measurements": {
            "data": settings.data.name,
            "truncated_texts": shipped_texts.truncated,
            **report.as_json(),
            "onnx_parity_max": float(f"{parity:.2g}"),
            "int8": candidate.as_json(),
            "int8_sample_texts": len(sample.ids),
            "speed": {"processor": describe_processor(), **measure_speed(DeviceSession(graph), reference, checkpoint)},
            **({"elsewhere": external} if external is not None else {}),
        },
    }
    release = {
        "noise_mode": checkpoint.mode,
        "dimension": checkpoint.dimension,
        "grid": levels[0].grid,
        "max_tokens": checkpoint.max_tokens,
        "lowercase": checkpoint.lowercase,
        "epsilons": [level.epsilon for level in levels],
        "delta": levels[0].delta,
        "default_epsilon": default,
    }
    recipes = {
        "data": settings.data.name,
        "texts": len(sample.ids),
        "processor": describe_processor(),
        "candidates": [candidate.as_json() for candidate in candidates.values()],
        "refused": refusals,
    }
    files = {
        layout.MODEL: graph.read_bytes(),
        layout.PIECES: vocabulary,
        layout.CLASSIFIER: checkpoint.classifier_bytes,
        RECIPES_FILE: format_json(recipes).encode(),
    }
    return EncoderContents(files, release, manifest)


def make_release_levels(checkpoint: Checkpoint, settings: EncoderBuildSettings) -> tuple[ReleaseParameters, ...]:
    """Return the parameters of the noisy vector for each epsilon, epsilon ascending.

    The function constructs the noise of each level once, to check its parameters.

    Raises:
        OptionError: An epsilon, delta or the grid is out of range.
        ExportError: An epsilon occurs twice, or delta is given to a mode without delta.
    """
    grid = settings.grid or choose_grid(checkpoint)
    delta = settings.delta or checkpoint.delta
    epsilons = settings.levels or checkpoint.levels
    levels = [
        ReleaseParameters(mode=checkpoint.mode, dimension=checkpoint.dimension, grid=grid, epsilon=level, delta=delta)
        for level in epsilons
    ]
    levels.sort(key=lambda level: level.exact_epsilon)
    if len({level.exact_epsilon for level in levels}) != len(levels):
        raise ExportError("a level occurs twice: remove it from --levels")
    for level in levels:
        VectorReleaser(level)
    return tuple(levels)


def choose_grid(checkpoint: Checkpoint) -> int:
    """Return the default number of integer steps into which one unit of the vector is divided before noise is added.

    The number is 1024 for the modes ``l1`` and ``l2``, and 64 or 16 for ``box``, whose noise spans many more units.
    """
    if checkpoint.mode != BOX:
        return 1024
    return 64 if checkpoint.dimension <= 64 else 16


def read_external_figures(path: Path) -> dict[str, Any]:
    """Read a JSON file of figures that were measured elsewhere, such as accuracy limits by epsilon.

    The file is an object. Its value ``columns`` maps titles to objects, which map an epsilon (a decimal string) to a
    number. Its optional value ``notes`` is a list of strings.

    Raises:
        SourceError: The file has another format.
    """
    try:
        content = json.loads(path.read_bytes().decode("utf-8"))
        columns, notes = content["columns"], content.get("notes", [])
        sound = set(content) <= {"columns", "notes"} and all(isinstance(note, str) for note in notes)
        for title, figures in columns.items():
            sound = sound and bool(title) and all(type(figure) in (int, float) for figure in figures.values())
    except (OSError, ValueError, KeyError, AttributeError, TypeError, RecursionError) as error:
        raise SourceError(f"{path.name}: must be JSON {{columns: {{TITLE: {{EPSILON: SHARE}}}}}}") from error
    if not sound:
        raise SourceError(f"{path.name}: must be JSON {{columns: {{TITLE: {{EPSILON: SHARE}}}}, notes: [TEXT]}}")
    return {"columns": columns, "notes": notes}


def _choose_default_level(levels: Sequence[str], requested: str | None) -> str:
    """Return the requested default epsilon; without a request "4" if it is supported, else the middle epsilon.

    Raises:
        ExportError: The requested epsilon is not supported.
    """
    if requested is None:
        return "4" if "4" in levels else levels[len(levels) // 2]
    if requested not in levels:
        raise ExportError("the default level is not one of the levels: correct --default-level")
    return requested


def _describe_provenance(original: Checkpoint, shipped: Checkpoint, settings: EncoderBuildSettings) -> dict[str, Any]:
    """Return the entry of ``manifest.json`` about the origin of the model.

    It contains hashes of the checkpoint and the recipe, the epsilons of the training, the number of WordPieces and how
    they were chosen, and the versions of packages.

    Args:
        original: The checkpoint as training wrote it.
        shipped: The checkpoint after its vocabulary was reduced.
        settings: Settings of the bundle.
    """
    trimmed = len(shipped.vocabulary) < len(original.vocabulary)
    recipe = original.record.get("recipe")
    recipe = recipe if isinstance(recipe, dict) else {}
    packages = {name: importlib.metadata.version(name) for name in _PACKAGES}
    for name in _OPTIONAL_PACKAGES:
        with suppress(importlib.metadata.PackageNotFoundError):
            packages[name] = importlib.metadata.version(name)
    return {
        "attribution": settings.attribution,
        f"{CHECKPOINT}_sha256": original.content_hash,
        "training_recipe": recipe.get("name"),
        "training_recipe_sha256": recipe.get("sha256"),
        "trained_for_epsilons": list(original.levels),
        "trained_with_word_dropout": original.word_dropout,
        "pieces": len(shipped.vocabulary),
        "pieces_of_the_original": len(original.vocabulary),
        "pieces_chosen_by": (
            None
            if not trimmed
            else settings.vocabulary_from.name
            if settings.vocabulary_from is not None
            else "order of the vocabulary"
        ),
        "exporter": f"textveil-export {__version__}",
        "packages": packages,
        "machine": platform.machine(),
    }
