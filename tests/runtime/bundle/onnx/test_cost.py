"""What a model costs is known before it runs, and refused where it is too much."""

from itertools import pairwise
from typing import Any

import numpy as np
import onnx
import pytest
from changed_models import FLOAT
from onnx import helper, numpy_helper
from small_arrays import f, i
from small_encoders import DIMENSION, inputs, model_of, value
from textveil.bundle.onnx.check import check_model
from textveil.bundle.onnx.cost import MAX_OPERATORS
from textveil.errors import BundleDamaged, ModelRefused


def model(nodes: list[onnx.NodeProto], arrays: dict[str, Any]) -> bytes:
    """A model whose result is a stored vector, and which computes something beside it."""
    tensors = [numpy_helper.from_array(np.asarray(array), name) for name, array in arrays.items()]
    tensors.append(numpy_helper.from_array(f(1, DIMENSION), "vector"))
    graph = helper.make_graph(
        [*nodes, helper.make_node("Identity", ["vector"], ["representation"])],
        "hostile",
        inputs(),
        [value("representation", FLOAT, [1, DIMENSION])],
        tensors,
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    return made.SerializeToString()


def refused(content: bytes, tokens: int = 64, error: type[Exception] = ModelRefused) -> str:
    with pytest.raises(error) as caught:
        check_model(content, DIMENSION, tokens)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def node(kind: str, given: str, gives: str, **attributes: Any) -> onnx.NodeProto:
    return helper.make_node(kind, given.split(), gives.split(), **attributes)


HOSTILE: dict[str, tuple[list[onnx.NodeProto], dict[str, Any], str]] = {
    "a tensor of 2**30 entries": ([node("ConstantOfShape", "big", "x")], {"big": i(1 << 30)}, "larger than any"),
    "the same in an axis beside none": ([node("ConstantOfShape", "big", "x")], {"big": i(0, 1 << 40)}, "beyond all"),
    "a negative axis": ([node("ConstantOfShape", "big", "x")], {"big": i(-1)}, "larger than any"),
    "a spread vector": ([node("Expand", "one big", "x")], {"one": f(1), "big": i(1 << 15, 1 << 15)}, "larger than any"),
    "a repeated vector": ([node("Tile", "one big", "x")], {"one": f(1), "big": i(1 << 26)}, "larger than any"),
    "a long range": (
        [node("Range", "zero big step", "x")],
        {"zero": np.array(0), "big": np.array(1 << 40), "step": np.array(1)},
        "beyond all",
    ),
    "a range that overflows": (
        [node("Range", "low high step", "x")],
        {"low": np.array(-(2**63)), "high": np.array(2**63 - 1), "step": np.array(1)},
        "beyond all",
    ),
    "a sum that overflows into a small size": (
        [node("Add", "big big", "size"), node("ConstantOfShape", "size", "x")],
        {"big": i((1 << 63) - 1)},
        "depends on the text",
    ),
    "many tensors that live together": (
        [
            *(node("ConstantOfShape", "big", f"x{number}") for number in range(8)),
            node("Sum", " ".join(f"x{number}" for number in range(8)), "y"),
        ],
        {"big": i(1 << 22)},
        "more memory",
    ),
    "many that may be kept for good": (
        [node("ConstantOfShape", "big", f"x{number}") for number in range(8)],
        {"big": i(1 << 22)},
        "more memory",
    ),
    "a large product": (
        [
            node("ConstantOfShape", "side", "a"),
            node("MatMul", "a a", "b"),
            node("MatMul", "b a", "c"),
        ],
        {"side": i(1 << 5, 1 << 8, 1 << 8)},
        "",
    ),
    "a larger product": (
        [node("ConstantOfShape", "side", "a"), *(node("MatMul", f"{x} a", y) for x, y in pairwise("abcdefghi"))],
        {"side": i(1, 1 << 11, 1 << 11)},
        "more work",
    ),
    "a size that is an id": (
        [node("ReduceSum", "input_ids", "size", keepdims=0), node("Range", "zero size one", "x")],
        {"zero": np.array(0), "one": np.array(1)},
        "depends on the text",
    ),
    "a size that explodes at one number of tokens alone": (
        [
            node("Shape", "input_ids", "shape"),
            node("Gather", "shape last", "count"),
            node("Sub", "count seventeen", "off"),
            node("Mul", "off off", "square"),
            node("Mul", "square many", "more"),
            node("Add", "more one", "divisor"),
            node("Div", "huge divisor", "size"),
            node("ConstantOfShape", "size", "x"),
        ],
        {"last": i(1), "seventeen": i(17), "many": i(1 << 20), "one": i(1), "huge": i(1 << 30)},
        "larger than any",
    ),
    "doubling": (
        [
            node("Identity", "one", "x0"),
            *(node("Concat", f"x{n} x{n}", f"x{n + 1}", axis=0) for n in range(30)),
        ],
        {"one": f(1)},
        "larger than any",
    ),
    "what nothing gives": ([node("Abs", "later", "x")], {}, "takes what nothing before it gives"),
    "two of one name": ([node("Abs", "one", "x"), node("Abs", "one", "x")], {"one": f(1)}, "two operators give one"),
    "a stored tensor given again": ([node("Abs", "one", "one")], {"one": f(1)}, "two operators give one"),
    "an operator that gives nothing": ([node("Split", "one", "", axis=0)], {"one": f(1)}, "gives nothing"),
    "an attribute of another kind": ([node("Transpose", "one", "x", perm=1)], {"one": f(1)}, "of another kind"),
    "an axis that is a list": (
        [node("Softmax", "one", "x"), node("Concat", "one one", "y", axis=[1])],
        {"one": f(1)},
        "of another kind",
    ),
    "a list without an end": ([node("Squeeze", "one", "x", axes=[0] * 5000)], {"one": f(1)}, "too long a list"),
    "thousands of axes": (
        [node("Unsqueeze", f"x{n} axes", f"x{n + 1}") for n in range(20)],
        {"x0": f(1), "axes": i(0)},
        "larger than any",
    ),
    "an axis that is not there": ([node("Concat", "one one", "x", axis=5)], {"one": f(1)}, "names an axis"),
}


@pytest.mark.parametrize(("nodes", "arrays", "told"), HOSTILE.values(), ids=HOSTILE)
def test_models_that_cost_too_much(nodes: list[onnx.NodeProto], arrays: dict[str, Any], told: str) -> None:
    content = model(nodes, arrays)
    if told:
        assert told in refused(content)
    else:
        assert check_model(content, DIMENSION, 64).cost.multiplications > 2 * (1 << 29)


def test_the_one_number_of_tokens_is_what_is_refused() -> None:
    nodes, arrays, _ = HOSTILE["a size that explodes at one number of tokens alone"]
    assert check_model(model(nodes, arrays), DIMENSION, 16)
    refused(model(nodes, arrays), 17)


@pytest.mark.slow
def test_thousands_of_results_that_wait() -> None:
    """What this package itself computes has a bound too."""
    names = [f"x{number}" for number in range(5000)]
    nodes = [*(node("Abs", "input_ids", name) for name in names), node("Sum", " ".join(names), "y")]
    assert "too many results wait" in refused(model(nodes, {}), 4096)
    assert check_model(model(nodes, {}), DIMENSION, 64)


def test_too_many_operators() -> None:
    chain = [node("Abs", "one", f"x{number}") for number in range(MAX_OPERATORS)]
    assert "more than 10,000 operators" in refused(model(chain, {"one": f(1)}))


def test_a_tensor_larger_than_its_data() -> None:
    made = model_of()
    made.graph.initializer[0].dims[0] = 1 << 40
    assert "another size than its data" in refused(made.SerializeToString(), error=BundleDamaged)
    del made.graph.initializer[0].dims[:]
    made.graph.initializer[0].dims.extend([1 << 62, 4, 0])
    assert "another size than its data" in refused(made.SerializeToString(), error=BundleDamaged)


@pytest.mark.parametrize("mode", ["l1", "l2", "box"])
def test_the_cost_of_a_sound_model(mode: str) -> None:
    """A few thousand for each token: rows of 12 numbers, gathered, added and averaged."""
    small, large = (check_model(model_of(mode).SerializeToString(), DIMENSION, tokens).cost for tokens in (1, 16))
    assert 1_000 < small.multiplications < large.multiplications < 16 * small.multiplications < 200_000
    assert 100 < small.live_bytes < large.live_bytes < 20_000


def test_live_bytes_are_those_that_live() -> None:
    """A long chain holds two tensors at a time, whatever its length."""
    arrays = {"one": f(1000)}
    start = [node("Cast", "input_ids", "ids", to=FLOAT), node("Unsqueeze", "ids axes", "column")]

    def chain(length: int) -> list[onnx.NodeProto]:
        return [
            *start,
            node("Mul", "column one", "x0"),
            *(node("Abs", f"x{n}", f"x{n + 1}") for n in range(length)),
        ]

    short, long = (check_model(model(chain(n), {**arrays, "axes": i(-1)}), DIMENSION, 10).cost for n in (2, 50))
    assert short.live_bytes == pytest.approx(2 * 10 * 1000 * 8, rel=0.1)
    assert long.live_bytes == short.live_bytes
