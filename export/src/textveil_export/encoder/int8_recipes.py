"""Ways to make an encoder's graph int8.

Weights become 8-bit integers, activations are quantized while the model runs. The head stays float32: it is a
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

from textveil_export.encoder.checkpoint import Arrays
from textveil_export.encoder.device_cost import use_one_thread
from textveil_export.encoder.evaluation import LabeledTexts, VectorFunction, classify_vectors, compute_vectors
from textveil_export.encoder.onnx_graph import DeviceSession, strip_metadata
from textveil_export.errors import ExportError
from textveil_export.progress import Progress, ignore_progress
from textveil_export.text.quantize import quantize_rows

_EMBEDDINGS, _HEAD = "words.weight", "/head/"


@dataclass(frozen=True, kw_only=True)
class Int8Recipe:
    """One way to quantize.

    Attributes:
        weights: ``s8`` or ``u8``.
        per_channel: One scale for every output of a matrix, instead of one for the whole of it.
        reduce_range: Use 7 bits, for processors whose 8-bit products saturate.
        embeddings: ``row``: int8 with one scale for every piece; ``tensor``: one scale for all; ``float32``: as is.
        attention: Whether products of two activations are quantized as well.
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


#: All candidates, the preferred one first. One scale for every output of a matrix comes before one for the whole of it,
#: which deviates two to four times as much; s8 before u8, whose kernels are slow; 7 bits before 8, since 7 bits cannot
#: saturate on any processor and run at full speed on all. Then one thing at a time against the 8-bit s8 recipe; those
#: with quantized attention products are measured for comparison only. The order rests on the measurements in
#: docs/decisions/0009-encoder-export.md. It is fixed: what ships must not depend on the clock of the exporting machine.
RECIPES: tuple[Int8Recipe, ...] = (
    *(
        Int8Recipe(weights=w, per_channel=c, reduce_range=r)
        for c in (True, False)
        for w in ("s8", "u8")
        for r in (True, False)
    ),
    Int8Recipe(embeddings="tensor"),
    Int8Recipe(embeddings="float32"),
    Int8Recipe(embeddings="tensor", tool="optimum"),
    Int8Recipe(attention=True),
    Int8Recipe(embeddings="tensor", attention=True, tool="optimum"),
)


def quantize_graph(source: Path, recipe: Int8Recipe, target: Path) -> None:
    """Writes the int8 graph of a recipe.

    Args:
        source: The float32 graph.
        recipe: How to quantize.
        target: The file to write.

    Raises:
        ExportError: The packages of the ``encoder`` extra are missing.
    """
    with _silence_quantizers():
        (_quantize_with_optimum if recipe.tool == "optimum" else _quantize_with_onnxruntime)(source, recipe, target)
    graph = onnx.load(target)
    if recipe.embeddings == "row":
        _quantize_embeddings(graph)
    strip_metadata(graph)
    onnx.save(graph, target)


def make_graph_name(recipe: Int8Recipe) -> str:
    """Returns file name of a candidate."""
    return recipe.name.replace(", ", "-").replace(" ", "-") + ".onnx"


def _quantize_with_onnxruntime(source: Path, recipe: Int8Recipe, target: Path) -> None:
    from onnxruntime.quantization import QuantType, quantize_dynamic

    quantize_dynamic(
        source,
        target,
        op_types_to_quantize=_list_operators(recipe),
        per_channel=recipe.per_channel,
        reduce_range=recipe.reduce_range,
        weight_type=QuantType.QInt8 if recipe.weights == "s8" else QuantType.QUInt8,
        nodes_to_exclude=_list_float32_nodes(source, recipe),
        extra_options={"MatMulConstBOnly": not recipe.attention},
    )


def _quantize_with_optimum(source: Path, recipe: Int8Recipe, target: Path) -> None:
    try:
        from optimum.onnxruntime import ORTQuantizer
        from optimum.onnxruntime.configuration import AutoQuantizationConfig
    except ImportError as error:
        raise ExportError(
            "optimum is missing: "
            "install textveil-export with the extra encoder (in a clone: pip install './export[encoder]')"
        ) from error
    configuration = AutoQuantizationConfig.avx512_vnni(
        is_static=False,
        per_channel=recipe.per_channel,
        operators_to_quantize=_list_operators(recipe),
        nodes_to_exclude=_list_float32_nodes(source, recipe),
    )
    folder = target.parent / f"{target.stem}.optimum"
    ORTQuantizer(source).quantize(configuration, folder, file_suffix="int8")
    (folder / f"{source.stem}_int8.onnx").replace(target)


def _list_operators(recipe: Int8Recipe) -> list[str]:
    return ["MatMul", "Gather"] if recipe.embeddings == "tensor" else ["MatMul"]


def _list_float32_nodes(source: Path, recipe: Int8Recipe) -> list[str]:
    """Nodes that stay float32: the head, and products of two activations."""
    graph = onnx.load(source).graph
    stored = {tensor.name for tensor in graph.initializer}
    # Quantizers turn a Gemm into a MatMul of this name before they look at the list.
    excluded = [f"{node.name}_MatMul" for node in graph.node if node.op_type == "Gemm"]
    excluded += [node.name for node in graph.node if node.name.startswith(_HEAD)]
    if not recipe.attention:
        excluded += [n.name for n in graph.node if n.op_type == "MatMul" and not stored & set(n.input)]
    return excluded


def _quantize_embeddings(model: onnx.ModelProto) -> None:
    """Replaces the float32 embeddings by int8 rows with one float32 scale each: row = scale * integers.

    A gathered row is cast and multiplied by its gathered scale; the largest element of a row becomes 127.
    """
    graph = model.graph
    (matrix,) = [tensor for tensor in graph.initializer if tensor.name == _EMBEDDINGS]
    (node,) = [node for node in graph.node if node.op_type == "Gather" and node.input[0] == _EMBEDDINGS]
    rows: NDArray[np.float32] = numpy_helper.to_array(matrix)
    integers, scales = quantize_rows(rows)
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


@contextmanager
def _silence_quantizers() -> Iterator[None]:
    """Quantizers advise on the root logger; what they advise has been measured."""
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        yield
    finally:
        logging.disable(before)


_TIMED_TEXTS, _ROUNDS = 11, 4

#: Texts that recipes are measured on, at least, where there are so many.
MIN_SAMPLE = 1000

#: A candidate: how it is made, and whether the session key ``session.x64quantprecision`` is on.
RecipeKey = tuple[Int8Recipe, bool]


@dataclass(frozen=True, kw_only=True)
class RecipeMeasurement:
    """A candidate and what it does on real texts, without noise, against the float32 graph.

    Attributes:
        recipe: How it was made.
        precise: Whether the session key ``session.x64quantprecision`` was on.
        model_bytes: Size of the graph.
        deviation_mean: Mean over texts of |f_int8(x) - f(x)|_1, where |f(x)|_1 is at most the radius (``l1``).
        deviation_p99: 99th percentile of it.
        accuracy: Share of texts classified correctly without noise.
        agreement: Share of texts that get the same label as in float32.
        speed: How many times as fast as torch in float32 it is on a text of median length, in turns on one core.
    """

    recipe: Int8Recipe
    precise: bool
    model_bytes: int
    deviation_mean: float
    deviation_p99: float
    accuracy: float
    agreement: float
    speed: float

    def as_json(self) -> dict[str, Any]:
        """Returns the figures with a name, for the manifest."""
        return {
            "recipe": self.recipe.name,
            "x64quantprecision": self.precise,
            "model_bytes": self.model_bytes,
            "deviation_l1_mean": round(self.deviation_mean, 5),
            "deviation_l1_p99": round(self.deviation_p99, 5),
            "accuracy": round(self.accuracy, 4),
            "agreement": round(self.agreement, 4),
            "times_as_fast_as_torch": round(self.speed, 2),
        }


def measure_recipes(
    source: Path,
    texts: LabeledTexts,
    classifier: Arrays,
    epsilon: float,
    folder: Path,
    reference: VectorFunction,
    *,
    recipes: Sequence[Int8Recipe] = RECIPES,
    progress: Progress = ignore_progress,
) -> dict[RecipeKey, RecipeMeasurement]:
    """Makes and measures candidates.

    Args:
        source: The float32 graph.
        texts: Real texts; ``MIN_SAMPLE`` of them are meant.
        classifier: The server's classifier.
        epsilon: The whole-text epsilon that the classifier is told: the largest level, since no noise is added.
        folder: Where the graphs go, by ``make_graph_name``.
        reference: The same function by torch: times are ratios to it.
        recipes: The candidates.
        progress: Called after every candidate.

    Returns:
        By recipe and by the session key; the key is switched off for candidates with s8 weights of 8 bits only.
    """
    expected = compute_vectors(DeviceSession(source), texts)
    expected_labels = classify_vectors(classifier, expected, epsilon)
    measurements: dict[RecipeKey, RecipeMeasurement] = {}
    sessions: dict[RecipeKey, DeviceSession] = {}
    for number, recipe in enumerate(recipes, 1):
        path = folder / make_graph_name(recipe)
        quantize_graph(source, recipe, path)
        may_saturate = recipe.weights == "s8" and not recipe.reduce_range and recipe.tool == "onnxruntime"
        for precise in (True, False) if may_saturate else (True,):
            session = sessions[recipe, precise] = DeviceSession(path, precise=precise)
            shipped = compute_vectors(session, texts)
            labels = classify_vectors(classifier, shipped, epsilon)
            deviation = np.abs(shipped - expected).sum(axis=1)
            measurements[recipe, precise] = RecipeMeasurement(
                recipe=recipe,
                precise=precise,
                model_bytes=path.stat().st_size,
                deviation_mean=float(deviation.mean()),
                deviation_p99=float(np.quantile(deviation, 0.99)),
                accuracy=float(np.mean(labels == texts.labels)),
                agreement=float(np.mean(labels == expected_labels)),
                speed=float("nan"),
            )
        progress("measuring int8 recipes", number, len(recipes))
    return {
        key: replace(measurements[key], speed=speed)
        for key, speed in _measure_speeds(sessions, reference, texts.sample_evenly(_TIMED_TEXTS)).items()
    }


def select_candidates(measured: dict[RecipeKey, RecipeMeasurement], room: int) -> list[RecipeMeasurement]:
    """Returns the candidates that fit, in the order in which the gates try them: the one of the recipes (``RECIPES``).

    Figures decide nothing here. The first candidate that the accuracy gate lets pass ships. The choice depends neither
    on time nor on chance, and on the processor only where the accuracy of one recipe does. Candidates with quantized
    attention products are there for comparison only.

    Args:
        measured: What ``measure`` returned, the preferred recipe first; the session key is as devices set it.
        room: Bytes that the graph may take.
    """
    return [m for m in measured.values() if m.precise and not m.recipe.attention and m.model_bytes <= room]


@use_one_thread()
def _measure_speeds(
    sessions: dict[RecipeKey, DeviceSession], reference: VectorFunction, texts: LabeledTexts
) -> dict[RecipeKey, float]:
    """Returns how many times as fast as torch each candidate is: median over texts of the best of some rounds.

    Candidates and torch take turns, so that whatever else the machine does hits them alike.
    """
    runs: dict[RecipeKey | None, VectorFunction] = {None: reference, **sessions}
    best = {key: np.full(len(texts.ids), np.inf) for key in runs}
    for _ in range(_ROUNDS):
        for number, ids in enumerate(texts.ids):
            for key, run in runs.items():
                start = time.perf_counter()
                run(ids)
                best[key][number] = min(best[key][number], time.perf_counter() - start)
    return {key: float(np.median(best[None] / best[key])) for key in sessions}
