"""The graph computes the same as torch for every length, and contains nothing that a device refuses."""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
import torch
from onnx import numpy_helper
from small_checkpoints import MAX_TOKENS, VOCABULARY, write_checkpoint
from textveil.bundle.onnx.model_check import check_model
from textveil_export.encoder import onnx_graph
from textveil_export.encoder.checkpoint import Checkpoint, load_checkpoint
from textveil_export.encoder.int8_recipes import RECIPES, list_available_recipes
from textveil_export.encoder.onnx_graph import (
    TOLERANCE,
    DeviceSession,
    TorchReference,
    apply_bound,
    check_parity,
    export_graph,
)
from textveil_export.errors import ExportError, GateError, ParityError

SETTINGS = [("l2", 3, 16), ("box", 5, 16), ("l1", 1, None)]


def ids(tokens: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, len(VOCABULARY), tokens)


@pytest.mark.slow
def test_graph_and_torch_agree_at_every_length(checkpoint: Checkpoint, graph: Path) -> None:
    session, reference = DeviceSession(graph), TorchReference(checkpoint)
    for tokens in range(1, MAX_TOKENS + 1):
        assert np.abs(session(ids(tokens, tokens)) - reference(ids(tokens, tokens))).max() <= TOLERANCE


@pytest.mark.slow
@pytest.mark.parametrize(("mode", "dimension", "head_hidden"), SETTINGS)
def test_every_mode_exports(tmp_path: Path, mode: str, dimension: int, head_hidden: int | None) -> None:
    folder = write_checkpoint(tmp_path / "checkpoint", mode, dimension, head_hidden=head_hidden)
    checkpoint, path = load_checkpoint(folder), tmp_path / "model.onnx"
    assert export_graph(checkpoint, path) <= TOLERANCE
    check_model(path.read_bytes(), dimension)
    found = np.stack([DeviceSession(path)(ids(tokens)) for tokens in (1, 7, MAX_TOKENS)]).astype(np.float64)
    if mode == "box":
        assert found.min() == 0
        assert found.max() == 1
    else:
        assert np.linalg.norm(found, 1 if mode == "l1" else 2, axis=1).max() <= 1 + 1e-6


@pytest.fixture
def no_optimum(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide Optimum, as where only the extra ``encoder`` is installed."""
    for name in [name for name in sys.modules if name.partition(".")[0] == "optimum"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "optimum", None)


@pytest.mark.full
@pytest.mark.usefixtures("no_optimum")
@pytest.mark.parametrize(("mode", "dimension", "head_hidden"), SETTINGS)
def test_every_mode_exports_without_optimum(tmp_path: Path, mode: str, dimension: int, head_hidden: int | None) -> None:
    test_every_mode_exports(tmp_path, mode, dimension, head_hidden)


@pytest.mark.usefixtures("no_optimum")
def test_without_optimum_the_graph_is_the_same(checkpoint: Checkpoint, graph: Path, tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    assert export_graph(checkpoint, path) <= TOLERANCE
    one, other = (check_model(file.read_bytes(), checkpoint.dimension) for file in (graph, path))
    assert one.operators == other.operators
    first, second = DeviceSession(graph), DeviceSession(path)
    for tokens in (1, 2, 5, MAX_TOKENS):
        assert np.array_equal(first(ids(tokens)), second(ids(tokens)))


def test_recipes_of_optimum_need_it(monkeypatch: pytest.MonkeyPatch) -> None:
    others = tuple(recipe for recipe in RECIPES if recipe.tool != "optimum")
    assert list_available_recipes() in (RECIPES, others)  # Optimum cannot be imported beside transformers 5
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert list_available_recipes() == others
    monkeypatch.undo()
    monkeypatch.setitem(sys.modules, "optimum.onnxruntime", None)  # installed beside a transformers it cannot use
    assert list_available_recipes() == others


def test_the_graph_has_the_signature_and_the_operators_of_a_device(graph: Path, checkpoint: Checkpoint) -> None:
    outline = check_model(graph.read_bytes(), checkpoint.dimension)
    assert outline.operators["MatMul"] == 2 * (6 + 2)
    model = onnx.load(graph)
    assert {entry.domain for entry in model.opset_import} == {""}
    assert not any(node.doc_string or node.metadata_props for node in model.graph.node)
    assert str(Path.cwd()) not in str(model)


def test_the_work_of_a_text_is_bounded_where_the_graph_is_made(
    checkpoint: Checkpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two layers of width 32: at least every weight of a matrix once a token, and attention on top."""
    matrices = [weights for name, weights in checkpoint.extractor.encoder.named_parameters() if weights.ndim == 2]
    least = MAX_TOKENS * (sum(weights.numel() for weights in matrices) + 2 * 2 * MAX_TOKENS * 32)
    assert least < onnx_graph.count_multiplications(checkpoint) < 1.2 * least
    monkeypatch.setattr(onnx_graph, "MAX_MULTIPLICATIONS", least)
    with pytest.raises(
        GateError, match=f"a text of {MAX_TOKENS} tokens takes .* use a smaller encoder, or fewer tokens"
    ):
        export_graph(checkpoint, tmp_path / "model.onnx")
    assert not (tmp_path / "model.onnx").exists()


def test_positions_beyond_the_longest_text_are_left_out(graph: Path, checkpoint: Checkpoint) -> None:
    shapes = {tuple(tensor.dims) for tensor in onnx.load(graph).graph.initializer}
    assert (MAX_TOKENS, 32) in shapes
    assert checkpoint.extractor.config.max_position_embeddings == MAX_TOKENS + 4
    assert (MAX_TOKENS + 4, 32) not in shapes


def test_a_masked_token_has_no_path_to_the_vector(graph: Path) -> None:
    session: Any = onnxruntime.InferenceSession(graph)
    kept, mask = ids(9), np.array([[1] * 9 + [0] * 4])
    alone = DeviceSession(graph)(kept)
    for seed in range(3):
        batch = np.concatenate([kept, ids(4, 100 + seed)])[None]
        (vectors,) = session.run(None, {"input_ids": batch, "attention_mask": mask})
        assert np.abs(vectors[0] - alone).max() <= TOLERANCE
    (vectors,) = session.run(None, {"input_ids": batch, "attention_mask": np.ones_like(mask)})
    assert np.abs(vectors[0] - alone).max() > 100 * TOLERANCE


def test_a_graph_that_is_slightly_off_is_refused(graph: Path, checkpoint: Checkpoint, tmp_path: Path) -> None:
    assert check_parity(checkpoint, graph) <= TOLERANCE
    model = onnx.load(graph)
    (positions,) = [tensor for tensor in model.graph.initializer if tuple(tensor.dims) == (MAX_TOKENS, 32)]
    rows = numpy_helper.to_array(positions).copy()
    rows[MAX_TOKENS - 1] += 0.5 * np.sign(rows[MAX_TOKENS - 1])  # seen at the longest text alone
    positions.CopyFrom(numpy_helper.from_array(rows, positions.name))
    onnx.save(model, tmp_path / "off.onnx")
    with pytest.raises(ParityError, match=f"at {MAX_TOKENS} tokens"):
        check_parity(checkpoint, tmp_path / "off.onnx")


def test_a_constant_vector_is_zero_in_the_box() -> None:
    assert apply_bound(torch.full((1, 4), 2.5), "box").tolist() == [[0, 0, 0, 0]]
    assert apply_bound(torch.tensor([[0.0, 0.0]]), "l1").tolist() == [[0, 0]]
    assert apply_bound(torch.tensor([[3.0, -1.0]]), "l1").tolist() == [[0.75, -0.25]]
    assert apply_bound(torch.tensor([[3.0, -4.0]]), "l2")[0].tolist() == pytest.approx([0.6, -0.8])


def test_a_graph_that_onnxruntime_cannot_read_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.onnx").write_bytes(b"no graph")
    with pytest.raises(ExportError, match="cannot load the graph"):
        DeviceSession(tmp_path / "x.onnx")
