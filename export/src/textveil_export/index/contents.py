"""An index bundle in memory, and the integers of its extractor."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load as load_tensors
from textveil.bundle import HeldOut, IndexBundle, OnnxParts, Pins, StaticParts, layout, open_bundle, read_checked
from textveil.mechanisms.staircase import IndexStaircase
from textveil_cli.collector import condition

Float32Array = NDArray[np.float32]
#: Largest absolute value of an int8 row.
_INT8_LIMIT = 127


@dataclass(frozen=True, kw_only=True)
class IndexContents:
    """Everything that an index bundle is made from.

    Attributes:
        name: Its name, as ``textveil info`` prints it.
        labels: Name of every code.
        extractor: From a text to a vector.
        weight: From vector to scores of the codes, shape ``(codes, dimension)``.
        bias: Added to them, shape ``(codes,)``.
        channels: The levels of every channel, epsilon ascending.
        default: Channel and epsilon that are meant where none is given.
        kind: ``DECISION`` or ``CODEBOOK``.
        probabilities: ``P(label | index)`` by ``channel.epsilon``, shape ``(codes, codes)``.
        held_out: Decisions on texts that the extractor was not trained on, by label; None if there are no labels.
        sentences: Public sentences of each code, as many of one as of another; empty if there are none.
        license: SPDX expression, or what is known.
        provenance: Where data and weights come from, for people.
        measured: Figures for people, as ``format_index_card`` reads them.
    """

    name: str
    labels: tuple[str, ...]
    extractor: StaticParts | OnnxParts
    weight: Float32Array
    bias: Float32Array
    channels: dict[str, tuple[IndexStaircase, ...]]
    default: tuple[str, str]
    kind: str = layout.DECISION
    probabilities: dict[str, Float32Array] = field(default_factory=dict)
    held_out: HeldOut | None = None
    sentences: tuple[tuple[str, ...], ...] = ()
    license: str = "not stated"
    provenance: dict[str, Any] = field(default_factory=dict)
    measured: dict[str, Any] = field(default_factory=dict)


def quantize_static_parts(
    words: dict[str, int], word_rows: Float32Array, pair_rows: Float32Array, max_characters: int
) -> StaticParts:
    """Rounds the rows of a static extractor to int8, with one scale for words and one for pairs.

    A scale covers all but one in 10,000 numbers; those beyond are cut off.

    Args:
        words: Row by word, ascending from 0.
        word_rows: Shape ``(words + 2, dimension)``.
        pair_rows: Shape ``(pairs, dimension)``.
        max_characters: Longer texts are cut.
    """
    quantized = [_quantize_to_int8(rows) for rows in (word_rows, pair_rows)]
    scales = np.array([scale for _, scale in quantized], dtype=np.float32)
    return StaticParts(
        words=words,
        word_rows=quantized[0][0],
        pair_rows=quantized[1][0],
        scales=scales,
        max_characters=max_characters,
    )


def make_certificate(channels: dict[str, tuple[IndexStaircase, ...]]) -> list[dict[str, Any]]:
    """Returns the integers of every channel that its bound is about, and what they say of it, for the manifest."""
    return [
        {
            "channel": name,
            "epsilon": f"{staircase.level.epsilon:f}",
            "base_sum": staircase.base_sum,
            "budget": staircase.budget,
            "factor": staircase.factor,
            "indices": int((staircase.base > 0).sum()),
            "p_near": float(f"{staircase.near:.6g}"),
            "guess_gain": float(f"{staircase.guess_gain:.6g}"),
            "condition": float(f"{condition(staircase):.6g}") if np.isfinite(condition(staircase)) else None,
        }
        for name, levels in channels.items()
        for staircase in levels
    ]


def _quantize_to_int8(rows: Float32Array) -> tuple[NDArray[np.int8], float]:
    sizes = np.abs(rows[rows != 0])
    largest = float(np.quantile(sizes, 0.9999)) if sizes.size else 1.0
    scale = largest / _INT8_LIMIT
    return np.clip(np.rint(rows / scale), -_INT8_LIMIT, _INT8_LIMIT).astype(np.int8), scale


def read_index_contents(folder: Path, **pins: Unpack[Pins]) -> IndexContents:
    """Reads a bundle. ``write_index`` makes the same extractor, codes, channels and probabilities of it, byte for byte.

    Args:
        folder: The bundle.
        pins: What it must be, as ``open_bundle`` takes them.

    Raises:
        BundleError: There is no index bundle, or it is damaged.
    """
    bundle = open_bundle(folder, IndexBundle, **pins)
    manifest, level = bundle.manifest, bundle.default.level
    shares = manifest["files"].get(layout.LABELS)
    return IndexContents(
        name=str(manifest.get("name")),
        labels=bundle.labels,
        extractor=bundle.extractor,
        weight=bundle.weight,
        bias=bundle.bias,
        channels=bundle.channels,
        default=(level.name, f"{level.epsilon:f}"),
        kind=bundle.codes_are,
        probabilities={} if shares is None else load_tensors(read_checked(folder / layout.LABELS, shares["sha256"])),
        held_out=bundle.held_out,
        sentences=bundle.sentences,
        license=str(manifest.get("licence")),
        provenance=manifest.get("provenance", {}),
        measured=manifest.get("measured", {}),
    )
