"""Checks an ONNX model before anything runs it: plain tensors, known operators, one signature.

onnxruntime is a large interpreter that reads further files at a model's bidding (external tensors, also through hard
links and relative to the working directory) and runs whatever operators it was built with. So the bytes are read here
first, with a strict reader of our own and against ONNX's published schema (onnx.proto3, ModelProto), and nothing that
is not in the tables below reaches it. No subgraph is allowed: the depth of a model is bounded by the schema itself.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from textveil.bundle.protobuf import BYTES, FIXED32, FIXED64, VARINT, Field, Malformed, Refused, Schema, read, text
from textveil.errors import BundleDamaged, ModelRefused

INPUTS, OUTPUT = ("input_ids", "attention_mask"), "representation"
FLOAT, INT64 = 1, 7  # TensorProto.DataType

#: What exporters and dynamic quantization make of BERT-like encoders and bounded heads. All are pure functions of their
#: inputs; whatever draws at random, holds state, branches or loops is left out.
_STANDARD = """
    Abs Add And Cast CastLike Clip Concat Constant ConstantOfShape CumSum DequantizeLinear Div DynamicQuantizeLinear
    Equal Erf Exp Expand Flatten Gather GatherElements GatherND Gelu Gemm Greater GreaterOrEqual Identity IsInf IsNaN
    LayerNormalization Less LessOrEqual Log LpNormalization MatMul MatMulInteger Max Mean Min Mul Neg Not Or Pow
    QLinearMatMul QuantizeLinear Range Reciprocal ReduceL1 ReduceL2 ReduceMax ReduceMean ReduceMin ReduceSum
    ReduceSumSquare Relu Reshape Shape Sigmoid Sign Slice Softmax Split Sqrt Squeeze Sub Sum Tanh Tile Transpose Trilu
    Unsqueeze Where
"""
#: onnxruntime's own, where its optimizer for transformers or its quantizer fuses several of the above.
_FUSED = """
    Attention BiasGelu DynamicQuantizeMatMul EmbedLayerNormalization FastGelu FusedMatMul GatherBlockQuantized Gelu
    MatMulIntegerToFloat MatMulNBits MultiHeadAttention QAttention QEmbedLayerNormalization QuickGelu
    SkipLayerNormalization
"""
OPERATORS: Mapping[str, frozenset[str]] = {
    "": frozenset(_STANDARD.split()),
    "com.microsoft": frozenset(_FUSED.split()),
}

# float32, uint8, int8, int32, int64, bool, float16, float64, uint4, int4
_TENSOR_TYPES = frozenset({1, 2, 3, 6, 7, 9, 10, 11, 21, 22})
_PRINTABLE = re.compile(r"[A-Za-z0-9_.]{1,60}")

_EXTERNAL = "a tensor outside the file (external data)"
_SUBGRAPH = "a graph inside an operator"
_SPARSE = "a sparse tensor"
_DEVICES = "instructions for other devices"
_OTHER_TYPE = "something that is not a plain tensor"


def _number(name: str) -> Field:
    return Field(name, (VARINT,))


def _many(name: str) -> Field:
    return Field(name, repeated=True)


def _numbers(name: str, wire: int = VARINT) -> Field:
    return Field(name, (wire, BYTES), repeated=True)


def _barred(name: str, what: str) -> Field:
    return Field(name, refused=what)


_PROPERTY: Schema = {1: Field("key"), 2: Field("value")}
_OPERATOR_SET: Schema = {1: Field("domain"), 2: _number("version")}
_MODEL: Schema = {
    1: _number("ir_version"),
    2: Field("producer_name"),
    3: Field("producer_version"),
    4: Field("domain"),
    5: _number("model_version"),
    6: Field("doc_string"),
    7: Field("graph"),
    8: _many("opset_import"),
    14: _many("metadata_props"),
    20: _barred("training_info", "a part for training"),
    25: _barred("functions", "functions of its own"),
    26: _barred("configuration", _DEVICES),
}
_GRAPH: Schema = {
    1: _many("node"),
    2: Field("name"),
    5: _many("initializer"),
    10: Field("doc_string"),
    11: _many("input"),
    12: _many("output"),
    13: _many("value_info"),
    14: _barred("quantization_annotation", "notes of a quantizer"),
    15: _barred("sparse_initializer", _SPARSE),
    16: _many("metadata_props"),
}
_NODE: Schema = {
    1: _many("input"),
    2: _many("output"),
    3: Field("name"),
    4: Field("op_type"),
    5: _many("attribute"),
    6: Field("doc_string"),
    7: Field("domain"),
    8: Field("overload"),
    9: _many("metadata_props"),
    10: _barred("device_configurations", _DEVICES),
}
_ATTRIBUTE: Schema = {
    1: Field("name"),
    2: Field("f", (FIXED32,)),
    3: _number("i"),
    4: Field("s"),
    5: Field("t"),
    6: _barred("g", _SUBGRAPH),
    7: _numbers("floats", FIXED32),
    8: _numbers("ints"),
    9: _many("strings"),
    10: _many("tensors"),
    11: _barred("graphs", _SUBGRAPH),
    13: Field("doc_string"),
    14: _barred("tp", _OTHER_TYPE),
    15: _barred("type_protos", _OTHER_TYPE),
    20: _number("type"),
    21: _barred("ref_attr_name", "functions of its own"),
    22: _barred("sparse_tensor", _SPARSE),
    23: _barred("sparse_tensors", _SPARSE),
}
_TENSOR: Schema = {
    1: _numbers("dims"),
    2: _number("data_type"),
    3: _barred("segment", "a tensor in segments"),
    4: _numbers("float_data", FIXED32),
    5: _numbers("int32_data"),
    6: _barred("string_data", "a tensor of text"),
    7: _numbers("int64_data"),
    8: Field("name"),
    9: Field("raw_data"),
    10: _numbers("double_data", FIXED64),
    11: _numbers("uint64_data"),
    12: Field("doc_string"),
    13: _barred("external_data", _EXTERNAL),
    14: _number("data_location"),
    16: _many("metadata_props"),
}
_VALUE: Schema = {1: Field("name"), 2: Field("type"), 3: Field("doc_string"), 4: _many("metadata_props")}
_TYPE: Schema = {
    1: Field("tensor_type"),
    4: _barred("sequence_type", _OTHER_TYPE),
    5: _barred("map_type", _OTHER_TYPE),
    6: Field("denotation"),
    7: _barred("opaque_type", _OTHER_TYPE),
    8: _barred("sparse_tensor_type", _SPARSE),
    9: _barred("optional_type", _OTHER_TYPE),
}
_TENSOR_TYPE: Schema = {1: _number("elem_type"), 2: Field("shape")}
_SHAPE: Schema = {1: _many("dim")}
_DIMENSION: Schema = {1: _number("dim_value"), 2: Field("dim_param"), 3: Field("denotation")}


@dataclass(frozen=True)
class Outline:
    """The parts of a model.

    Attributes:
        operators: How often each operator occurs, by name with its domain.
        tensors: How many stored tensors it has.
        size: Its size in bytes.
    """

    operators: dict[str, int]
    tensors: int
    size: int


def check_model(content: bytes, dimension: int, name: str = "model.onnx") -> Outline:
    """Looks through a model without running it.

    Args:
        content: All bytes of the model.
        dimension: ``k``, the length of the vector it must give.
        name: What errors call it.

    Returns:
        What it consists of.

    Raises:
        ModelRefused: It holds what this package does not run: data outside the file, an unknown operator or domain,
            graphs inside operators, functions, a part for training, sparse or text tensors, another signature than
            ``input_ids, attention_mask: int64 (1, tokens) -> representation: float32 (1, k)``.
        BundleDamaged: The bytes are truncated, ambiguous or no ONNX model.
    """
    # onnxruntime takes a file with this mark for its own format, whatever else it is.
    if content[4:8] == b"ORTM":
        raise ModelRefused(f"{name}: is not in the ONNX format")
    try:
        return _check(memoryview(content), dimension)
    except Malformed as error:
        raise BundleDamaged(f"{name}: no readable ONNX model: {error}") from None
    except Refused as error:
        raise ModelRefused(f"{name}: holds {error}, which this package does not run") from None
    except _Unfit as error:
        raise ModelRefused(f"{name}: {error}") from None


class _Unfit(ValueError):
    pass


def _check(content: memoryview, dimension: int) -> Outline:
    model = _read(content, _MODEL, "the model")
    if not model["graph"] or not model["opset_import"]:
        raise Malformed("there is no graph")
    for entry in model["opset_import"]:
        if text(read(entry, _OPERATOR_SET, "an operator set")["domain"]) not in OPERATORS:
            raise _Unfit("asks for operators of an unknown domain")
    graph = _read(model["graph"][0], _GRAPH, "the graph")
    stored = {_check_tensor(tensor) for tensor in graph["initializer"]}
    operators = Counter(_check_node(node, number) for number, node in enumerate(graph["node"], 1))
    for value in graph["value_info"]:
        _value(value)
    _check_signature(graph["input"], graph["output"], stored, dimension)
    return Outline(dict(operators.most_common()), len(graph["initializer"]), len(content))


def _read(message: memoryview, schema: Schema, kind: str) -> dict[str, list[Any]]:
    """Reads a message that may carry properties of its own."""
    fields = read(message, schema, kind)
    for entry in fields["metadata_props"]:
        if text(read(entry, _PROPERTY, "a property")["key"]) == "ort_config":
            raise _Unfit("brings settings for what runs it")
    return fields


def _check_node(node: memoryview, number: int) -> str:
    """Checks an operator with its attributes, and gives its name."""
    fields = _read(node, _NODE, f"operator {number}")
    domain, kind = text(fields["domain"]), text(fields["op_type"])
    full = f"{domain}.{kind}" if domain else kind
    if text(fields["overload"]) or kind not in OPERATORS.get(domain, frozenset()):
        shown = full if _PRINTABLE.fullmatch(full) else "without a plain name"
        raise _Unfit(f"operator {number} ({shown}) is not one that this package runs")
    for attribute in fields["attribute"]:
        content = read(attribute, _ATTRIBUTE, f"an attribute of operator {number}")
        for tensor in (*content["t"], *content["tensors"]):
            _check_tensor(tensor)
    return full


def _check_tensor(tensor: memoryview) -> str:
    """Checks that a tensor lies in the file and is of numbers, and gives its name."""
    fields = _read(tensor, _TENSOR, "a tensor")
    if any(fields["data_location"]):  # any other number could be cut to the one that means "external"
        raise Refused(_EXTERNAL)
    if not fields["data_type"] or fields["data_type"][0] not in _TENSOR_TYPES:
        raise Refused("a tensor of an unknown type")
    return text(fields["name"])


def _value(value: memoryview) -> tuple[str, int, list[int | None] | None]:
    """Name, element type (0 if not given) and shape (``None`` if not given; ``None`` for an open axis)."""
    fields = _read(value, _VALUE, "a value")
    name = text(fields["name"])
    if not fields["type"]:
        return name, 0, None
    types = read(fields["type"][0], _TYPE, "a type")["tensor_type"]
    if not types:
        return name, 0, None
    tensor = read(types[0], _TENSOR_TYPE, "a tensor type")
    shape = None
    if tensor["shape"]:
        shape = [_axis(axis) for axis in read(tensor["shape"][0], _SHAPE, "a shape")["dim"]]
    return name, *(tensor["elem_type"] or [0])[:1], shape


def _axis(axis: memoryview) -> int | None:
    fields: dict[str, list[Any]] = read(axis, _DIMENSION, "an axis")
    if fields["dim_value"] and fields["dim_param"]:
        raise Malformed("an axis is both open and given")
    return fields["dim_value"][0] if fields["dim_value"] else None


def _check_signature(
    inputs: Iterable[memoryview], outputs: Iterable[memoryview], stored: set[str], dimension: int
) -> None:
    taken, given = [_value(value) for value in inputs], [_value(value) for value in outputs]
    if sorted(name for name, _, _ in taken) != sorted(INPUTS) or stored & {*INPUTS, OUTPUT}:
        raise _Unfit(f"its inputs must be {' and '.join(INPUTS)}")
    for name, kind, shape in taken:
        if kind != INT64 or shape is None or len(shape) != 2 or shape[0] not in (None, 1) or shape[1] is not None:
            raise _Unfit(f"{name} must be int64 of shape (1, tokens), with any number of tokens")
    if [name for name, _, _ in given] != [OUTPUT]:
        raise _Unfit(f"its one output must be {OUTPUT}")
    _, kind, shape = given[0]
    wrong = shape is not None and (len(shape) != 2 or shape[0] not in (None, 1) or shape[1] not in (None, dimension))
    if kind != FLOAT or wrong:
        raise _Unfit(f"{OUTPUT} must be float32 of shape (1, {dimension})")
