"""Models are checked before they run: external data, forbidden operators and other parts are refused."""

from collections.abc import Callable

import onnx
import pytest
from changed_models import (
    CONTENT,
    FLOAT,
    INT64,
    SOUND,
    Change,
    block,
    changed,
    external,
    graph_with,
    in_an_attribute,
    refused,
    tag,
    varint,
    with_in_graph,
    with_inputs,
    with_outputs,
)
from onnx import TensorProto, helper
from small_encoders import DIMENSION, inputs, model_of, value
from textveil.bundle.onnx.model_check import MAX_OPERATORS, OPERATORS, check_model
from textveil.errors import BundleDamaged

TEXT_TENSOR = TensorProto(name="t", data_type=TensorProto.STRING, dims=[1], string_data=[b"x"])

# --- sound models --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["l1", "l2", "box"])
def test_a_sound_model(mode: str) -> None:
    model = model_of(mode)
    outline = check_model(model.SerializeToString(), DIMENSION)
    assert sum(outline.operators.values()) == len(model.graph.node)
    assert outline.operators["Gather"] == 3
    assert outline.tensors == len(model.graph.initializer)
    assert outline.byte_size == model.ByteSize()


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
    assert check_model(changed(change), DIMENSION).tensors == 12


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
    content = with_in_graph(block(5, tensor))
    assert content != CONTENT
    assert "external data" in refused(content)


# --- operators -----------------------------------------------------------------------------------------------------


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


def test_more_operators_than_a_model_may_have() -> None:
    nodes = [helper.make_node("Identity", ["head"], [f"x{number}"]) for number in range(MAX_OPERATORS + 1)]
    assert refused(changed(lambda model: model.graph.node.extend(nodes))).endswith("has more than 10,000 operators")


@pytest.mark.parametrize("dims", [[1 << 40], [-1], [2, -2], [1] * 17, [1 << 32, 1 << 32]])
def test_a_tensor_of_another_size_than_its_data(dims: list[int]) -> None:
    tensor = onnx.TensorProto(name="x", data_type=FLOAT, dims=dims, raw_data=bytes(4))
    assert "the size of a tensor differs from the size of its data" in refused(
        changed(lambda model: model.graph.initializer.append(tensor)), BundleDamaged
    )


def test_an_overloaded_operator() -> None:
    assert "operator 1 (Equal)" in refused(changed(lambda model: setattr(model.graph.node[0], "overload", "mine")))


@pytest.mark.parametrize("domain", ["evil", "ai.onnx.ml", "com.microsoft.experimental", "ai.onnx.training"])
def test_an_unknown_domain(domain: str) -> None:
    message = refused(changed(lambda model: model.opset_import.add(domain=domain, version=1)))
    assert message == "model.onnx: needs operators of an unknown domain: export the encoder with textveil-export"


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
        (lambda model: model.graph.initializer.append(TEXT_TENSOR), "a tensor of text"),
        (lambda model: setattr(model.graph.initializer[0], "data_type", 16), "a tensor with an unknown type"),
        (lambda model: model.graph.initializer[0].ClearField("data_type"), "a tensor with an unknown type"),
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
    assert (
        refused(changed(change))
        == f"model.onnx: has {what}; this package runs no such model: export the encoder with textveil-export"
    )


@pytest.mark.parametrize("where", [lambda model: model, lambda model: model.graph, lambda model: model.graph.node[3]])
def test_settings_for_what_runs_it(where: Callable[[onnx.ModelProto], onnx.ModelProto]) -> None:
    assert "has metadata that configures onnxruntime" in refused(
        changed(lambda model: where(model).metadata_props.add(key="ort_config"))
    )


@pytest.mark.parametrize("packed", [b"\x80", b"\x01\x80", b"\xff" * 10 + b"\x01"])
def test_packed_numbers_that_do_not_end(packed: bytes) -> None:
    kind = tag(2, 0) + varint(FLOAT)
    content = with_in_graph(block(5, block(1, packed) + kind))
    assert "numbers in a tensor are truncated" in refused(content, BundleDamaged)
    refused(with_in_graph(block(5, block(4, packed) + kind)), BundleDamaged)


def test_a_file_of_two_formats() -> None:
    """A sound model whose bytes 4 to 8 are the mark by which onnxruntime knows its own format, and trusts it."""
    content = block(2, b"??ORTM") + b"".join(
        [tag(1, 0) + varint(8), block(7, SOUND.graph.SerializeToString()), block(8, tag(2, 0) + varint(17))]
    )
    assert content[4:8] == b"ORTM"
    assert onnx.load_from_string(content).producer_name == "??ORTM"
    assert refused(content) == "model.onnx: is not an ONNX model"
    assert check_model(content.replace(b"ORTM", b"ORTN"), DIMENSION)


# --- signature -----------------------------------------------------------------------------------------------------


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
