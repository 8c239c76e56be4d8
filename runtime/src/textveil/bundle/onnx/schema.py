"""ONNX's published schema (onnx.proto3) for accepted models: fields by number.

A field with ``refused`` must not occur.
"""

from textveil.bundle.onnx.protobuf import BYTES, FIXED32, FIXED64, VARINT, Field, Schema

EXTERNAL = "a tensor outside the file (external data)"
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


PROPERTY: Schema = {1: Field("key"), 2: Field("value")}
OPERATOR_SET: Schema = {1: Field("domain"), 2: _number("version")}
MODEL: Schema = {
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
GRAPH: Schema = {
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
NODE: Schema = {
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
ATTRIBUTE: Schema = {
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
TENSOR: Schema = {
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
    13: _barred("external_data", EXTERNAL),
    14: _number("data_location"),
    16: _many("metadata_props"),
}
VALUE: Schema = {1: Field("name"), 2: Field("type"), 3: Field("doc_string"), 4: _many("metadata_props")}
TYPE: Schema = {
    1: Field("tensor_type"),
    4: _barred("sequence_type", _OTHER_TYPE),
    5: _barred("map_type", _OTHER_TYPE),
    6: Field("denotation"),
    7: _barred("opaque_type", _OTHER_TYPE),
    8: _barred("sparse_tensor_type", _SPARSE),
    9: _barred("optional_type", _OTHER_TYPE),
}
TENSOR_TYPE: Schema = {1: _number("elem_type"), 2: Field("shape")}
SHAPE: Schema = {1: _many("dim")}
DIMENSION: Schema = {1: _number("dim_value"), 2: Field("dim_param"), 3: Field("denotation")}
