"""What a model costs is known from shapes: equal to what runs, for every operator, and refused where it is too much."""

from itertools import pairwise
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper
from small_encoders import DIMENSION, inputs, model_of, value
from textveil.bundle.onnx_check import OPERATORS, check_model
from textveil.bundle.onnx_cost import MAX_OPERATORS
from textveil.bundle.onnx_rules import RULES
from textveil.bundle.onnx_sizes import Node, Of, Sizes
from textveil.errors import BundleDamaged, ModelRefused

FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64


def i(*numbers: int) -> np.ndarray:
    return np.array(numbers, np.int64)


def f(*shape: int) -> np.ndarray:
    return np.ones(shape, np.float32)


BYTES = np.ones((2, 3), np.uint8)
SCALE, ZERO = np.array(0.5, np.float32), np.array(1, np.uint8)
#: Operator, inputs, attributes; ``attributes["outputs"]`` is their number.
CASES: list[tuple[str, list[Any], dict[str, Any]]] = [
    *((name, [f(2, 1, 3), f(4, 1)], {}) for name in "Add Sub Mul Div Pow Min Max Mean Sum Less Greater".split()),
    *((name, [f(2, 3), f(3)], {}) for name in "LessOrEqual GreaterOrEqual Equal".split()),
    *((name, [f(2, 3) > 0, f(3) > 0], {}) for name in ("And", "Or")),
    ("Where", [f(2, 3) > 0, f(3), f(4, 1, 1)], {}),
    *((name, [f(2, 3)], {}) for name in "Abs Erf Exp Identity IsInf IsNaN Log Neg Reciprocal Relu Sigmoid".split()),
    *((name, [f(2, 3)], {}) for name in "Sign Softmax Sqrt Tanh Trilu Gelu LpNormalization Clip".split()),
    ("Not", [f(2, 3) > 0], {}),
    ("Cast", [f(2, 3)], {"to": INT64}),
    ("CastLike", [f(2, 3), i(1)], {}),
    ("CumSum", [f(2, 3), i(1)[0]], {}),
    ("LayerNormalization", [f(2, 3), f(3)], {}),
    ("QuantizeLinear", [f(2, 3), SCALE, ZERO], {}),
    ("DequantizeLinear", [np.ones((2, 3), np.uint8), SCALE, ZERO], {}),
    ("DynamicQuantizeLinear", [f(2, 3)], {"outputs": 3}),
    *((name, [f(2, 3, 4), i(1)], {}) for name in "ReduceSum ReduceMax ReduceMin ReduceMean ReduceL1 ReduceL2".split()),
    ("ReduceSumSquare", [f(2, 3, 4), i(-1, 0)], {"keepdims": 0}),
    ("ReduceSum", [f(2, 3, 4)], {"keepdims": 0}),
    ("ReduceSum", [f(2, 3, 4)], {"noop_with_empty_axes": 1}),
    *(("MatMul", pair, {}) for pair in ([f(2, 3), f(3, 4)], [f(5, 2, 3), f(3, 4)], [f(3), f(3, 4)], [f(2, 3), f(3)])),
    ("MatMul", [f(5, 1, 2, 3), f(6, 3, 4)], {}),
    ("Gemm", [f(3, 2), f(4, 3), f(4)], {"transA": 1, "transB": 1}),
    ("MatMulInteger", [np.ones((2, 3), np.uint8), np.ones((3, 4), np.uint8)], {}),
    ("QLinearMatMul", [BYTES, SCALE, ZERO, np.ones((3, 4), np.uint8), SCALE, ZERO, SCALE, ZERO], {}),
    ("Concat", [f(2, 3), f(2, 5)], {"axis": -1}),
    ("Concat", [i(1, 2), i(3)], {"axis": 0}),
    ("Constant", [], {"value": numpy_helper.from_array(i(1, 2, 3))}),
    ("Constant", [], {"value_ints": [4, 5]}),
    ("Constant", [], {"value_floats": [4.0, 5.0, 6.0]}),
    ("Constant", [], {"value_int": 4}),
    ("ConstantOfShape", [i(2, 5)], {}),
    ("ConstantOfShape", [i(3)], {"value": numpy_helper.from_array(i(7))}),
    ("Expand", [f(3, 1), i(2, 1, 6)], {}),
    ("Flatten", [f(2, 3, 4)], {"axis": 2}),
    ("Flatten", [f(2, 3, 4)], {"axis": -1}),
    ("Gather", [f(5, 2), i(1, -1, 3)], {"axis": 0}),
    ("Gather", [f(5, 2), np.array([[0, 1, 1]])], {"axis": 1}),
    ("Gather", [i(7, 8, 9), np.array(-1)], {}),
    ("GatherElements", [f(3, 3), np.zeros((2, 3), np.int64)], {}),
    ("GatherND", [f(3, 4, 5), np.zeros((2, 2), np.int64)], {}),
    ("GatherND", [f(3, 4, 5), np.zeros((3, 2, 1), np.int64)], {"batch_dims": 1}),
    ("Range", [np.array(2), np.array(11), np.array(4)], {}),
    ("Range", [np.array(5), np.array(-5), np.array(-3)], {}),
    ("Range", [np.array(5), np.array(1), np.array(3)], {}),
    ("Reshape", [f(2, 3, 4), i(0, -1)], {}),
    ("Reshape", [f(2, 3, 4), i(4, 0, 2)], {}),
    ("Reshape", [f(24), i(-1, 2, 3)], {}),
    ("Reshape", [i(1, 2, 3, 4), i(2, 2)], {}),
    ("Shape", [f(2, 3, 4)], {}),
    ("Shape", [f(2, 3, 4)], {"start": 1, "end": -1}),
    *(
        ("Slice", [f(9, 4), i(start), i(end), i(0), i(step)], {})
        for start, end, step in [
            (1, 7, 2), (-3, 2**63 - 1, 1), (8, 0, -1), (-1, -(2**63), -2), (5, 2, 1), (-100, 100, 3), (-100, -200, -1),
            (100, 50, -1), (0, 9, 1), (3, -2, 1),
        ]
    ),
    ("Slice", [f(9, 4), i(1, 0), i(5, 3)], {}),
    ("Slice", [i(1, 2, 3, 4), i(1), i(3)], {}),
    ("Split", [f(7, 2)], {"outputs": 3, "num_outputs": 3}),
    ("Split", [f(7, 2), i(1, 6)], {"outputs": 2}),
    ("Squeeze", [f(1, 3, 1)], {}),
    ("Squeeze", [f(1, 3, 1), i(-1)], {}),
    ("Tile", [f(2, 3), i(3, 2)], {}),
    ("Transpose", [f(2, 3, 4)], {}),
    ("Transpose", [f(2, 3, 4)], {"perm": [1, 0, 2]}),
    ("Unsqueeze", [f(2, 3), i(0, -1)], {}),
    ("com.microsoft.Gelu", [f(2, 3)], {}),
    ("com.microsoft.QuickGelu", [f(2, 3)], {}),
    ("com.microsoft.BiasGelu", [f(2, 3), f(3)], {}),
    ("com.microsoft.FastGelu", [f(2, 3), f(3)], {}),
    ("com.microsoft.SkipLayerNormalization", [f(1, 2, 8), f(1, 2, 8), f(8), f(8)], {}),
    ("com.microsoft.FusedMatMul", [f(3, 2), f(4, 3)], {"transA": 1, "transB": 1}),
    ("com.microsoft.MatMulIntegerToFloat", [np.ones((2, 4), np.uint8), np.ones((4, 4), np.uint8), SCALE, SCALE], {}),
    ("com.microsoft.DynamicQuantizeMatMul", [f(2, 4), np.ones((4, 4), np.uint8), SCALE], {}),
    ("com.microsoft.MatMulNBits", [f(2, 32), np.ones((5, 1, 16), np.uint8), f(5)], {"K": 32, "N": 5, "block_size": 32}),
    (
        "com.microsoft.GatherBlockQuantized",
        [np.ones((4, 16), np.uint8), i(1, 2, 3), f(4, 2)],
        {"block_size": 16, "bits": 4, "gather_axis": 0, "quantize_axis": 1},
    ),
    ("com.microsoft.Attention", [f(1, 3, 8), f(8, 24), f(24)], {"num_heads": 2}),
    ("com.microsoft.MultiHeadAttention", [f(1, 3, 8), f(1, 3, 8), f(1, 3, 8)], {"num_heads": 2}),
    (
        "com.microsoft.QAttention",
        [np.ones((1, 3, 8), np.uint8), np.ones((8, 24), np.uint8), f(24), SCALE, SCALE, None, ZERO, ZERO],
        {"num_heads": 2},
    ),
    (
        "com.microsoft.EmbedLayerNormalization",
        [np.zeros((1, 3), np.int32), None, f(5, 8), f(9, 8), None, f(8), f(8)],
        {"outputs": 2},
    ),
]  # fmt: skip
#: Not run here: their signature is that of another, checked, operator.
SAME_AS_ANOTHER = {"com.microsoft.QEmbedLayerNormalization"}


def run(kind: str, given: list[Any], attributes: dict[str, Any]) -> list[np.ndarray]:
    """What onnxruntime gives for a graph of one operator."""
    domain, _, name = kind.rpartition(".")
    options = {key: entry for key, entry in attributes.items() if key != "outputs"}
    names = ["" if array is None else f"x{number}" for number, array in enumerate(given)]
    outputs = [f"y{number}" for number in range(attributes.get("outputs", 1))]
    arrays = {key: np.asarray(array) for key, array in zip(names, given, strict=True) if key}
    graph = helper.make_graph(
        [helper.make_node(name, names, outputs, domain=domain, **options)],
        "one",
        [value(key, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape) for key, array in arrays.items()],
        [onnx.ValueInfoProto(name=key) for key in outputs],
    )
    opsets = [helper.make_opsetid("", 20), helper.make_opsetid("com.microsoft", 1)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=9)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, arrays)


def sizes_of(array: Any) -> Sizes | None:
    if array is None:
        return None
    found = np.asarray(array)
    values = found.astype(np.int64)[..., None] if found.dtype == np.int64 and found.size <= 64 else None
    kind = helper.np_dtype_to_tensor_dtype(found.dtype)
    return Sizes(tuple(np.array([axis]) for axis in found.shape), values, kind, constant=True)


def read(entry: Any) -> Any:
    return sizes_of(numpy_helper.to_array(entry)) if isinstance(entry, TensorProto) else entry


@pytest.mark.parametrize(("kind", "given", "attributes"), CASES, ids=[f"{n}-{c[0]}" for n, c in enumerate(CASES)])
def test_sizes_are_those_of_what_runs(kind: str, given: list[Any], attributes: dict[str, Any]) -> None:
    outputs = [f"y{number}" for number in range(attributes.get("outputs", 1))]
    options = {key: read(entry) for key, entry in attributes.items() if key != "outputs"}
    node = Node(kind, ["" if array is None else "x" for array in given], outputs, options)
    computed = RULES[kind](Of(node, [sizes_of(array) for array in given], np.array([1])))
    ran = run(kind, given, attributes)
    assert len(computed.outputs) >= len(ran)
    for sizes, array in zip(computed.outputs, ran, strict=False):
        if kind.endswith("EmbedLayerNormalization") and array.ndim == 1:
            assert float(sizes.elements[0]) >= array.size
            continue
        assert tuple(int(axis[0]) for axis in sizes.dims) == array.shape
        if sizes.values is not None:
            assert (sizes.values[..., 0] == array).all()


def test_every_operator_has_a_rule_and_a_case() -> None:
    known = {f"{domain}.{name}" if domain else name for domain, names in OPERATORS.items() for name in names}
    assert set(RULES) == known
    assert {case[0] for case in CASES} | SAME_AS_ANOTHER == known


# --- models ---------------------------------------------------------------------------------------------------------


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
