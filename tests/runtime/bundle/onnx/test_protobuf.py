"""What is refused of a model: ambiguous bytes, and what a second reader sees otherwise."""

from collections.abc import Iterator

import onnx
import pytest
from changed_models import (
    CONTENT,
    FLOAT,
    INT64,
    SOUND,
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
)
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import helper
from small_encoders import DIMENSION, inputs, model_of
from textveil.bundle.onnx.model_check import OPERATORS, check_model
from textveil.errors import BundleDamaged, ModelRefused

# --- bytes that are not a model, or two -------------------------------------------------------------------------------


def test_every_truncation() -> None:
    for size in range(len(CONTENT)):
        assert "the ONNX model cannot be read" in refused(CONTENT[:size], BundleDamaged)


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
    assert "the ONNX model cannot be read" in refused(CONTENT + more, BundleDamaged)
    if len(more) > 1:
        refused(more + CONTENT, BundleDamaged)


def test_an_axis_that_is_open_and_given() -> None:
    axis = block(1, b"x") + block(2, block(1, tag(1, 0) + varint(1) + block(2, block(1, block(2, b"t") + b"\x08\x04"))))
    assert "an axis has both a fixed and a variable size" in refused(with_in_graph(block(13, axis)), BundleDamaged)


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
    """Apply the rules again to the official parser's result."""
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
    """Return a sound model with a few bytes changed, moved, repeated or removed."""
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
        check_model(content, DIMENSION)
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
        with_inputs(inputs()[0]),
    ):
        assert not sound(onnx.load_from_string(changed(change)))
