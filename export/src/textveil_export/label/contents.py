"""Hold a label bundle (data for randomized class labels of texts) in memory, read one, and quantize its model."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load as load_tensors
from textveil.bundle import (
    ExpectedBundle,
    HeldOutCounts,
    LabelBundle,
    OnnxExtractorData,
    StaticExtractorData,
    layout,
    open_bundle,
    read_hashed_file,
)
from textveil.mechanisms.staircase import LabelStaircase
from textveil_cli.aggregation import compute_condition_number

Float32Array = NDArray[np.float32]
#: Largest absolute value in a quantized row.
_INT8_LIMIT = 127


@dataclass(frozen=True, kw_only=True)
class LabelBundleContents:
    """Content of a label bundle (data folder for randomized class labels of texts) in memory.

    Attributes:
        name: Name of the bundle, as ``textveil info`` prints it.
        labels: Name of each class or cluster.
        extractor: Model that converts a text to a vector.
        weight: Linear map from a vector to scores of the classes, shape ``(classes, dimension)``.
        bias: Constants that are added to the scores, shape ``(classes,)``.
        randomizers: Tables of the probabilities with which a label is replaced by another one. Each name maps to a
            tuple with one table for each epsilon, the smallest epsilon first.
        default: Name of the randomizer, and the epsilon, for users who choose none.
        kind: ``CLASS_LABELS`` (classes) or ``CLUSTER_LABELS`` (clusters).
        probabilities: Matrices ``P(label | randomized label)``, shape ``(classes, classes)``, with the keys
            ``randomizer.epsilon``.
        held_out: Counts of the model's decisions on texts outside the training data, by label; ``None`` without labels.
        sentences: Public sentences of each class, equally many for each; empty for a bundle without sentences.
        license: SPDX expression, if known.
        provenance: Origin of data and weights, for the model card (README).
        measured: Measured accuracies and numbers of texts, for the model card.

    Example:
        >>> import numpy as np
        >>> parts = quantize_static_parts({"good": 0}, np.ones((3, 2), np.float32), np.ones((1, 2), np.float32), 100)
        >>> weight, bias = np.eye(2, dtype=np.float32), np.zeros(2, np.float32)
        >>> contents = LabelBundleContents(
        ...     name="tiny", labels=("no", "yes"), extractor=parts, weight=weight, bias=bias, randomizers={},
        ...     default=("counts", "2"),
        ... )
        >>> contents.kind == layout.CLASS_LABELS
        True
    """

    name: str
    labels: tuple[str, ...]
    extractor: StaticExtractorData | OnnxExtractorData
    weight: Float32Array
    bias: Float32Array
    randomizers: dict[str, tuple[LabelStaircase, ...]]
    default: tuple[str, str]
    kind: str = layout.CLASS_LABELS
    probabilities: dict[str, Float32Array] = field(default_factory=dict)
    held_out: HeldOutCounts | None = None
    sentences: tuple[tuple[str, ...], ...] = ()
    license: str = "not stated"
    provenance: dict[str, Any] = field(default_factory=dict)
    measured: dict[str, Any] = field(default_factory=dict)


def quantize_static_parts(
    words: dict[str, int], word_rows: Float32Array, pair_rows: Float32Array, max_characters: int
) -> StaticExtractorData:
    """Round the vectors of words and of word pairs to int8, with one scale for words and one for word pairs.

    The vectors are the parameters of a static extractor: a model that represents a text by its words and word pairs. A
    scale covers 99.99 % of the numbers; the function clips larger ones.

    Args:
        words: Row index of each word, consecutive from 0.
        word_rows: Vectors of the words, shape ``(words + 2, dimension)``.
        pair_rows: Vectors of word pairs, shape ``(pairs, dimension)``.
        max_characters: Number of characters to which a device cuts texts.

    Example:
        >>> import numpy as np
        >>> rows = np.array([[1.0, -0.5], [0.0, 1.0], [0.25, 0.0]], np.float32)
        >>> quantize_static_parts({"good": 0}, rows, rows[:1], 100).word_rows.tolist()
        [[127, -64], [0, 127], [32, 0]]
    """
    quantized = [_quantize_to_int8(rows) for rows in (word_rows, pair_rows)]
    scales = np.array([scale for _, scale in quantized], dtype=np.float32)
    return StaticExtractorData(
        words=words,
        word_rows=quantized[0][0],
        pair_rows=quantized[1][0],
        scales=scales,
        max_characters=max_characters,
    )


def make_certificate(randomizers: dict[str, tuple[LabelStaircase, ...]]) -> list[dict[str, Any]]:
    """Return the manifest entries that state each epsilon, with the integers that prove it.

    Args:
        randomizers: Tables with which labels are replaced at random: by name, one table for each epsilon.

    Example:
        >>> from textveil_export.label import make_integer_randomizer
        >>> level = make_integer_randomizer("counts", [[0.75, 0.25], [0.25, 0.75]], "2")
        >>> [entry["epsilon"] for entry in make_certificate({"counts": (level,)})]
        ['2']
    """
    return [
        {
            "randomizer": name,
            "epsilon": f"{staircase.level.epsilon:f}",
            "base_sum": staircase.base_sum,
            "budget": staircase.budget,
            "factor": staircase.factor,
            "labels": int((staircase.base > 0).sum()),
            "near_probability": float(f"{staircase.near_probability:.6g}"),
            "guess_gain": float(f"{staircase.guess_gain:.6g}"),
            "condition": float(f"{compute_condition_number(staircase):.6g}")
            if np.isfinite(compute_condition_number(staircase))
            else None,
        }
        for name, levels in randomizers.items()
        for staircase in levels
    ]


def _quantize_to_int8(rows: Float32Array) -> tuple[NDArray[np.int8], float]:
    """Round rows to int8 with one scale for all; return the int8 rows and the scale."""
    sizes = np.abs(rows[rows != 0])
    largest = float(np.quantile(sizes, 0.9999)) if sizes.size else 1.0
    scale = largest / _INT8_LIMIT
    return np.clip(np.rint(rows / scale), -_INT8_LIMIT, _INT8_LIMIT).astype(np.int8), scale


def read_label_contents(folder: Path, **pins: Unpack[ExpectedBundle]) -> LabelBundleContents:
    """Read a label bundle (data for randomized class labels) into memory, to write it again with changes.

    ``write_label_bundle`` writes the same extractor, classes, randomizers and probabilities byte for byte.

    Args:
        folder: The bundle.
        **pins: Expected properties of the bundle, with the names and types of ``textveil.bundle.open_bundle``.

    Raises:
        BundleError: The folder has no label bundle, or a damaged one.

    Example:
        >>> read_label_contents(Path("labels")).labels
        ('business', 'sport', 'health')
    """
    bundle = open_bundle(folder, LabelBundle, **pins)
    manifest, level = bundle.manifest, bundle.default_randomizer.level
    shares = manifest["files"].get(layout.LABEL_PROBABILITIES)
    return LabelBundleContents(
        name=str(manifest.get("name")),
        labels=bundle.labels,
        extractor=bundle.extractor,
        weight=bundle.weight,
        bias=bundle.bias,
        randomizers=bundle.randomizers,
        default=(level.name, f"{level.epsilon:f}"),
        kind=bundle.label_type,
        probabilities={}
        if shares is None
        else load_tensors(read_hashed_file(folder / layout.LABEL_PROBABILITIES, shares["sha256"])),
        held_out=bundle.held_out,
        sentences=bundle.sentences,
        license=str(manifest.get("license")),
        provenance=manifest.get("provenance", {}),
        measured=manifest.get("measurements", {}),
    )
