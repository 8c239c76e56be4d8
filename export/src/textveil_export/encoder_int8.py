"""Ways to make an encoder's graph int8, each measured on real text: presets are not trusted, their order flips.

Weights become 8-bit integers, activations are quantised while the model runs. The head stays float32: it is a
hundredth of the file, and everything the vector can lose is lost there. Products of two activations inside attention
stay float32 too, except in the candidates that show what they cost.
"""

import logging
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from textveil_export.encoder_checkpoint import Arrays
from textveil_export.encoder_evaluation import Texts, classify, vectors
from textveil_export.encoder_onnx import strip
from textveil_export.encoder_session import Session
from textveil_export.errors import ExportError
from textveil_export.sources import Progress, no_progress

_EMBEDDINGS, _HEAD = "words.weight", "/head/"
_TIMED, _ROUNDS = 11, 4


@dataclass(frozen=True)
class Int8Recipe:
    """One way to quantise.

    Attributes:
        weights: ``s8`` or ``u8``.
        per_channel: One scale for every output of a matrix, instead of one for the whole of it.
        reduce_range: Use 7 bits, for processors whose 8-bit products saturate.
        embeddings: ``row``: int8 with one scale for every piece; ``tensor``: one scale for all; ``float32``: as is.
        attention: Whether products of two activations are quantised as well.
        tool: ``onnxruntime`` or ``optimum``.
    """

    weights: str = "s8"
    per_channel: bool = True
    reduce_range: bool = False
    embeddings: str = "row"
    attention: bool = False
    tool: str = "onnxruntime"

    @property
    def name(self) -> str:
        """A short name for tables."""
        parts = [self.weights, "channel" if self.per_channel else "tensor", "7 bit" if self.reduce_range else ""]
        parts += [f"embeddings {self.embeddings}", "attention" if self.attention else ""]
        return ", ".join([part for part in parts if part] + ([self.tool] if self.tool == "optimum" else []))


#: All candidates: every choice for the weights, then one thing at a time against the first of them.
RECIPES: tuple[Int8Recipe, ...] = (
    *(Int8Recipe(w, c, r) for w in ("s8", "u8") for c in (True, False) for r in (False, True)),
    Int8Recipe(embeddings="tensor"),
    Int8Recipe(embeddings="float32"),
    Int8Recipe(attention=True),
    Int8Recipe(embeddings="tensor", tool="optimum"),
    Int8Recipe(embeddings="tensor", attention=True, tool="optimum"),
)


#: A candidate: how it is made, and whether the session key ``session.x64quantprecision`` is on.
Key = tuple[Int8Recipe, bool]


@dataclass(frozen=True)
class Measured:
    """A candidate and what it does on real texts, without noise, against the float32 graph.

    Attributes:
        recipe: How it was made.
        precise: Whether the session key ``session.x64quantprecision`` was on.
        model_bytes: Size of the graph.
        deviation_mean: Mean over texts of |f_int8(x) - f(x)|_1, where |f(x)|_1 is at most the radius (``l1``).
        deviation_p99: 99th percentile of it.
        accuracy: Share of texts classified correctly without noise.
        agreement: Share of texts that get the same label as in float32.
        latency_ms: Time of a text of median length, on one core.
    """

    recipe: Int8Recipe
    precise: bool
    model_bytes: int
    deviation_mean: float
    deviation_p99: float
    accuracy: float
    agreement: float
    latency_ms: float

    def as_json(self) -> dict[str, Any]:
        """The figures with a name, for the manifest."""
        return {
            "recipe": self.recipe.name,
            "x64quantprecision": self.precise,
            "model_bytes": self.model_bytes,
            "deviation_l1_mean": round(self.deviation_mean, 5),
            "deviation_l1_p99": round(self.deviation_p99, 5),
            "accuracy": round(self.accuracy, 4),
            "agreement": round(self.agreement, 4),
            "latency_ms_median": round(self.latency_ms, 2),
        }


def quantise(source: Path, recipe: Int8Recipe, target: Path) -> None:
    """Writes the int8 graph of a recipe.

    Args:
        source: The float32 graph.
        recipe: How to quantise.
        target: The file to write.

    Raises:
        ExportError: The packages of the ``encoder`` extra are missing.
    """
    with _quiet():
        (_with_optimum if recipe.tool == "optimum" else _with_onnxruntime)(source, recipe, target)
    graph = onnx.load(target)
    if recipe.embeddings == "row":
        _quantise_rows(graph)
    strip(graph)
    onnx.save(graph, target)


def measure(
    source: Path,
    texts: Texts,
    classifier: Arrays,
    epsilon: float,
    folder: Path,
    *,
    recipes: Sequence[Int8Recipe] = RECIPES,
    progress: Progress = no_progress,
) -> dict[Key, Measured]:
    """Makes and measures candidates.

    Args:
        source: The float32 graph.
        texts: Real texts; a few hundred are enough.
        classifier: The server's classifier.
        epsilon: The whole-text epsilon that the classifier is told: the largest level, since no noise is added.
        folder: Where the graphs go, by ``graph_name``.
        recipes: The candidates.
        progress: Called after every candidate.

    Returns:
        By recipe and by the session key; the key is switched off for candidates with s8 weights of 8 bits only.
    """
    expected = vectors(Session(source), texts)
    decided = classify(classifier, expected, epsilon)
    found: dict[Key, Measured] = {}
    sessions: dict[Key, Session] = {}
    for number, recipe in enumerate(recipes, 1):
        path = folder / graph_name(recipe)
        quantise(source, recipe, path)
        may_saturate = recipe.weights == "s8" and not recipe.reduce_range and recipe.tool == "onnxruntime"
        for precise in (True, False) if may_saturate else (True,):
            session = sessions[recipe, precise] = Session(path, precise=precise)
            got = vectors(session, texts)
            labels = classify(classifier, got, epsilon)
            deviation = np.abs(got - expected).sum(axis=1)
            found[recipe, precise] = Measured(
                recipe,
                precise,
                path.stat().st_size,
                float(deviation.mean()),
                float(np.quantile(deviation, 0.99)),
                float(np.mean(labels == texts.labels)),
                float(np.mean(labels == decided)),
                float("nan"),
            )
        progress("measuring int8 recipes", number, len(recipes))
    return {
        key: replace(found[key], latency_ms=latency)
        for key, latency in _latencies(sessions, texts.take(_TIMED)).items()
    }


def by_preference(measured: dict[Key, Measured], room: int) -> list[Measured]:
    """Candidates that fit, best first.

    Of those within 5 % of the smallest file, and of these within 25 % of the least deviation, the fastest; then the
    same among the rest. Candidates with quantised attention products are there for comparison only.

    Args:
        measured: What ``measure`` returned; the session key is as devices set it.
        room: Bytes that the graph may take.
    """
    left = [m for m in measured.values() if m.precise and not m.recipe.attention and m.model_bytes <= room]
    order: list[Measured] = []
    while left:
        small = [m for m in left if m.model_bytes <= 1.05 * min(m.model_bytes for m in left)]
        near = [m for m in small if m.deviation_mean <= 1.25 * min(m.deviation_mean for m in small)]
        best = min(near, key=lambda m: m.latency_ms)
        order.append(best)
        left.remove(best)
    return order


def graph_name(recipe: Int8Recipe) -> str:
    """File name of a candidate."""
    return recipe.name.replace(", ", "-").replace(" ", "-") + ".onnx"


def _with_onnxruntime(source: Path, recipe: Int8Recipe, target: Path) -> None:
    from onnxruntime.quantization import QuantType, quantize_dynamic

    quantize_dynamic(
        source,
        target,
        op_types_to_quantize=_operators(recipe),
        per_channel=recipe.per_channel,
        reduce_range=recipe.reduce_range,
        weight_type=QuantType.QInt8 if recipe.weights == "s8" else QuantType.QUInt8,
        nodes_to_exclude=_kept_nodes(source, recipe),
        extra_options={"MatMulConstBOnly": not recipe.attention},
    )


def _with_optimum(source: Path, recipe: Int8Recipe, target: Path) -> None:
    try:
        from optimum.onnxruntime import ORTQuantizer
        from optimum.onnxruntime.configuration import AutoQuantizationConfig
    except ImportError as error:
        raise ExportError("optimum is missing: pip install 'textveil-export[encoder]'") from error
    configuration = AutoQuantizationConfig.avx512_vnni(
        is_static=False,
        per_channel=recipe.per_channel,
        operators_to_quantize=_operators(recipe),
        nodes_to_exclude=_kept_nodes(source, recipe),
    )
    folder = target.parent / f"{target.stem}.optimum"
    ORTQuantizer(source).quantize(configuration, folder, file_suffix="int8")
    (folder / f"{source.stem}_int8.onnx").replace(target)


def _operators(recipe: Int8Recipe) -> list[str]:
    return ["MatMul", "Gather"] if recipe.embeddings == "tensor" else ["MatMul"]


def _kept_nodes(source: Path, recipe: Int8Recipe) -> list[str]:
    """Nodes that stay float32: the head, and products of two activations."""
    graph = onnx.load(source).graph
    stored = {tensor.name for tensor in graph.initializer}
    # Quantisers turn a Gemm into a MatMul of this name before they look at the list.
    kept = [f"{node.name}_MatMul" for node in graph.node if node.op_type == "Gemm"]
    kept += [node.name for node in graph.node if node.name.startswith(_HEAD)]
    if not recipe.attention:
        kept += [n.name for n in graph.node if n.op_type == "MatMul" and not stored & set(n.input)]
    return kept


def _quantise_rows(model: onnx.ModelProto) -> None:
    """Replaces the float32 embeddings by int8 rows with one float32 scale each: row = scale * integers.

    A gathered row is cast and multiplied by its gathered scale; the largest element of a row becomes 127.
    """
    graph = model.graph
    (matrix,) = [tensor for tensor in graph.initializer if tensor.name == _EMBEDDINGS]
    (node,) = [node for node in graph.node if node.op_type == "Gather" and node.input[0] == _EMBEDDINGS]
    rows: NDArray[np.float32] = numpy_helper.to_array(matrix)
    largest = np.abs(rows).max(axis=1, keepdims=True)
    scales = np.where(largest > 0, largest / 127, 1).astype(np.float32)
    integers = np.rint(rows / scales).astype(np.int8)
    graph.initializer.remove(matrix)
    graph.initializer.extend(
        [numpy_helper.from_array(integers, "words.rows"), numpy_helper.from_array(scales, "words.scales")]
    )
    ids, result = node.input[1], node.output[0]
    place = list(graph.node).index(node)
    graph.node.remove(node)
    for offset, new in enumerate(
        [
            helper.make_node("Gather", ["words.rows", ids], ["words.integers"], name="/words/Gather"),
            helper.make_node("Cast", ["words.integers"], ["words.floats"], name="/words/Cast", to=TensorProto.FLOAT),
            helper.make_node("Gather", ["words.scales", ids], ["words.scale"], name="/words/Scale"),
            helper.make_node("Mul", ["words.floats", "words.scale"], [result], name="/words/Mul"),
        ]
    ):
        graph.node.insert(place + offset, new)


def _latencies(sessions: dict[Key, Session], texts: Texts) -> dict[Key, float]:
    """Milliseconds by candidate: median over texts of the best of some rounds; candidates take turns, so that
    whatever else the machine does hits them alike."""
    best = {key: np.full(len(texts.ids), np.inf) for key in sessions}
    for _ in range(_ROUNDS):
        for number, ids in enumerate(texts.ids):
            for key, session in sessions.items():
                start = time.perf_counter()
                session(ids)
                best[key][number] = min(best[key][number], time.perf_counter() - start)
    return {key: 1000 * float(np.median(times)) for key, times in best.items()}


@contextmanager
def _quiet() -> Iterator[None]:
    """Quantisers advise on the root logger; what they advise has been measured."""
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        yield
    finally:
        logging.disable(before)
