"""Quantize the ONNX graph of an encoder to int8 in several ways (*recipes*), and measure each on real texts.

Weights become 8-bit integers; the device quantizes activations at run time. The head (the layers after BERT) remains
float32: it is a hundredth of the file and the most sensitive part. Products of two activations inside attention also
remain float32, except in recipes that measure the effect of quantizing them. The first recipe in a fixed order that
passes all checks (``gates``) is used. The measurements are only recorded.
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
from textveil_export.encoder.evaluation import TokenizedTexts, VectorFunction, classify_vectors, compute_vectors
from textveil_export.encoder.onnx_graph import DeviceSession, strip_metadata
from textveil_export.errors import ExportError
from textveil_export.progress import Progress, ignore_progress
from textveil_export.text.quantize import quantize_rows

_EMBEDDINGS, _HEAD = "words.weight", "/head/"


@dataclass(frozen=True, kw_only=True)
class Int8Recipe:
    """One set of options with which an ONNX graph is quantized to int8.

    Attributes:
        weights: Type of the weights, ``s8`` (signed) or ``u8`` (unsigned).
        per_channel: Whether each output of a matrix has its own scale; otherwise a matrix has one scale.
        reduce_range: Whether weights use 7 bits, for processors whose 8-bit products saturate.
        embeddings: ``row``: int8 with one scale per WordPiece; ``tensor``: int8 with one scale for all; ``float32``:
            unchanged.
        attention: Whether products of two activations are quantized too.
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
        """Short name of the options, for tables."""
        parts = [self.weights, "channel" if self.per_channel else "tensor", "7 bit" if self.reduce_range else ""]
        parts += [f"embeddings {self.embeddings}", "attention" if self.attention else ""]
        return ", ".join([part for part in parts if part] + ([self.tool] if self.tool == "optimum" else []))


#: All recipes, the preferred one first. One scale per output comes before one scale per matrix, whose vectors deviate
#: two to four times as much. s8 comes before u8, whose kernels are slow. 7 bits come before 8, since 7 bits never
#: saturate and are as fast. Each of the remaining recipes changes one property of the 8-bit s8 recipe; recipes with
#: quantized attention are measured for comparison only. The order follows measurements in
#: docs/decisions/0009-encoder-export.md. It is fixed, so that the result does not depend on times of the exporting
#: machine.
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


def list_available_recipes() -> tuple[Int8Recipe, ...]:
    """Return the recipes (options of quantization) of ``RECIPES`` whose tools can be imported.

    An import of Optimum can fail although it is installed, if it does not support the installed version of
    transformers.
    """
    from importlib.util import find_spec

    usable = find_spec("optimum") is not None
    if usable:
        try:
            from optimum.onnxruntime import ORTQuantizer  # noqa: F401
        except ImportError:
            usable = False
    return tuple(recipe for recipe in RECIPES if usable or recipe.tool != "optimum")


def quantize_graph(source: Path, recipe: Int8Recipe, target: Path) -> None:
    """Quantize a float32 ONNX graph with the options of a recipe, and write the int8 graph to a file.

    Args:
        source: The float32 graph.
        recipe: The recipe.
        target: File to write.

    Raises:
        ExportError: The recipe needs Optimum, which is missing.
    """
    with _silence_quantizers():
        (_quantize_with_optimum if recipe.tool == "optimum" else _quantize_with_onnxruntime)(source, recipe, target)
    graph = onnx.load(target)
    if recipe.embeddings == "row":
        _quantize_embeddings(graph)
    strip_metadata(graph)
    onnx.save(graph, target)


def make_graph_name(recipe: Int8Recipe) -> str:
    """Return the file name of the int8 graph that is made with a recipe (options of quantization)."""
    return recipe.name.replace(", ", "-").replace(" ", "-") + ".onnx"


def _quantize_with_onnxruntime(source: Path, recipe: Int8Recipe, target: Path) -> None:
    """Quantize a graph with onnxruntime, and write it to ``target``.

    Args:
        source: File of the float32 graph.
        recipe: The quantization.
        target: File of the new int8 graph.
    """
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
    """Quantize a graph with Optimum, and write it to ``target``.

    Args:
        source: File of the float32 graph.
        recipe: The quantization.
        target: File of the new int8 graph.
    """
    try:
        from optimum.onnxruntime import ORTQuantizer
        from optimum.onnxruntime.configuration import AutoQuantizationConfig
    except ImportError as error:
        raise ExportError(
            "the package optimum-onnx is missing: "
            "install textveil-export with the extra optimum (in a clone: pip install './export[optimum]')"
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
    """Return the types of ONNX operators that are quantized with a recipe (options of quantization)."""
    return ["MatMul", "Gather"] if recipe.embeddings == "tensor" else ["MatMul"]


def _list_float32_nodes(source: Path, recipe: Int8Recipe) -> list[str]:
    """Return the names of the graph nodes that remain float32: layers after pooling, and products of activations.

    Args:
        source: File of the float32 graph.
        recipe: The quantization.
    """
    graph = onnx.load(source).graph
    stored = {tensor.name for tensor in graph.initializer}
    # Quantizers replace a Gemm by a MatMul of this name before they apply the list.
    excluded = [f"{node.name}_MatMul" for node in graph.node if node.op_type == "Gemm"]
    excluded += [node.name for node in graph.node if node.name.startswith(_HEAD)]
    if not recipe.attention:
        excluded += [n.name for n in graph.node if n.op_type == "MatMul" and not stored & set(n.input)]
    return excluded


def _quantize_embeddings(model: onnx.ModelProto) -> None:
    """Replace the float32 embeddings in a graph by int8 rows with one float32 scale for each row.

    The new graph gathers a row, casts it to float32 and multiplies it by its scale. The largest element of a row
    becomes 127.
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
    """Suppress messages of the quantizers to the root logger during the ``with`` block."""
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        yield
    finally:
        logging.disable(before)


_TIMED_TEXTS, _ROUNDS = 11, 4

#: Smallest recommended number of texts to measure recipes.
MIN_SAMPLE = 1000

#: A recipe, and whether the session key ``session.x64quantprecision`` is on.
RecipeKey = tuple[Int8Recipe, bool]


@dataclass(frozen=True, kw_only=True)
class RecipeMeasurement:
    """Measurements of an int8 ONNX graph on real texts, without noise, compared to the float32 graph.

    Attributes:
        recipe: The recipe of the graph.
        precise: Whether the onnxruntime session key ``session.x64quantprecision`` was on.
        model_bytes: Size of the graph in bytes.
        deviation_mean: Mean over texts of |f_int8(x) - f(x)|_1, the L1 distance of the two vectors of a text.
        deviation_p99: 99th percentile of this distance.
        accuracy: Share of texts classified correctly without noise.
        agreement: Share of texts with the same label as in float32.
        speed: Speed relative to PyTorch in float32 on a text of median length, run alternately on one core.
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
        """Return the measurements by name, for ``manifest.json``."""
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
    texts: TokenizedTexts,
    classifier: Arrays,
    epsilon: float,
    folder: Path,
    reference: VectorFunction,
    *,
    recipes: Sequence[Int8Recipe] = RECIPES,
    progress: Progress = ignore_progress,
) -> dict[RecipeKey, RecipeMeasurement]:
    """Quantize an ONNX graph with each recipe (options of quantization), and measure the resulting graphs.

    Args:
        source: The float32 graph.
        texts: Real texts, ``MIN_SAMPLE`` or more.
        classifier: Arrays of the server's classifier.
        epsilon: Epsilon that the classifier receives as input; pass the largest epsilon, since no noise is added.
        folder: Folder of the graphs, named by ``make_graph_name``.
        reference: The same function in PyTorch, for relative times.
        recipes: Recipes to measure.
        progress: Called after each recipe.

    Returns:
        Measurements by recipe and by the value of the session key ``session.x64quantprecision``. Recipes of onnxruntime
        with 8-bit s8 weights are measured with the key on and off.
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
    """Return the measurements of all int8 graphs within the size limit, in the order of ``RECIPES``.

    Measurements of accuracy and time do not affect the order. The first of these graphs that passes the check of
    accuracy is used. So the choice does not depend on time or chance, and it depends on the processor only if the
    accuracy of a recipe does. Recipes with quantized attention products are excluded.

    Args:
        measured: Result of ``measure_recipes``. Devices set the onnxruntime session key ``session.x64quantprecision``,
            so the function uses only measurements with this key.
        room: Largest size of the graph in bytes.
    """
    return [m for m in measured.values() if m.precise and not m.recipe.attention and m.model_bytes <= room]


@use_one_thread()
def _measure_speeds(
    sessions: dict[RecipeKey, DeviceSession], reference: VectorFunction, texts: TokenizedTexts
) -> dict[RecipeKey, float]:
    """Return the speed of each int8 graph relative to PyTorch, the median over texts.

    All graphs and PyTorch run alternately, so that other load on the machine affects them equally. For each text the
    function uses the shortest time of several rounds.

    Args:
        sessions: Runtime session of each int8 graph, by its recipe.
        reference: The PyTorch model.
        texts: Texts whose processing is timed.
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
