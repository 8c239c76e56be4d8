"""From a BERT model to the ONNX extractor of an index bundle: the mean of its last states, int8.

The recipes of ``RECIPES`` are tried in their order. The first one is taken whose graph fits and whose decisions are as
good as those in float32, on a sample of 1,000 texts or more; or, of texts without classes, whose decisions are nearly
always the same. No time is measured: no clock decides what ships.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from textveil.bundle import OnnxParts
from transformers import BertModel

from textveil_export.encoder.build import MAX_BYTES, RESERVED_BYTES
from textveil_export.encoder.checkpoint import Arrays
from textveil_export.encoder.evaluation import LabeledTexts, compute_vectors, encode_texts
from textveil_export.encoder.gates import is_allowed_loss
from textveil_export.encoder.int8_recipes import RECIPES, Int8Recipe, make_graph_name, quantize_graph
from textveil_export.encoder.onnx_graph import NO_BOUND, DeviceSession, export_graph
from textveil_export.errors import AccuracyError, SizeError
from textveil_export.progress import Progress, ignore_progress

DecisionFunction = Callable[[NDArray[np.float32]], NDArray[np.intp]]
"""From vectors, shape (texts, width), to the class that each is decided for."""


@dataclass(frozen=True, kw_only=True)
class PooledModel:
    """A BERT model whose pooled vector is what a device computes: without head, without bound.

    Attributes:
        extractor: The model in float32, in evaluation mode.
        vocabulary: Pieces by id.
        lowercase: Whether texts are lower cased and lose their accents.
        max_tokens: Longest input in pieces, [CLS] and [SEP] included.
        identity: SHA-256 of the weights.
    """

    extractor: BertModel
    vocabulary: tuple[str, ...]
    lowercase: bool
    max_tokens: int
    identity: str

    @property
    def mode(self) -> str:
        """No bound: what is released is an index."""
        return NO_BOUND

    @property
    def head(self) -> Arrays:
        """No layers."""
        return {}


def export_onnx_parts(
    model: PooledModel,
    texts: Sequence[tuple[int, str]],
    decide: DecisionFunction,
    scratch: Path,
    *,
    recipes: Sequence[Int8Recipe] = RECIPES,
    max_changed: float | None = None,
    progress: Progress = ignore_progress,
) -> tuple[OnnxParts, dict[str, Any]]:
    """Exports a model, and quantizes it by the first recipe that passes.

    Args:
        model: The model.
        texts: The sample: class and text. State how many there are; ``MIN_SAMPLE`` are meant.
        decide: The classifier that follows.
        scratch: An empty folder for graphs; the caller removes it.
        recipes: Ways to quantize, the preferred one first.
        max_changed: Share of the decisions that int8 may change, from 0 to 1, where the texts have no classes: those of
            the sample are passed over. None to compare accuracies.
        progress: Called as stages advance.

    Returns:
        The extractor, and figures of what was chosen.

    Raises:
        ExportError: The packages of the ``encoder`` extra are missing, or a tool refuses the model.
        ParityError: The graph and torch disagree.
        SizeError: No graph fits.
        AccuracyError: Every graph that fits loses more than half a point of accuracy on the sample, or changes more
            decisions.
    """
    source = scratch / "float32.onnx"
    progress("exporting the graph", 0, 1)
    parity = export_graph(model, source)
    progress("exporting the graph", 1, 1)
    sample = encode_texts(texts, model.vocabulary, model)
    expected = decide(compute_vectors(DeviceSession(source), sample, "float32 vectors", progress))
    room = MAX_BYTES - sum(len(piece.encode()) + 1 for piece in model.vocabulary) - RESERVED_BYTES
    refusals: list[str] = []
    for recipe in recipes:
        if recipe.attention:  # these are there to be compared with
            continue
        path = scratch / make_graph_name(recipe)
        quantize_graph(source, recipe, path)
        if path.stat().st_size > room:
            refusals.append(f"{recipe.name}: {path.stat().st_size / 1e6:.1f} MB")
            continue
        actual = decide(compute_vectors(DeviceSession(path), sample, f"int8: {recipe.name}", progress))
        figures = (
            _measure_accuracy(sample, expected, actual) if max_changed is None else _measure_agreement(expected, actual)
        )
        reason = _find_refusal(figures, max_changed)
        if reason is None:
            record = {"recipe": recipe.name, "model_bytes": path.stat().st_size, **figures, "refused": refusals}
            vocabulary = {piece: number for number, piece in enumerate(model.vocabulary)}
            width = int(model.extractor.config.hidden_size)
            parts = OnnxParts(
                model=path.read_bytes(),
                vocabulary=vocabulary,
                lowercase=model.lowercase,
                max_tokens=model.max_tokens,
                dimension=width,
            )
            return parts, {**record, "onnx_parity_max": float(f"{parity:.1g}")}
        refusals.append(f"{recipe.name}: {reason}")
    if any(not reason.endswith("MB") for reason in refusals):
        raise AccuracyError(f"every int8 recipe that fits loses accuracy ({refusals[0]}; {len(refusals)} tried)")
    raise SizeError(f"no int8 graph fits into {room / 1e6:.1f} MB ({refusals[0]}): use a smaller encoder")


def _measure_accuracy(sample: LabeledTexts, expected: NDArray[np.intp], actual: NDArray[np.intp]) -> dict[str, Any]:
    return {
        **_measure_agreement(expected, actual),
        "accuracy_float32": round(float(np.mean(expected == sample.labels)), 6),
        "accuracy": round(float(np.mean(actual == sample.labels)), 6),
    }


def _measure_agreement(expected: NDArray[np.intp], actual: NDArray[np.intp]) -> dict[str, Any]:
    return {"sample_texts": len(expected), "agreement": round(float(np.mean(actual == expected)), 6)}


def _find_refusal(figures: dict[str, Any], max_changed: float | None) -> str | None:
    """Why a graph is not taken; None if it is."""
    if max_changed is not None:
        changed = round(1 - figures["agreement"], 6)
        return None if changed <= max_changed else f"{100 * changed:.2f} % of the decisions changed"
    if is_allowed_loss(figures["accuracy_float32"], figures["accuracy"]):
        return None
    return f"{100 * (figures['accuracy_float32'] - figures['accuracy']):.2f} points lost"
