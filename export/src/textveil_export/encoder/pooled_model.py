"""Export a BERT model with mean pooling as an int8 ONNX graph for a bundle for class labels of texts.

The module tries the recipes of ``RECIPES`` (options of quantization) in their order. It selects the first recipe whose
graph is small enough and whose decisions are as accurate as in float32 on a sample of 1,000 or more texts. For texts
without classes the int8 graph may change only a few decisions. The choice does not depend on measured time.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from textveil.bundle import OnnxExtractorData
from transformers import BertModel

from textveil_export.encoder.build import MAX_BYTES, RESERVED_BYTES
from textveil_export.encoder.checkpoint import Arrays
from textveil_export.encoder.evaluation import TokenizedTexts, compute_vectors, encode_texts
from textveil_export.encoder.gates import is_allowed_loss
from textveil_export.encoder.int8_recipes import (
    Int8Recipe,
    list_available_recipes,
    make_graph_name,
    quantize_graph,
)
from textveil_export.encoder.onnx_graph import NO_BOUND, DeviceSession, export_graph
from textveil_export.errors import AccuracyError, SizeError
from textveil_export.progress import Progress, ignore_progress

DecisionFunction = Callable[[NDArray[np.float32]], NDArray[np.intp]]
"""Function from vectors, shape (texts, width), to the class of each text, shape (texts,)."""


@dataclass(frozen=True, kw_only=True)
class PooledModel:
    """A BERT model with mean pooling, without further layers and without a bound on its vector.

    Attributes:
        extractor: The model in float32, in evaluation mode.
        vocabulary: WordPieces by id.
        lowercase: Whether the tokenizer lower-cases texts and strips accents.
        max_tokens: Longest input in WordPieces, [CLS] and [SEP] included.
        weights_hash: SHA-256 of the weights.

    Example:
        >>> from transformers import BertConfig
        >>> size = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32}
        >>> pieces = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "goal", "price")
        >>> extractor = BertModel(BertConfig(vocab_size=len(pieces), **size), add_pooling_layer=False).eval()
        >>> PooledModel(
        ...     extractor=extractor, vocabulary=pieces, lowercase=True, max_tokens=128, weights_hash=""
        ... ).mode
        'none'
    """

    extractor: BertModel
    vocabulary: tuple[str, ...]
    lowercase: bool
    max_tokens: int
    weights_hash: str

    @property
    def mode(self) -> str:
        """Always ``none``: the vector needs no bound, since only a randomized label leaves the device."""
        return NO_BOUND

    @property
    def head(self) -> Arrays:
        """Always empty: there are no layers after pooling."""
        return {}


def export_onnx_parts(
    model: PooledModel,
    texts: Sequence[tuple[int, str]],
    decide: DecisionFunction,
    scratch: Path,
    *,
    recipes: Sequence[Int8Recipe] | None = None,
    max_changed: float | None = None,
    progress: Progress = ignore_progress,
) -> tuple[OnnxExtractorData, dict[str, Any]]:
    """Export a model to ONNX, and quantize it to int8 with the first options that are accurate and small enough.

    Args:
        model: The model.
        texts: Sample of texts: index of the class, and text. Use ``MIN_SAMPLE`` texts or more.
        decide: The classifier of the vectors.
        scratch: An empty folder for temporary graphs, which the caller deletes afterwards.
        recipes: Options of quantization in order of preference; ``None`` for all whose tools are installed.
        max_changed: Largest share of decisions that int8 may change, from 0 to 1, for texts without classes; the
            function then ignores the classes of the sample. ``None`` compares accuracies.
        progress: Callback that takes the name of a stage, the number of its finished steps, and their total number.

    Returns:
        The extractor, and figures of the selected recipe.

    Raises:
        ExportError: The packages of the extra ``encoder`` are missing, or a tool refuses the model.
        ParityError: The graph and PyTorch differ.
        SizeError: No graph is small enough.
        AccuracyError: Each graph that is small enough loses more than half a point of accuracy on the sample, or
            changes too many decisions.

    Example:
        >>> import tempfile
        >>> from transformers import BertConfig
        >>> size = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32}
        >>> pieces = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "goal", "price")
        >>> extractor = BertModel(BertConfig(vocab_size=len(pieces), **size), add_pooling_layer=False).eval()
        >>> model = PooledModel(
        ...     extractor=extractor, vocabulary=pieces, lowercase=True, max_tokens=128, weights_hash=""
        ... )
        >>> sample = [(0, "goal goal"), (1, "price")] * 25
        >>> with tempfile.TemporaryDirectory() as scratch:
        ...     parts, _ = export_onnx_parts(
        ...         model, sample, lambda vectors: vectors.argmax(axis=1), Path(scratch), max_changed=1.0
        ...     )
        >>> parts.dimension
        16
    """
    source = scratch / "float32.onnx"
    progress("exporting the graph", 0, 1)
    parity = export_graph(model, source)
    progress("exporting the graph", 1, 1)
    sample = encode_texts(texts, model.vocabulary, model)
    expected = decide(compute_vectors(DeviceSession(source), sample, "float32 vectors", progress))
    room = MAX_BYTES - sum(len(piece.encode()) + 1 for piece in model.vocabulary) - RESERVED_BYTES
    refusals: list[str] = []
    for recipe in list_available_recipes() if recipes is None else recipes:
        if recipe.attention:  # measured for comparison only
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
            parts = OnnxExtractorData(
                model=path.read_bytes(),
                vocabulary=vocabulary,
                lowercase=model.lowercase,
                max_tokens=model.max_tokens,
                dimension=width,
            )
            return parts, {**record, "onnx_parity_max": float(f"{parity:.1g}")}
        refusals.append(f"{recipe.name}: {reason}")
    if any(not reason.endswith("MB") for reason in refusals):
        raise AccuracyError(
            f"each int8 recipe within the size limit loses too much accuracy ({refusals[0]}; {len(refusals)} tried): "
            "use another encoder"
        )
    raise SizeError(f"no int8 graph fits into {room / 1e6:.1f} MB ({refusals[0]}): use a smaller encoder")


def _measure_accuracy(sample: TokenizedTexts, expected: NDArray[np.intp], actual: NDArray[np.intp]) -> dict[str, Any]:
    """Compare the decisions of float32 and int8 on labeled texts.

    Args:
        sample: Labeled texts.
        expected: Class of each text by the float32 model.
        actual: Class of each text by the int8 model.

    Returns:
        The share of equal decisions, and the accuracies of float32 and of int8.
    """
    return {
        **_measure_agreement(expected, actual),
        "accuracy_float32": round(float(np.mean(expected == sample.labels)), 6),
        "accuracy": round(float(np.mean(actual == sample.labels)), 6),
    }


def _measure_agreement(expected: NDArray[np.intp], actual: NDArray[np.intp]) -> dict[str, Any]:
    """Compare the decisions of float32 and int8 on texts without classes.

    Args:
        expected: Class of each text by the float32 model.
        actual: Class of each text by the int8 model.

    Returns:
        The number of texts, and the share of equal decisions.
    """
    return {"sample_texts": len(expected), "agreement": round(float(np.mean(actual == expected)), 6)}


def _find_refusal(figures: dict[str, Any], max_changed: float | None) -> str | None:
    """Return the reason to reject an int8 graph, or ``None`` if the graph is accurate enough.

    Args:
        figures: Result of ``_measure_accuracy`` or ``_measure_agreement``.
        max_changed: Largest share of changed decisions; ``None`` to compare accuracies.
    """
    if max_changed is not None:
        changed = round(1 - figures["agreement"], 6)
        return None if changed <= max_changed else f"{100 * changed:.2f} % of the decisions changed"
    if is_allowed_loss(figures["accuracy_float32"], figures["accuracy"]):
        return None
    return f"{100 * (figures['accuracy_float32'] - figures['accuracy']):.2f} points lost"
