"""Security check of an ONNX model: only plain tensors, known operators, and fixed inputs and outputs.

onnxruntime is a large interpreter. It runs any operator that it was built with, and opens further files if a model
refers to them (external tensors, also through hard links and relative to the working directory). Therefore a strict
reader first checks the bytes against ONNX's published schema (onnx.proto3, ModelProto). Only models that satisfy the
tables of this module reach onnxruntime. Subgraphs are not allowed, which limits the nesting of a model.

The check does not limit the cost of running the model on a text. Models run only if the caller stated the bundle's
content hash or signer (``textveil.vector``), and exporters limit the work (docs/encoder-format.md, "model.onnx").
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import prod
from typing import Any

from textveil.bundle.onnx import schema
from textveil.bundle.onnx.protobuf import (
    ForbiddenField,
    MalformedMessage,
    MessageSchema,
    decode_numbers,
    decode_text,
    parse_message,
)
from textveil.errors import BundleDamaged, ModelRefused

INPUT_NAMES, OUTPUT_NAME = ("input_ids", "attention_mask"), "representation"
FLOAT_TYPE, INT64_TYPE = 1, 7  # TensorProto.DataType
MAX_OPERATORS, MAX_AXES = 10_000, 16

#: Allowed operators: those that exporters and dynamic quantization emit for BERT-like encoders and their output layers.
#: All are pure functions of their inputs. Operators with randomness, state, branches or loops are not allowed.
_STANDARD_OPERATORS = """
    Abs Add And Cast CastLike Clip Concat Constant ConstantOfShape CumSum DequantizeLinear Div DynamicQuantizeLinear
    Equal Erf Exp Expand Flatten Gather GatherElements GatherND Gelu Gemm Greater GreaterOrEqual Identity IsInf IsNaN
    LayerNormalization Less LessOrEqual Log LpNormalization MatMul MatMulInteger Max Mean Min Mul Neg Not Or Pow
    QLinearMatMul QuantizeLinear Range Reciprocal ReduceL1 ReduceL2 ReduceMax ReduceMean ReduceMin ReduceSum
    ReduceSumSquare Relu Reshape Shape Sigmoid Sign Slice Softmax Split Sqrt Squeeze Sub Sum Tanh Tile Transpose Trilu
    Unsqueeze Where
"""
#: Operators of onnxruntime, into which its transformer optimizer and its quantizer fuse several of the above.
_FUSED_OPERATORS = """
    Attention BiasGelu DynamicQuantizeMatMul EmbedLayerNormalization FastGelu FusedMatMul GatherBlockQuantized Gelu
    MatMulIntegerToFloat MatMulNBits MultiHeadAttention QAttention QEmbedLayerNormalization QuickGelu
    SkipLayerNormalization
"""
OPERATORS: Mapping[str, frozenset[str]] = {
    "": frozenset(_STANDARD_OPERATORS.split()),
    "com.microsoft": frozenset(_FUSED_OPERATORS.split()),
}

# float32, uint8, int8, int32, int64, bool, float16, float64, uint4, int4
_TENSOR_TYPES = frozenset({1, 2, 3, 6, 7, 9, 10, 11, 21, 22})
_PRINTABLE = re.compile(r"[A-Za-z0-9_.]{1,60}")


@dataclass(frozen=True, kw_only=True)
class ModelCounts:
    """Counts of a model's operators and tensors.

    Attributes:
        operators: Number of occurrences of each operator by the operator's name, which includes its domain.
        tensors: Number of stored tensors.
        byte_size: Size of the model in bytes.
    """

    operators: dict[str, int]
    tensors: int
    byte_size: int


def check_model(content: bytes, dimension: int, name: str = "model.onnx") -> ModelCounts:
    """Check the bytes of a model without running it.

    Args:
        content: All bytes of the model.
        dimension: Required length of the output vector.
        name: Name of the file in error messages.

    Returns:
        Counts of the model's operators and tensors.

    Raises:
        ModelRefused: The model contains something that this package does not run: data outside the file, an unknown
            operator or domain, graphs inside operators, functions, a part for training, sparse or text tensors, or
            other inputs and outputs than
            ``input_ids, attention_mask: int64 (1, tokens) -> representation: float32 (1, dimension)``.
        BundleDamaged: The bytes are truncated, ambiguous or not an ONNX model.
    """
    # onnxruntime reads any file with this signature as its own format (ORT), which this module cannot check.
    if content[4:8] == b"ORTM":
        raise ModelRefused(f"{name}: is not an ONNX model")
    try:
        return _check_bytes(memoryview(content), dimension)
    except MalformedMessage as error:
        raise BundleDamaged(f"{name}: the ONNX model cannot be read: {error}") from None
    except ForbiddenField as error:
        raise ModelRefused(
            f"{name}: has {error}; this package runs no such model: export the encoder with textveil-export"
        ) from None
    except _UnsupportedModel as error:
        raise ModelRefused(f"{name}: {error}") from None


class _UnsupportedModel(ValueError):
    pass


def _check_bytes(content: memoryview, dimension: int) -> ModelCounts:
    model = _parse_message(content, schema.MODEL, "the model")
    if not model["graph"] or not model["opset_import"]:
        raise MalformedMessage("the model has no graph")
    for entry in model["opset_import"]:
        if decode_text(parse_message(entry, schema.OPERATOR_SET, "an operator set")["domain"]) not in OPERATORS:
            raise _UnsupportedModel("needs operators of an unknown domain: export the encoder with textveil-export")
    graph = _parse_message(model["graph"][0], schema.GRAPH, "the graph")
    if len(graph["node"]) > MAX_OPERATORS:
        raise _UnsupportedModel(f"has more than {MAX_OPERATORS:,} operators")
    tensor_names = {_check_tensor(tensor) for tensor in graph["initializer"]}
    operators = Counter(_check_operator(node, number) for number, node in enumerate(graph["node"], 1))
    for value in graph["value_info"]:
        _parse_value(value)
    _check_signature(graph["input"], graph["output"], tensor_names, dimension)
    return ModelCounts(
        operators=dict(operators.most_common()), tensors=len(graph["initializer"]), byte_size=len(content)
    )


def _parse_message(message: memoryview, fields_of: MessageSchema, kind: str) -> dict[str, list[Any]]:
    """Parse a protobuf message, and return a dictionary from the name of each field to the list of its values.

    Metadata properties that configure onnxruntime are an error.
    """
    fields = parse_message(message, fields_of, kind)
    for entry in fields["metadata_props"]:
        if decode_text(parse_message(entry, schema.PROPERTY, "a property")["key"]) == "ort_config":
            raise _UnsupportedModel("has metadata that configures onnxruntime: export the encoder with textveil-export")
    return fields


def _check_operator(node: memoryview, number: int) -> str:
    """Check that an operator and its attributes are allowed; return the operator's name, which includes its domain."""
    fields = _parse_message(node, schema.NODE, f"operator {number}")
    domain, operator_type = decode_text(fields["domain"]), decode_text(fields["op_type"])
    full_name = f"{domain}.{operator_type}" if domain else operator_type
    if decode_text(fields["overload"]) or operator_type not in OPERATORS.get(domain, frozenset()):
        printed_name = full_name if _PRINTABLE.fullmatch(full_name) else "without a plain name"
        raise _UnsupportedModel(f"operator {number} ({printed_name}) is not one that this package runs")
    for attribute in fields["attribute"]:
        attribute_fields = parse_message(attribute, schema.ATTRIBUTE, f"an attribute of operator {number}")
        for tensor in (*attribute_fields["t"], *attribute_fields["tensors"]):
            _check_tensor(tensor)
    return full_name


def _check_tensor(tensor: memoryview) -> str:
    """Check that a tensor is numeric and stored inside the model file; return the tensor's name."""
    fields = _parse_message(tensor, schema.TENSOR, "a tensor")
    if any(fields["data_location"]):  # onnxruntime could truncate another number to the value that means "external"
        raise ForbiddenField(schema.EXTERNAL_DATA)
    if not fields["data_type"] or fields["data_type"][0] not in _TENSOR_TYPES:
        raise ForbiddenField("a tensor with an unknown type")
    dims = decode_numbers(fields["dims"])
    if len(dims) > MAX_AXES or min(dims, default=0) < 0 or prod(dims) > 2 * len(tensor):  # at most two per byte
        raise MalformedMessage("the size of a tensor differs from the size of its data")
    return decode_text(fields["name"])


def _parse_value(value: memoryview) -> tuple[str, int, list[int | None] | None]:
    """Parse the declaration of an input, an output or another value of the graph.

    Returns:
        The name of the value; the ONNX code of its element type, or 0 if the declaration has no type; and its shape, or
        ``None`` if the declaration has no shape. A dimension of unknown size is ``None``.
    """
    fields = _parse_message(value, schema.VALUE, "a value")
    name = decode_text(fields["name"])
    if not fields["type"]:
        return name, 0, None
    types = parse_message(fields["type"][0], schema.TYPE, "a type")["tensor_type"]
    if not types:
        return name, 0, None
    tensor = parse_message(types[0], schema.TENSOR_TYPE, "a tensor type")
    shape = None
    if tensor["shape"]:
        shape = [_parse_axis(axis) for axis in parse_message(tensor["shape"][0], schema.SHAPE, "a shape")["dim"]]
    return name, *(tensor["elem_type"] or [0])[:1], shape


def _parse_axis(axis: memoryview) -> int | None:
    fields: dict[str, list[Any]] = parse_message(axis, schema.DIMENSION, "an axis")
    if fields["dim_value"] and fields["dim_param"]:
        raise MalformedMessage("an axis has both a fixed and a variable size")
    return fields["dim_value"][0] if fields["dim_value"] else None


def _check_signature(
    inputs: Iterable[memoryview], outputs: Iterable[memoryview], tensor_names: set[str], dimension: int
) -> None:
    input_values, output_values = [_parse_value(value) for value in inputs], [_parse_value(value) for value in outputs]
    if sorted(name for name, _, _ in input_values) != sorted(INPUT_NAMES) or tensor_names & {*INPUT_NAMES, OUTPUT_NAME}:
        raise _UnsupportedModel(f"its inputs must be {' and '.join(INPUT_NAMES)}")
    for name, element_type, shape in input_values:
        if (
            element_type != INT64_TYPE
            or shape is None
            or len(shape) != 2
            or shape[0] not in (None, 1)
            or shape[1] is not None
        ):
            raise _UnsupportedModel(f"{name} must be int64 of shape (1, tokens), with any number of tokens")
    if [name for name, _, _ in output_values] != [OUTPUT_NAME]:
        raise _UnsupportedModel(f"its one output must be {OUTPUT_NAME}")
    _, element_type, shape = output_values[0]
    is_wrong_shape = shape is not None and (
        len(shape) != 2 or shape[0] not in (None, 1) or shape[1] not in (None, dimension)
    )
    if element_type != FLOAT_TYPE or is_wrong_shape:
        raise _UnsupportedModel(f"{OUTPUT_NAME} must be float32 of shape (1, {dimension})")
