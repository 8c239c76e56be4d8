"""Check of an ONNX model before it runs: plain tensors, known operators, one signature.

onnxruntime is a large interpreter that opens further files if a model refers to them (external tensors, also through
hard links and relative to the working directory) and runs any operator of its build. A strict reader therefore checks
the bytes first against ONNX's published schema (onnx.proto3, ModelProto), and only models that satisfy the tables below
reach onnxruntime. Subgraphs are not allowed, so the schema bounds the depth of a model.

The check does not bound the cost of running the model on a text: models run only if they are pinned
(``textveil.vector``), and exporters bound the work (docs/encoder-format.md, "The model").
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import prod
from typing import Any

from textveil.bundle.onnx import schema
from textveil.bundle.onnx.protobuf import Malformed, Refused, Schema, numbers, read, text
from textveil.errors import BundleDamaged, ModelRefused

INPUTS, OUTPUT = ("input_ids", "attention_mask"), "representation"
FLOAT, INT64 = 1, 7  # TensorProto.DataType
MAX_OPERATORS, MAX_AXES = 10_000, 16

#: Operators that exporters and dynamic quantization emit for BERT-like encoders and bounded heads. All are pure
#: functions of their inputs; operators with randomness, state, branches or loops are left out.
_STANDARD = """
    Abs Add And Cast CastLike Clip Concat Constant ConstantOfShape CumSum DequantizeLinear Div DynamicQuantizeLinear
    Equal Erf Exp Expand Flatten Gather GatherElements GatherND Gelu Gemm Greater GreaterOrEqual Identity IsInf IsNaN
    LayerNormalization Less LessOrEqual Log LpNormalization MatMul MatMulInteger Max Mean Min Mul Neg Not Or Pow
    QLinearMatMul QuantizeLinear Range Reciprocal ReduceL1 ReduceL2 ReduceMax ReduceMean ReduceMin ReduceSum
    ReduceSumSquare Relu Reshape Shape Sigmoid Sign Slice Softmax Split Sqrt Squeeze Sub Sum Tanh Tile Transpose Trilu
    Unsqueeze Where
"""
#: Operators of onnxruntime, into which its transformer optimizer and its quantizer fuse several of the above.
_FUSED = """
    Attention BiasGelu DynamicQuantizeMatMul EmbedLayerNormalization FastGelu FusedMatMul GatherBlockQuantized Gelu
    MatMulIntegerToFloat MatMulNBits MultiHeadAttention QAttention QEmbedLayerNormalization QuickGelu
    SkipLayerNormalization
"""
OPERATORS: Mapping[str, frozenset[str]] = {"": frozenset(_STANDARD.split()), "com.microsoft": frozenset(_FUSED.split())}

# float32, uint8, int8, int32, int64, bool, float16, float64, uint4, int4
_TENSOR_TYPES = frozenset({1, 2, 3, 6, 7, 9, 10, 11, 21, 22})
_PRINTABLE = re.compile(r"[A-Za-z0-9_.]{1,60}")


@dataclass(frozen=True, kw_only=True)
class Outline:
    """Counts of a model's operators and tensors.

    Attributes:
        operators: Number of occurrences of each operator, by name with its domain.
        tensors: Number of stored tensors.
        size: Size in bytes.
    """

    operators: dict[str, int]
    tensors: int
    size: int


def check_model(content: bytes, dimension: int, name: str = "model.onnx") -> Outline:
    """Check the bytes of a model without running it.

    Args:
        content: All bytes of the model.
        dimension: ``k``, the required length of the output vector.
        name: Name of the file in error messages.

    Returns:
        Counts of its operators and tensors.

    Raises:
        ModelRefused: The model contains something that this package does not run: data outside the file, an unknown
            operator or domain, graphs inside operators, functions, a part for training, sparse or text tensors, or
            another signature than ``input_ids, attention_mask: int64 (1, tokens) -> representation: float32 (1, k)``.
        BundleDamaged: The bytes are truncated, ambiguous or not an ONNX model.
    """
    # onnxruntime reads any file with this mark as its own format.
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
    model = _read(content, schema.MODEL, "the model")
    if not model["graph"] or not model["opset_import"]:
        raise Malformed("there is no graph")
    for entry in model["opset_import"]:
        if text(read(entry, schema.OPERATOR_SET, "an operator set")["domain"]) not in OPERATORS:
            raise _Unfit("asks for operators of an unknown domain")
    graph = _read(model["graph"][0], schema.GRAPH, "the graph")
    if len(graph["node"]) > MAX_OPERATORS:
        raise _Unfit(f"has more than {MAX_OPERATORS:,} operators")
    stored = {_tensor(tensor) for tensor in graph["initializer"]}
    operators = Counter(_operator(node, number) for number, node in enumerate(graph["node"], 1))
    for value in graph["value_info"]:
        _value(value)
    _check_signature(graph["input"], graph["output"], stored, dimension)
    return Outline(operators=dict(operators.most_common()), tensors=len(graph["initializer"]), size=len(content))


def _read(message: memoryview, fields_of: Schema, kind: str) -> dict[str, list[Any]]:
    """Parse a message with optional properties; reject properties that configure onnxruntime."""
    fields = read(message, fields_of, kind)
    for entry in fields["metadata_props"]:
        if text(read(entry, schema.PROPERTY, "a property")["key"]) == "ort_config":
            raise _Unfit("brings settings for what runs it")
    return fields


def _operator(node: memoryview, number: int) -> str:
    """Check an operator with its attributes; return its name with its domain."""
    fields = _read(node, schema.NODE, f"operator {number}")
    domain, kind = text(fields["domain"]), text(fields["op_type"])
    full = f"{domain}.{kind}" if domain else kind
    if text(fields["overload"]) or kind not in OPERATORS.get(domain, frozenset()):
        shown = full if _PRINTABLE.fullmatch(full) else "without a plain name"
        raise _Unfit(f"operator {number} ({shown}) is not one that this package runs")
    for attribute in fields["attribute"]:
        held = read(attribute, schema.ATTRIBUTE, f"an attribute of operator {number}")
        for tensor in (*held["t"], *held["tensors"]):
            _tensor(tensor)
    return full


def _tensor(tensor: memoryview) -> str:
    """Check that a tensor is numeric and inside the file; return its name."""
    fields = _read(tensor, schema.TENSOR, "a tensor")
    if any(fields["data_location"]):  # onnxruntime could truncate another number to the value that means "external"
        raise Refused(schema.EXTERNAL)
    if not fields["data_type"] or fields["data_type"][0] not in _TENSOR_TYPES:
        raise Refused("a tensor of an unknown type")
    dims = numbers(fields["dims"])
    if len(dims) > MAX_AXES or min(dims, default=0) < 0 or prod(dims) > 2 * len(tensor):  # at most two per byte
        raise Malformed("a tensor has another size than its data")
    return text(fields["name"])


def _value(value: memoryview) -> tuple[str, int, list[int | None] | None]:
    """Return name, element type (0 if missing) and shape of a value.

    The shape is ``None`` if missing; an axis of unknown size is ``None``.
    """
    fields = _read(value, schema.VALUE, "a value")
    name = text(fields["name"])
    if not fields["type"]:
        return name, 0, None
    types = read(fields["type"][0], schema.TYPE, "a type")["tensor_type"]
    if not types:
        return name, 0, None
    tensor = read(types[0], schema.TENSOR_TYPE, "a tensor type")
    shape = None
    if tensor["shape"]:
        shape = [_axis(axis) for axis in read(tensor["shape"][0], schema.SHAPE, "a shape")["dim"]]
    return name, *(tensor["elem_type"] or [0])[:1], shape


def _axis(axis: memoryview) -> int | None:
    fields: dict[str, list[Any]] = read(axis, schema.DIMENSION, "an axis")
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
