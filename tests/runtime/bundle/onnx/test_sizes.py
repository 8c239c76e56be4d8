"""Sizes that a model's operators give are known from shapes: equal to what runs, for every operator."""

from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper
from small_arrays import f, i
from small_encoders import value
from textveil.bundle.onnx.check import OPERATORS
from textveil.bundle.onnx.rules import RULES
from textveil.bundle.onnx.sizes import Node, Of, Sizes

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
    ("Cast", [f(2, 3)], {"to": TensorProto.INT64}),
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
