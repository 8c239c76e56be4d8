"""What is refused of a model before anything runs it: attack files, ambiguous bytes, and a second reader's opinion."""

from collections.abc import Callable, Iterator

import onnx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper
from small_encoders import DIMENSION, POSITIONS, inputs, model_of, value
from textveil.bundle.onnx_check import OPERATORS, check_model
from textveil.errors import BundleDamaged, ModelRefused

Change = Callable[[onnx.ModelProto], object]
INT64, FLOAT = TensorProto.INT64, TensorProto.FLOAT
SOUND = model_of()
CONTENT = SOUND.SerializeToString()


def refused(content: bytes, error: type[Exception] = ModelRefused) -> str:
    """The message with which a model is refused: one line."""
    with pytest.raises(error) as caught:
        check_model(content, DIMENSION, POSITIONS)
    assert caught.type is error
    message = str(caught.value)
    assert message.startswith("model.onnx: ")
    assert "\n" not in message
    return message


def changed(change: Change) -> bytes:
    model = onnx.ModelProto()
    model.CopyFrom(SOUND)
    change(model)
    return model.SerializeToString()


def tag(number: int, wire: int) -> bytes:
    return varint(number << 3 | wire)


def varint(number: int) -> bytes:
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number])


def block(number: int, content: bytes) -> bytes:
    return tag(number, 2) + varint(len(content)) + content


# --- sound models --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["l1", "l2", "box"])
def test_a_sound_model(mode: str) -> None:
    model = model_of(mode)
    outline = check_model(model.SerializeToString(), DIMENSION, POSITIONS)
    assert sum(outline.operators.values()) == len(model.graph.node)
    assert outline.operators["Gather"] == 3
    assert outline.tensors == len(model.graph.initializer)
    assert outline.size == model.ByteSize()


@pytest.mark.parametrize(
    "change",
    [
        lambda model: model.metadata_props.add(key="onnx.infer", value="onnxruntime.quant"),
        lambda model: model.opset_import.add(domain="com.microsoft", version=1),
        lambda model: model.graph.value_info.append(value("states", FLOAT, [1, "tokens", 12])),
        lambda model: model.graph.input[0].type.tensor_type.shape.dim[0].ClearField("dim_value"),
        lambda model: model.graph.output[0].type.tensor_type.shape.dim[1].ClearField("dim_value"),
        lambda model: model.graph.output[0].type.tensor_type.ClearField("shape"),
        lambda model: model.graph.node.append(helper.make_node("Gelu", ["head"], ["x"], domain="com.microsoft")),
        lambda model: model.graph.node.append(
            helper.make_node("Constant", [], ["y"], value=model.graph.initializer[0])
        ),
    ],
)
def test_what_may_differ(change: Change) -> None:
    assert check_model(changed(change), DIMENSION, POSITIONS).tensors == 12


def test_nothing_on_the_list_draws_holds_state_branches_or_loops() -> None:
    everything = set().union(*OPERATORS.values())
    barred = {"If", "Loop", "Scan", "SequenceMap", "Dropout", "RandomNormal", "RandomUniform", "RandomNormalLike"}
    barred |= {"RandomUniformLike", "Bernoulli", "Multinomial", "Optional", "StringNormalizer", "ImageDecoder"}
    assert not barred & everything
    for kind in OPERATORS[""]:  # every name is an operator of the standard, and takes no graph
        schema = onnx.defs.get_schema(kind)
        graphs = {onnx.defs.OpSchema.AttrType.GRAPH, onnx.defs.OpSchema.AttrType.GRAPHS}
        assert not [name for name, attribute in schema.attributes.items() if attribute.type in graphs], kind


# --- data that lie elsewhere ---------------------------------------------------------------------------------------


def external(tensor: onnx.TensorProto, location: str = "../secrets.bin") -> None:
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value=location)


def in_an_attribute(model: onnx.ModelProto, **attribute: object) -> None:
    model.graph.node.append(helper.make_node("Constant", [], ["x"], **attribute))


def external_tensor() -> onnx.TensorProto:
    tensor = helper.make_tensor("x", FLOAT, [1], [0.0])
    external(tensor)
    return tensor


@pytest.mark.parametrize(
    "change",
    [
        lambda model: external(model.graph.initializer[0]),
        lambda model: external(model.graph.initializer[-1], "/etc/passwd"),
        lambda model: external(model.graph.initializer[0], "model.data"),
        lambda model: external(model.graph.initializer[0], "*/_ORT_MEM_ADDR_/*"),
        lambda model: setattr(model.graph.initializer[0], "data_location", TensorProto.EXTERNAL),
        lambda model: model.graph.initializer[0].external_data.add(key="location", value="x"),
        lambda model: in_an_attribute(model, value=external_tensor()),
        lambda model: in_an_attribute(model, others=[helper.make_tensor("y", FLOAT, [1], [0.0]), external_tensor()]),
    ],
)
def test_external_data(change: Change) -> None:
    assert "a tensor outside the file (external data)" in refused(changed(change))


@pytest.mark.parametrize("number", [1, 2, 1 << 32 | 1, 1 << 63])
def test_a_location_that_is_cut_to_external(number: int) -> None:
    """Readers cut an enumeration to 32 bits: 2**32 + 1 is 1 to them."""
    tensor = SOUND.graph.initializer[0].SerializeToString() + tag(14, 0) + varint(number)
    content = CONTENT.replace(
        block(7, SOUND.graph.SerializeToString()), block(7, SOUND.graph.SerializeToString() + block(5, tensor))
    )
    assert content != CONTENT
    assert "external data" in refused(content)


# --- operators -----------------------------------------------------------------------------------------------------


def graph_with(kind: str, domain: str = "", deeper: int = 0) -> onnx.GraphProto:
    node = helper.make_node(kind, ["x"], ["y"], domain=domain)
    graph = helper.make_graph([node], "inner", [], [value("y", FLOAT, None)])
    for _ in range(deeper):
        outer = helper.make_node("If", ["c"], ["y"], then_branch=graph, else_branch=graph_with("Identity"))
        graph = helper.make_graph([outer], "inner", [], [value("y", FLOAT, None)])
    return graph


@pytest.mark.parametrize(
    ("kind", "domain", "shown"),
    [
        ("Steal", "", "Steal"),
        ("If", "", "If"),
        ("Loop", "", "Loop"),
        ("RandomNormal", "", "RandomNormal"),
        ("Dropout", "", "Dropout"),
        ("Add", "evil", "evil.Add"),
        ("Add", "com.microsoft", "com.microsoft.Add"),
        ("Gelu", "ai.onnx.ml", "ai.onnx.ml.Gelu"),
        ("", "", "without a plain name"),
        ("\x1b[31mAdd", "", "without a plain name"),
        ("A" * 200, "", "without a plain name"),
        ("Add\n", "", "without a plain name"),
    ],
)
def test_an_unknown_operator(kind: str, domain: str, shown: str) -> None:
    node = helper.make_node(kind, ["head"], ["x"], domain=domain)
    message = refused(changed(lambda model: model.graph.node.append(node)))
    assert message == f"model.onnx: operator {len(SOUND.graph.node) + 1} ({shown}) is not one that this package runs"


def test_an_overloaded_operator() -> None:
    assert "operator 1 (Equal)" in refused(changed(lambda model: setattr(model.graph.node[0], "overload", "mine")))


@pytest.mark.parametrize("domain", ["evil", "ai.onnx.ml", "com.microsoft.experimental", "ai.onnx.training"])
def test_an_unknown_domain(domain: str) -> None:
    message = refused(changed(lambda model: model.opset_import.add(domain=domain, version=1)))
    assert message == "model.onnx: asks for operators of an unknown domain"


@pytest.mark.parametrize("deeper", [0, 1, 20])
@pytest.mark.parametrize("attribute", ["then_branch", "body", "anything"])
def test_an_operator_hidden_in_a_graph_of_an_operator(attribute: str, deeper: int) -> None:
    """In an attribute of an operator that is allowed: refused at the first level, so no depth is too deep."""
    graph = graph_with("Steal", "evil", deeper)
    for hidden in (graph, [graph_with("Identity"), graph]):
        content = changed(lambda model, hidden=hidden: in_an_attribute(model, **{attribute: hidden}))
        assert "a graph inside an operator" in refused(content)


def test_a_thousand_levels() -> None:
    """Deeper than the official reader goes, or this Python's stack."""
    graph = graph_with("Identity").SerializeToString()
    for _ in range(2000):
        node = block(4, b"If") + block(5, block(1, b"then_branch") + block(6, graph))
        graph = block(1, node)
    assert "operator 1 (If)" in refused(tag(1, 0) + varint(8) + block(7, graph) + block(8, tag(2, 0) + varint(17)))


# --- other parts of a model ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (
            lambda model: model.functions.append(
                helper.make_function("evil", "Add", ["a"], ["b"], [helper.make_node("Abs", ["a"], ["b"])], [])
            ),
            "functions of its own",
        ),
        (lambda model: model.training_info.add(), "a part for training"),
        (lambda model: model.configuration.add(name="gpu"), "instructions for other devices"),
        (lambda model: model.graph.node[0].device_configurations.add(), "instructions for other devices"),
        (lambda model: model.graph.sparse_initializer.add(), "a sparse tensor"),
        (lambda model: model.graph.quantization_annotation.add(), "notes of a quantizer"),
        (lambda model: in_an_attribute(model, sparse_value=onnx.SparseTensorProto()), "a sparse tensor"),
        (lambda model: model.graph.initializer.append(helper.make_tensor("t", 8, [1], [b"x"])), "a tensor of text"),
        (lambda model: setattr(model.graph.initializer[0], "data_type", 16), "a tensor of an unknown type"),
        (lambda model: model.graph.initializer[0].ClearField("data_type"), "a tensor of an unknown type"),
        (lambda model: model.graph.initializer[0].segment.CopyFrom(TensorProto.Segment()), "a tensor in segments"),
        (
            lambda model: model.graph.value_info.append(
                helper.make_value_info("x", helper.make_sequence_type_proto(value("y", FLOAT, [1]).type))
            ),
            "something that is not a plain tensor",
        ),
        (
            lambda model: setattr(model.graph.node[0].attribute.add(name="a", type=1, f=1.0), "ref_attr_name", "outer"),
            "functions of its own",
        ),
    ],
)
def test_what_else_is_not_run(change: Change, what: str) -> None:
    assert refused(changed(change)) == f"model.onnx: holds {what}, which this package does not run"


@pytest.mark.parametrize("where", [lambda model: model, lambda model: model.graph, lambda model: model.graph.node[3]])
def test_settings_for_what_runs_it(where: Callable[[onnx.ModelProto], onnx.ModelProto]) -> None:
    assert "brings settings" in refused(changed(lambda model: where(model).metadata_props.add(key="ort_config")))


@pytest.mark.parametrize("packed", [b"\x80", b"\x01\x80", b"\xff" * 10 + b"\x01"])
def test_packed_numbers_that_do_not_end(packed: bytes) -> None:
    tensor = block(1, packed) + tag(2, 0) + varint(FLOAT)
    content = CONTENT.replace(block(7, SOUND.graph.SerializeToString()), b"")
    content += block(7, SOUND.graph.SerializeToString() + block(5, tensor))
    assert "numbers in a tensor are truncated" in refused(content, BundleDamaged)
    content = content.replace(block(5, tensor), block(5, block(4, packed) + tag(2, 0) + varint(FLOAT)))
    refused(content, BundleDamaged)


def test_a_file_of_two_formats() -> None:
    """A sound model whose bytes 4 to 8 are the mark by which onnxruntime knows its own format, and trusts it."""
    content = block(2, b"??ORTM") + b"".join(
        [tag(1, 0) + varint(8), block(7, SOUND.graph.SerializeToString()), block(8, tag(2, 0) + varint(17))]
    )
    assert content[4:8] == b"ORTM"
    assert onnx.load_from_string(content).producer_name == "??ORTM"
    assert refused(content) == "model.onnx: is not in the ONNX format"
    assert check_model(content.replace(b"ORTM", b"ORTN"), DIMENSION, POSITIONS)


# --- signature -----------------------------------------------------------------------------------------------------


def with_inputs(*values: onnx.ValueInfoProto) -> Change:
    def change(model: onnx.ModelProto) -> None:
        del model.graph.input[:]
        model.graph.input.extend(values)

    return change


def with_outputs(*values: onnx.ValueInfoProto) -> Change:
    def change(model: onnx.ModelProto) -> None:
        del model.graph.output[:]
        model.graph.output.extend(values)

    return change


IDS, MASK = inputs()
VECTOR = value("representation", FLOAT, [1, DIMENSION])


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (with_inputs(), "inputs must be"),
        (with_inputs(IDS), "inputs must be"),
        (with_inputs(IDS, IDS), "inputs must be"),
        (with_inputs(IDS, MASK, value("token_type_ids", INT64, [1, "t"])), "inputs must be"),
        (with_inputs(IDS, value("mask", INT64, [1, "t"])), "inputs must be"),
        (lambda model: model.graph.initializer.append(helper.make_tensor("input_ids", INT64, [1], [0])), "inputs must"),
        (with_inputs(MASK, value("input_ids", TensorProto.INT32, [1, "t"])), "input_ids must be int64"),
        (with_inputs(MASK, value("input_ids", INT64, ["t"])), "input_ids must be int64"),
        (with_inputs(MASK, value("input_ids", INT64, [2, "t"])), "input_ids must be int64"),
        (with_inputs(MASK, value("input_ids", INT64, [1, 128])), "input_ids must be int64"),
        (with_inputs(MASK, value("input_ids", INT64, None)), "input_ids must be int64"),
        (with_inputs(MASK, onnx.ValueInfoProto(name="input_ids")), "input_ids must be int64"),
        (with_inputs(IDS, value("attention_mask", FLOAT, [1, "t"])), "attention_mask must be int64"),
        (with_outputs(), "one output must be"),
        (with_outputs(VECTOR, VECTOR), "one output must be"),
        (with_outputs(VECTOR, value("states", FLOAT, None)), "one output must be"),
        (with_outputs(value("logits", FLOAT, [1, DIMENSION])), "one output must be"),
        (with_outputs(value("representation", INT64, [1, DIMENSION])), "must be float32 of shape (1, 4)"),
        (with_outputs(value("representation", TensorProto.DOUBLE, [1, DIMENSION])), "must be float32"),
        (with_outputs(value("representation", FLOAT, [1, DIMENSION + 1])), "must be float32"),
        (with_outputs(value("representation", FLOAT, [DIMENSION])), "must be float32"),
        (with_outputs(value("representation", FLOAT, [2, DIMENSION])), "must be float32"),
        (with_outputs(value("representation", FLOAT, [1, "tokens", DIMENSION])), "must be float32"),
        (with_outputs(onnx.ValueInfoProto(name="representation")), "must be float32"),
    ],
)
def test_another_signature(change: Change, what: str) -> None:
    assert what in refused(changed(change))


# --- bytes that are no model, or two -------------------------------------------------------------------------------


def test_every_truncation() -> None:
    for size in range(len(CONTENT)):
        assert "no readable ONNX model" in refused(CONTENT[:size], BundleDamaged)


@pytest.mark.parametrize(
    "more",
    [
        block(7, model_of("l2").graph.SerializeToString()),  # a second graph: others merge the two
        block(7, block(1, block(4, b"Steal"))),
        tag(1, 0) + varint(9),
        block(99, b"hello"),  # unknown fields: others skip them
        tag(99, 0) + varint(1),
        tag(7, 0) + varint(1),  # known fields of another type
        tag(1, 2) + varint(1) + b"x",
        tag(7, 3) + tag(7, 4),  # groups
        tag(7, 6),
        tag(7, 7),
        tag(0, 2) + varint(0),
        varint((1 << 32 | 7) << 3 | 2) + varint(0),  # a tag of more than 32 bits, cut to 7
        tag(5, 0) + b"\x80" * 10 + b"\x01",  # a number without end
        tag(5, 0) + b"\xff" * 9 + b"\x7f",  # one of 70 bits
        tag(5, 0) + b"\x80",
        tag(7, 2) + varint(1 << 40),
        tag(6, 2) + varint((1 << 64) - 1),  # a length that is -1 to others
        block(8, block(1, b"\xff")),  # a name that is not UTF-8
        b"\x00",
        b"\n",
    ],
)
def test_bytes_that_others_read_differently(more: bytes) -> None:
    assert "no readable ONNX model: " in refused(CONTENT + more, BundleDamaged)
    if len(more) > 1:
        refused(more + CONTENT, BundleDamaged)


def test_an_axis_that_is_open_and_given() -> None:
    axis = block(1, b"x") + block(2, block(1, tag(1, 0) + varint(1) + block(2, block(1, block(2, b"t") + b"\x08\x04"))))
    content = CONTENT.replace(block(7, SOUND.graph.SerializeToString()), b"")
    content += block(7, SOUND.graph.SerializeToString() + block(13, axis))
    assert "both open and given" in refused(content, BundleDamaged)


@pytest.mark.parametrize("content", [b"", b"\x00" * 64, b"PK\x03\x04", b"\x80\x04\x95pickle", b"{}", b"\xff" * 300])
def test_no_model_at_all(content: bytes) -> None:
    refused(content, BundleDamaged)


# --- a second opinion ----------------------------------------------------------------------------------------------


def every_tensor(model: onnx.ModelProto) -> Iterator[onnx.TensorProto]:
    yield from model.graph.initializer
    for node in model.graph.node:
        for attribute in node.attribute:
            yield attribute.t
            yield from attribute.tensors


def sound(model: onnx.ModelProto) -> bool:
    """The rules, over again, on what the official reader makes of a file."""
    fields = {field.name for field, _ in model.ListFields()}
    nodes = model.graph.node
    return (
        not fields & {"functions", "training_info", "configuration"}
        and not model.graph.sparse_initializer
        and all(node.op_type in OPERATORS.get(node.domain, ()) for node in nodes)
        and not any(a.HasField("g") or a.graphs or a.HasField("tp") for node in nodes for a in node.attribute)
        and not any(t.data_location or t.external_data or t.string_data for t in every_tensor(model))
        and {entry.domain for entry in model.opset_import} <= set(OPERATORS)
        and sorted(entry.name for entry in model.graph.input) == ["attention_mask", "input_ids"]
        and all(entry.type.tensor_type.elem_type == INT64 for entry in model.graph.input)
        and [entry.name for entry in model.graph.output] == ["representation"]
        and model.graph.output[0].type.tensor_type.elem_type == FLOAT
    )


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    """A sound model with a few bytes changed, moved, repeated or taken out."""
    content = bytearray(CONTENT)
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(content) - 1))
        size = draw(st.integers(0, 12))
        kind = draw(st.sampled_from(["flip", "insert", "delete", "repeat", "known"]))
        if kind == "flip":
            content[start] = draw(st.integers(0, 255))
        elif kind == "insert":
            content[start:start] = draw(st.binary(max_size=4))
        elif kind == "delete":
            del content[start : start + size]
        elif kind == "repeat":
            content += content[start : start + size]
        else:
            content += draw(
                st.sampled_from([block(7, b""), block(14, block(1, b"a")), tag(5, 0) + b"\x01", b"\x70\x01"])
            )
    return bytes(content)


@pytest.mark.slow
@settings(max_examples=1500)
@given(mutated())
def test_what_is_accepted_is_sound_to_the_official_reader(content: bytes) -> None:
    try:
        check_model(content, DIMENSION, POSITIONS)
    except (ModelRefused, BundleDamaged):
        return
    assert sound(onnx.load_from_string(content))


def test_the_second_opinion_sees_what_it_is_for() -> None:
    assert sound(SOUND)
    for change in (
        lambda model: external(model.graph.initializer[0]),
        lambda model: model.graph.node.append(helper.make_node("Steal", [], [])),
        lambda model: in_an_attribute(model, body=graph_with("Steal")),
        lambda model: model.training_info.add(),
        with_inputs(IDS),
    ):
        assert not sound(onnx.load_from_string(changed(change)))
