"""From a checkpoint to the contents of an encoder bundle: export, int8, gates; what ships is measured here."""

import importlib.metadata
import json
import platform
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from textveil import __version__
from textveil.bundle import layout
from textveil.mechanisms.noise import BOX, ReleaseParameters, Releaser

from textveil_export.bundle_files import format_json
from textveil_export.encoder.checkpoint import CHECKPOINT, Checkpoint, keep_pieces, load_checkpoint
from textveil_export.encoder.device_cost import describe_processor, measure_speed
from textveil_export.encoder.evaluation import compute_vectors, encode_texts, read_labeled_texts
from textveil_export.encoder.gates import check_ceiling, check_gates
from textveil_export.encoder.int8_recipes import (
    MIN_SAMPLE,
    RECIPES,
    Int8Recipe,
    make_graph_name,
    measure_recipes,
    select_candidates,
)
from textveil_export.encoder.onnx_graph import DeviceSession, TorchReference, export_graph
from textveil_export.errors import AccuracyError, ExportError, SizeError, SourceError
from textveil_export.progress import Progress, ignore_progress

#: Most bytes of a bundle, all files together.
MAX_BYTES = 25_000_000
#: The column of figures measured elsewhere that no accuracy may exceed.
CEILING_COLUMN = "ceiling"
#: Every int8 recipe that was tried, with its figures.
RECIPES_FILE = "int8_recipes.json"
#: Kept free for the manifest and the card.
RESERVED_BYTES = 40_000
_PACKAGES = ("torch", "transformers", "onnx", "onnxruntime", "optimum-onnx")


@dataclass(frozen=True, kw_only=True)
class EncoderBuildSettings:
    """Everything that decides an encoder bundle besides its checkpoint.

    Attributes:
        name: Name of the bundle, as ``textveil info`` prints it.
        data: Labeled text for recipes, gates and the card; public.
        levels: Whole-text epsilons, decimal strings; the checkpoint's own if ``None``.
        default_level: The level used when a user names none; ``"4"`` or the middle one if ``None``.
        delta: Delta of the ``l2`` mode, a decimal string; the checkpoint's own if ``None``.
        grid: Integer steps per unit; ``choose_grid`` if ``None``.
        keep_pieces: How many pieces stay, or ``None``.
        vocabulary_from: Public text to choose pieces by, or ``None``.
        sample: How many texts int8 recipes are measured on, where there are so many.
        measured: A file of figures measured elsewhere, for the card, or ``None``.
        license: SPDX expression of the bundle.
        attribution: Whose work it is derived from.
        recipes: Ways to quantize that are tried.
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
    recipes: tuple[Int8Recipe, ...] = RECIPES


@dataclass(frozen=True)
class EncoderContents:
    """An encoder bundle in memory.

    Attributes:
        files: Content of the model, the vocabulary, the classifier and ``RECIPES_FILE``, by file name.
        release: The manifest's ``release``: what decides what a device releases, besides model and vocabulary.
        manifest: ``manifest.json`` without that and ``files``.
    """

    files: dict[str, bytes]
    release: dict[str, Any]
    manifest: dict[str, Any]


def build_encoder(
    folder: Path, settings: EncoderBuildSettings, scratch: Path, progress: Progress = ignore_progress
) -> EncoderContents:
    """Exports a checkpoint, quantizes it in every way there is, and keeps the first in order that passes the gates.

    Args:
        folder: The checkpoint.
        settings: What the bundle is to be.
        scratch: An empty folder for graphs; the caller removes it.
        progress: Called as stages advance.

    Raises:
        CheckpointError, SourceError: An input cannot be used.
        OptionError, ExportError: The settings do not fit the checkpoint.
        GateError: What would ship is not good, not small or not bounded enough.
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
        smallest = min(found.model_bytes for found in candidates.values())
        raise SizeError(
            f"the smallest graph has {smallest / 1e6:.1f} MB, and {room / 1e6:.1f} MB are left for it: "
            "use a smaller encoder or keep fewer pieces"
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
        raise AccuracyError(f"{refusals[0]} ({len(refusals)} int8 recipes tried)")
    if external is not None:
        check_ceiling(report, external["columns"].get(CEILING_COLUMN, {}))
    manifest = {
        "name": settings.name,
        "licence": settings.license,
        "provenance": _describe_provenance(original, checkpoint, settings),
        "created_by": f"textveil-export {__version__}",
        "labels": list(checkpoint.labels),
        "measured": {
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
        "mode": checkpoint.mode,
        "dimension": checkpoint.dimension,
        "grid": levels[0].grid,
        "max_tokens": checkpoint.max_tokens,
        "lowercase": checkpoint.lowercase,
        "levels": [level.epsilon for level in levels],
        "delta": levels[0].delta,
        "default_level": default,
    }
    recipes = {
        "data": settings.data.name,
        "texts": len(sample.ids),
        "processor": describe_processor(),
        "candidates": [found.as_json() for found in candidates.values()],
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
    """Returns release parameters of every level, epsilon ascending; the noise of each has been built once.

    Raises:
        OptionError: A level, delta or the grid is out of range.
        ExportError: A level occurs twice, or delta is given to a mode without one.
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
        raise ExportError("a level occurs twice")
    for level in levels:
        Releaser(level)
    return tuple(levels)


def choose_grid(checkpoint: Checkpoint) -> int:
    """Returns 1024 steps per unit; for ``box`` fewer: 64, or 16 beyond 64 coordinates.

    The noise of ``box`` spans many more units.
    """
    if checkpoint.mode != BOX:
        return 1024
    return 64 if checkpoint.dimension <= 64 else 16


def read_external_figures(path: Path) -> dict[str, Any]:
    """Reads figures that were measured elsewhere, such as the ceiling and the reference of every epsilon.

    A JSON object with ``columns``, an object from a column's title to an object from epsilon (a decimal string) to a
    number, and optionally ``notes``, a list of strings.

    Raises:
        SourceError: The file is something else.
    """
    try:
        content = json.loads(path.read_bytes().decode("utf-8"))
        columns, notes = content["columns"], content.get("notes", [])
        sound = set(content) <= {"columns", "notes"} and all(isinstance(note, str) for note in notes)
        for title, figures in columns.items():
            sound = sound and bool(title) and all(type(figure) in (int, float) for figure in figures.values())
    except (OSError, ValueError, KeyError, AttributeError, TypeError, RecursionError) as error:
        raise SourceError(f"{path.name}: is not a file of measured figures") from error
    if not sound:
        raise SourceError(f"{path.name}: is not a file of measured figures")
    return {"columns": columns, "notes": notes}


def _choose_default_level(levels: Sequence[str], requested: str | None) -> str:
    if requested is None:
        return "4" if "4" in levels else levels[len(levels) // 2]
    if requested not in levels:
        raise ExportError("the default level is not one of the levels")
    return requested


def _describe_provenance(original: Checkpoint, shipped: Checkpoint, settings: EncoderBuildSettings) -> dict[str, Any]:
    trimmed = len(shipped.vocabulary) < len(original.vocabulary)
    recipe = original.record.get("recipe")
    recipe = recipe if isinstance(recipe, dict) else {}
    packages = {name: importlib.metadata.version(name) for name in _PACKAGES}
    return {
        "attribution": settings.attribution,
        f"{CHECKPOINT}_sha256": original.identity,
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
