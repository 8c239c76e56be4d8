"""Fields of ONNX's published schema (onnx.proto3) that a model may have, by field number.

A field with a ``refusal`` is forbidden (``MessageField``).
"""

from textveil.bundle.onnx.protobuf import BYTES, FIXED32, FIXED64, VARINT, MessageField, MessageSchema

EXTERNAL_DATA = "a tensor outside the file (external data)"
_SUBGRAPH = "a graph inside an operator"
_SPARSE = "a sparse tensor"
_DEVICES = "instructions for other devices"
_OTHER_TYPE = "something that is not a plain tensor"


def _make_number(name: str) -> MessageField:
    return MessageField(name, (VARINT,))


def _make_repeated(name: str) -> MessageField:
    return MessageField(name, is_repeated=True)


def _make_numbers(name: str, wire: int = VARINT) -> MessageField:
    return MessageField(name, (wire, BYTES), is_repeated=True)


def _make_forbidden(name: str, refusal: str) -> MessageField:
    return MessageField(name, refusal=refusal)


PROPERTY: MessageSchema = {1: MessageField("key"), 2: MessageField("value")}
OPERATOR_SET: MessageSchema = {1: MessageField("domain"), 2: _make_number("version")}
MODEL: MessageSchema = {
    1: _make_number("ir_version"),
    2: MessageField("producer_name"),
    3: MessageField("producer_version"),
    4: MessageField("domain"),
    5: _make_number("model_version"),
    6: MessageField("doc_string"),
    7: MessageField("graph"),
    8: _make_repeated("opset_import"),
    14: _make_repeated("metadata_props"),
    20: _make_forbidden("training_info", "a part for training"),
    25: _make_forbidden("functions", "functions of its own"),
    26: _make_forbidden("configuration", _DEVICES),
}
GRAPH: MessageSchema = {
    1: _make_repeated("node"),
    2: MessageField("name"),
    5: _make_repeated("initializer"),
    10: MessageField("doc_string"),
    11: _make_repeated("input"),
    12: _make_repeated("output"),
    13: _make_repeated("value_info"),
    14: _make_forbidden("quantization_annotation", "notes of a quantizer"),
    15: _make_forbidden("sparse_initializer", _SPARSE),
    16: _make_repeated("metadata_props"),
}
NODE: MessageSchema = {
    1: _make_repeated("input"),
    2: _make_repeated("output"),
    3: MessageField("name"),
    4: MessageField("op_type"),
    5: _make_repeated("attribute"),
    6: MessageField("doc_string"),
    7: MessageField("domain"),
    8: MessageField("overload"),
    9: _make_repeated("metadata_props"),
    10: _make_forbidden("device_configurations", _DEVICES),
}
ATTRIBUTE: MessageSchema = {
    1: MessageField("name"),
    2: MessageField("f", (FIXED32,)),
    3: _make_number("i"),
    4: MessageField("s"),
    5: MessageField("t"),
    6: _make_forbidden("g", _SUBGRAPH),
    7: _make_numbers("floats", FIXED32),
    8: _make_numbers("ints"),
    9: _make_repeated("strings"),
    10: _make_repeated("tensors"),
    11: _make_forbidden("graphs", _SUBGRAPH),
    13: MessageField("doc_string"),
    14: _make_forbidden("tp", _OTHER_TYPE),
    15: _make_forbidden("type_protos", _OTHER_TYPE),
    20: _make_number("type"),
    21: _make_forbidden("ref_attr_name", "functions of its own"),
    22: _make_forbidden("sparse_tensor", _SPARSE),
    23: _make_forbidden("sparse_tensors", _SPARSE),
}
TENSOR: MessageSchema = {
    1: _make_numbers("dims"),
    2: _make_number("data_type"),
    3: _make_forbidden("segment", "a tensor in segments"),
    4: _make_numbers("float_data", FIXED32),
    5: _make_numbers("int32_data"),
    6: _make_forbidden("string_data", "a tensor of text"),
    7: _make_numbers("int64_data"),
    8: MessageField("name"),
    9: MessageField("raw_data"),
    10: _make_numbers("double_data", FIXED64),
    11: _make_numbers("uint64_data"),
    12: MessageField("doc_string"),
    13: _make_forbidden("external_data", EXTERNAL_DATA),
    14: _make_number("data_location"),
    16: _make_repeated("metadata_props"),
}
VALUE: MessageSchema = {
    1: MessageField("name"),
    2: MessageField("type"),
    3: MessageField("doc_string"),
    4: _make_repeated("metadata_props"),
}
TYPE: MessageSchema = {
    1: MessageField("tensor_type"),
    4: _make_forbidden("sequence_type", _OTHER_TYPE),
    5: _make_forbidden("map_type", _OTHER_TYPE),
    6: MessageField("denotation"),
    7: _make_forbidden("opaque_type", _OTHER_TYPE),
    8: _make_forbidden("sparse_tensor_type", _SPARSE),
    9: _make_forbidden("optional_type", _OTHER_TYPE),
}
TENSOR_TYPE: MessageSchema = {1: _make_number("elem_type"), 2: MessageField("shape")}
SHAPE: MessageSchema = {1: _make_repeated("dim")}
DIMENSION: MessageSchema = {1: _make_number("dim_value"), 2: MessageField("dim_param"), 3: MessageField("denotation")}
