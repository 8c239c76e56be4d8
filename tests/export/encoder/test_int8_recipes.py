"""The int8 recipes convert a model, and the exporter selects one."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, numpy_helper
from small_checkpoints import texts, write_texts
from textveil.bundle.onnx.model_check import check_model
from textveil_export.encoder.checkpoint import Checkpoint
from textveil_export.encoder.evaluation import TokenizedTexts, compute_vectors, encode_texts, read_labeled_texts
from textveil_export.encoder.int8_recipes import (
    RECIPES,
    Int8Recipe,
    RecipeMeasurement,
    make_graph_name,
    measure_recipes,
    quantize_graph,
    select_candidates,
)
from textveil_export.encoder.onnx_graph import DeviceSession, TorchReference

pytestmark = [pytest.mark.slow, pytest.mark.full]

LAYERS, HEAD = 2, 2
DEFAULT = Int8Recipe()


@pytest.fixture(scope="module")
def real(checkpoint: Checkpoint, tmp_path_factory) -> TokenizedTexts:
    path = write_texts(tmp_path_factory.mktemp("texts") / "texts.tsv", texts(40, seed=5))
    return encode_texts(read_labeled_texts(path, checkpoint.labels), checkpoint.vocabulary, checkpoint)


@pytest.fixture(scope="module")
def folder(graph: Path, tmp_path_factory) -> Path:
    """Return the folder with the graphs of all recipes."""
    folder = tmp_path_factory.mktemp("int8")
    for recipe in RECIPES:
        quantize_graph(graph, recipe, folder / make_graph_name(recipe))
    return folder


def tensors(path: Path) -> dict[str, np.ndarray]:
    return {tensor.name: numpy_helper.to_array(tensor) for tensor in onnx.load(path).graph.initializer}


def test_names_are_distinct() -> None:
    assert len({make_graph_name(recipe) for recipe in RECIPES}) == len(RECIPES)
    assert Int8Recipe(reduce_range=True).name == "s8, channel, 7 bit, embeddings row"


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: recipe.name)
def test_every_recipe_makes_a_graph_that_devices_run(
    recipe: Int8Recipe, folder: Path, graph: Path, checkpoint: Checkpoint, real: TokenizedTexts
) -> None:
    path = folder / make_graph_name(recipe)
    operators = check_model(path.read_bytes(), checkpoint.dimension).operators
    assert operators["MatMulInteger"] == 6 * LAYERS + 2 * LAYERS * recipe.attention
    assert operators["MatMul"] == 2 * LAYERS * (not recipe.attention) + HEAD
    off = np.abs(compute_vectors(DeviceSession(path), real) - compute_vectors(DeviceSession(graph), real)).sum(1)
    assert 0 < off.mean() < 0.2


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: recipe.name)
def test_weights_are_what_the_recipe_says(recipe: Int8Recipe, folder: Path, graph: Path) -> None:
    path = folder / make_graph_name(recipe)
    stored, model = tensors(path), onnx.load(path)
    products = [node.input[1] for node in model.graph.node if node.op_type == "MatMulInteger"]
    weights = [stored[name] for name in products if name in stored]  # products of two activations store none
    assert len(weights) == 6 * LAYERS
    assert {w.dtype for w in weights} == {np.dtype(np.int8 if recipe.weights == "s8" else np.uint8)}
    low, high = min(int(w.min()) for w in weights), max(int(w.max()) for w in weights)
    if recipe.reduce_range:
        assert (high - low) <= 128
        assert recipe.weights == "u8" or (low >= -64 and high <= 64)
    else:
        assert high - low > 200
    heads = {name: array for name, array in tensors(graph).items() if name.startswith("head.")}
    assert len(heads) == 4
    for name, array in heads.items():  # as they were, some of them transposed
        (kept,) = [found for other, found in stored.items() if other.startswith(name)]
        assert kept.dtype == np.float32
        assert np.array_equal(np.sort(kept, axis=None), np.sort(array, axis=None))


@pytest.mark.parametrize("embeddings", ["row", "tensor", "float32"])
def test_embeddings_are_as_near_as_their_scale_allows(embeddings: str, folder: Path, graph: Path) -> None:
    path = folder / make_graph_name(Int8Recipe(embeddings=embeddings))
    rows, stored = tensors(graph)["words.weight"], tensors(path)
    if embeddings == "float32":
        assert np.array_equal(stored["words.weight"], rows)
        return
    assert "words.weight" not in stored
    if embeddings == "row":
        found = stored["words.rows"].astype(np.float32) * stored["words.scales"]
        assert stored["words.rows"].dtype == np.int8
        largest = np.abs(stored["words.rows"].astype(int)).max(axis=1)
        assert (largest == np.where(rows.any(axis=1), 127, 0)).all()
        assert (np.abs(found - rows) <= stored["words.scales"] * 0.5001).all()
    else:
        (name,) = [n for n in stored if n.startswith("words.weight") and stored[n].size == rows.size]
        scale = float(stored["words.weight_scale"])
        found = (stored[name].astype(np.float32) - int(stored["words.weight_zero_point"])) * scale
        assert np.abs(found - rows).max() <= 0.51 * scale
    assert path.stat().st_size < (folder / make_graph_name(Int8Recipe(embeddings="float32"))).stat().st_size


def test_a_row_of_zeros_stays_zero(graph: Path, tmp_path: Path) -> None:
    model = onnx.load(graph)
    (matrix,) = [tensor for tensor in model.graph.initializer if tensor.name == "words.weight"]
    rows = numpy_helper.to_array(matrix).copy()
    rows[3] = 0
    matrix.CopyFrom(numpy_helper.from_array(rows, matrix.name))
    onnx.save(model, tmp_path / "zero.onnx")
    quantize_graph(tmp_path / "zero.onnx", DEFAULT, tmp_path / "int8.onnx")
    stored = tensors(tmp_path / "int8.onnx")
    assert not stored["words.rows"][3].any()
    assert stored["words.scales"][3] == 1
    assert np.isfinite(DeviceSession(tmp_path / "int8.onnx")(np.array([3, 3, 3]))).all()


def test_measuring_compares_with_the_float_graph(
    graph: Path, checkpoint: Checkpoint, real: TokenizedTexts, tmp_path: Path
) -> None:
    recipes = (DEFAULT, Int8Recipe(reduce_range=True))
    told: list[int] = []
    found = measure_recipes(
        graph,
        real,
        checkpoint.classifier,
        8,
        tmp_path,
        TorchReference(checkpoint),
        recipes=recipes,
        progress=lambda _, done, __: told.append(done),
    )
    assert set(found) == {(DEFAULT, True), (DEFAULT, False), (recipes[1], True)}
    assert told == [1, 2]
    expected = compute_vectors(DeviceSession(graph), real)
    for (recipe, precise), figures in found.items():
        path = tmp_path / make_graph_name(recipe)
        off = np.abs(compute_vectors(DeviceSession(path, precise=precise), real) - expected).sum(1)
        assert (figures.recipe, figures.precise) == (recipe, precise)
        assert figures.model_bytes == path.stat().st_size
        assert figures.deviation_mean == pytest.approx(off.mean(), abs=1e-3)
        assert figures.deviation_p99 == pytest.approx(np.quantile(off, 0.99), abs=1e-3)
        assert figures.speed > 0
        if precise:  # as devices run it; without the key, a processor without VNNI saturates and is less accurate
            assert figures.accuracy > 0.8
            assert figures.agreement > 0.9


def candidate(size: int, deviation: float, speed: float, **settings: object) -> RecipeMeasurement:
    recipe = replace(DEFAULT, weights=f"{size}-{deviation}-{speed}", **settings)
    return RecipeMeasurement(
        recipe=recipe,
        precise=True,
        model_bytes=size,
        deviation_mean=deviation,
        deviation_p99=0,
        accuracy=1,
        agreement=1,
        speed=speed,
    )


def order(*candidates: RecipeMeasurement, room: int = 10**9) -> list[int]:
    measured = {(found.recipe, found.precise): found for found in candidates}
    return [candidates.index(found) for found in select_candidates(measured, room)]


def test_the_order_is_that_of_the_recipes_whatever_was_measured() -> None:
    large = candidate(200, 0.01, 0.1)
    far = candidate(100, 0.21, 0.1)
    slow = candidate(104, 0.1, 4)
    fast = candidate(101, 0.19, 2)
    assert order(large, far, slow, fast) == order(slow, large, fast, far) == [0, 1, 2, 3]


def test_the_preferred_recipe_cannot_saturate_and_has_a_scale_for_every_output() -> None:
    assert RECIPES[0] == Int8Recipe(weights="s8", per_channel=True, reduce_range=True)
    assert RECIPES[1] == DEFAULT


def test_large_graphs_and_graphs_for_comparison_are_not_candidates() -> None:
    assert order(candidate(100, 0.1, 1), candidate(90, 0.1, 1, attention=True), candidate(300, 0, 0), room=200) == [0]
    unsafe = replace(candidate(50, 0.01, 0.1), precise=False)
    assert order(unsafe, candidate(100, 0.1, 1)) == [1]
    assert order(candidate(300, 0.1, 1), room=200) == []


def test_types_of_the_stored_tensors_are_few(folder: Path) -> None:
    models = [onnx.load(folder / make_graph_name(recipe)) for recipe in RECIPES]
    kinds = {tensor.data_type for model in models for tensor in model.graph.initializer}
    assert kinds <= {TensorProto.FLOAT, TensorProto.INT8, TensorProto.UINT8, TensorProto.INT64}
