"""The safetensors reader: what it maps, and everything it must refuse."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.numpy import save
from textveil.bundle.parsers import parse_tensors
from textveil.errors import BundleDamaged

Header = dict[str, object] | str | bytes


def raw(header: Header, data: bytes = b"", *, length: int | None = None) -> bytes:
    """Return a file with an arbitrary header, padded with blanks so that the data begin at a multiple of eight."""
    text = header if isinstance(header, bytes) else (header if isinstance(header, str) else json.dumps(header)).encode()
    text += b" " * (-len(text) % 8)
    return (len(text) if length is None else length).to_bytes(8, "little") + text + data


def entry(dtype: str, shape: object, begin: int, end: int) -> dict[str, object]:
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


def opened(content: bytes) -> dict[str, np.ndarray]:  # type: ignore[type-arg]
    return parse_tensors(content, "x.safetensors")


def refused(content: bytes) -> str:
    with pytest.raises(BundleDamaged) as error:
        opened(content)
    message = str(error.value)
    assert message.startswith("x.safetensors: ")
    assert "\n" not in message
    return message


ARRAYS = {
    "bytes": np.arange(24, dtype=np.uint8).reshape(2, 3, 4),
    "signed": np.array([-128, 127], np.int8),
    "short": np.array([[65535], [1]], np.uint16),
    "wide": np.array([2**32 - 1], np.uint32),
    "long": np.array([-(2**63), 2**63 - 1], np.int64),
    "empty": np.zeros((0, 5), np.uint8),
    "scalar": np.array(7, np.int64),
}


def test_what_the_reference_writes_is_read() -> None:
    arrays = opened(save(ARRAYS, metadata={"any": "text"}))
    assert arrays.keys() == ARRAYS.keys()
    for name, array in arrays.items():
        assert array.dtype == ARRAYS[name].dtype
        assert array.shape == ARRAYS[name].shape
        assert (array == ARRAYS[name]).all()
        assert not array.flags.writeable
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0


def test_a_file_without_arrays() -> None:
    arrays = opened(raw({}))
    assert arrays == {}
    with pytest.raises(BundleDamaged, match=r"^x\.safetensors: a required array is missing$"):
        arrays["rows"]


def test_extremes_that_are_allowed() -> None:
    assert opened(raw({"a": entry("U8", [], 0, 1)}, b"\7"))["a"] == 7
    assert opened(raw({"a": entry("I64", [1] * 8, 0, 8)}, b"\1" + bytes(7)))["a"].item() == 1
    assert opened(raw({"": entry("U8", [2], 0, 2)}, b"ab"))[""].tolist() == [97, 98]
    assert opened(raw({"__metadata__": {"a": "b"}})) == {}


ONE = entry("U8", [4], 0, 4)
ATTACKS: dict[str, bytes] = {
    "empty": b"",
    "seven bytes": bytes(7),
    "no header": bytes(8),
    "header length 2**64 - 1": raw({}, length=2**64 - 1),
    "header length 2**63": raw({}, length=2**63),
    "header longer than the file": raw({"a": ONE}, b"abcd", length=10_000),
    "header one byte longer than the file": raw({}, length=9),
    "header over the limit": raw(b" " * (1 << 20) + b"{}"),
    "header cut in the middle": raw({"a": ONE}, b"abcd", length=20),
    "not UTF-8": raw(b'{"\xff": 1}'),
    "not JSON": raw("{]"),
    "two objects": raw("{}{}"),
    "a list": raw("[]"),
    "a number": raw("5"),
    "a string": raw('"abc"'),
    "null": raw("null"),
    "true": raw("true"),
    "NaN": raw("NaN"),
    "deeply nested": raw("[" * 100_000),
    "deeply nested objects": raw('{"a":' * 100_000),
    "deeply nested shape": raw('{"a": {"dtype": "U8", "data_offsets": [0, 4], "shape": ' + "[" * 100_000),
    "a long integer": raw('{"a": {"dtype": "U8", "data_offsets": [0, ' + "9" * 10_000 + '], "shape": [4]}}', b"abcd"),
    "duplicate names": raw(f'{{"a": {json.dumps(ONE)}, "a": {json.dumps(ONE)}}}', b"abcd"),
    "duplicate names, other data": raw(
        f'{{"a": {json.dumps(entry("U8", [2], 0, 2))}, "a": {json.dumps(entry("U8", [2], 2, 4))}}}', b"abcd"
    ),
    "duplicate keys in an entry": raw(
        '{"a": {"dtype": "U8", "shape": [4], "shape": [4], "data_offsets": [0, 4]}}', b"abcd"
    ),
    "an entry that is null": raw({"a": None}),
    "an entry that is a list": raw({"a": ["U8", [4], [0, 4]]}, b"abcd"),
    "an entry that is a number": raw({"a": 4}),
    "no dtype": raw({"a": {"shape": [4], "data_offsets": [0, 4]}}, b"abcd"),
    "no shape": raw({"a": {"dtype": "U8", "data_offsets": [0, 4]}}, b"abcd"),
    "no offsets": raw({"a": {"dtype": "U8", "shape": [4]}}, b"abcd"),
    "three offsets": raw({"a": {"dtype": "U8", "shape": [4], "data_offsets": [0, 4, 4]}}, b"abcd"),
    "offsets that are text": raw({"a": {"dtype": "U8", "shape": [4], "data_offsets": "04"}}, b"abcd"),
    "offsets that are objects": raw({"a": {"dtype": "U8", "shape": [4], "data_offsets": {"0": 1, "4": 2}}}, b"abcd"),
    "mixed offsets": raw({"a": ONE, "b": {"dtype": "U8", "shape": [0], "data_offsets": ["4", "4"]}}, b"abcd"),
    "offsets that are floats": raw({"a": {"dtype": "U8", "shape": [4], "data_offsets": [0.0, 4.0]}}, b"abcd"),
    "offsets that are true": raw({"a": {"dtype": "U8", "shape": [1], "data_offsets": [False, True]}}, b"a"),
    "negative begin": raw({"a": entry("U8", [4], -4, 0)}, b"abcd"),
    "end before begin": raw({"a": entry("U8", [0], 4, 0)}, b"abcd"),
    "beyond the file": raw({"a": entry("U8", [5], 0, 5)}, b"abcd"),
    "far beyond the file": raw({"a": entry("U8", [2**62], 0, 2**62)}, b"abcd"),
    "overlapping": raw({"a": ONE, "b": entry("U8", [4], 2, 6)}, b"abcdef"),
    "the same bytes twice": raw({"a": ONE, "b": ONE}, b"abcd"),
    "a gap between": raw({"a": ONE, "b": entry("U8", [2], 6, 8)}, b"abcdefgh"),
    "a gap before": raw({"a": entry("U8", [4], 4, 8)}, b"abcdefgh"),
    "bytes left over": raw({"a": ONE}, b"abcdefgh"),
    "data without arrays": raw({}, b"abcd"),
    "metadata alone over data": raw({"__metadata__": {"format": "x"}}, b"abcd"),
    "size is not the shape": raw({"a": entry("U8", [5], 0, 4)}, b"abcd"),
    "size is not the type": raw({"a": entry("U16", [4], 0, 4)}, b"abcd"),
    "misaligned": raw({"a": entry("U8", [1], 0, 1), "b": entry("U16", [1], 1, 3)}, b"abc"),
    "misaligned by the header": (9).to_bytes(8, "little") + b"         ",
    "negative shape": raw({"a": entry("U8", [-4], 0, 4)}, b"abcd"),
    "two negative sizes": raw({"a": entry("U8", [-2, -2], 0, 4)}, b"abcd"),
    "minus one": raw({"a": entry("U8", [-1], 0, 4)}, b"abcd"),
    "a shape of floats": raw({"a": entry("U8", [4.0], 0, 4)}, b"abcd"),
    "a shape of true": raw({"a": entry("U8", [True, 4], 0, 4)}, b"abcd"),
    "a shape that is a number": raw({"a": entry("U8", 4, 0, 4)}, b"abcd"),
    "a shape that is text": raw({"a": entry("U8", "4", 0, 4)}, b"abcd"),
    "a shape that is null": raw({"a": entry("U8", None, 0, 4)}, b"abcd"),
    "product 2**64": raw({"a": entry("U8", [2**32, 2**32], 0, 0)}),
    "product 2**64 + 4": raw({"a": entry("U8", [2, 2**63 + 2], 0, 4)}, b"abcd"),
    "bytes overflow": raw({"a": entry("I64", [2**61], 0, 0)}),
    "empty with a huge side": raw({"a": entry("U8", [0, 2**70], 0, 0)}),
    "empty with huge sides": raw({"a": entry("U8", [0, 2**40, 2**40], 0, 0)}),
    "empty with a large side": raw({"a": entry("U8", [0, 2**63], 0, 0)}),
    "a thousand dimensions": raw({"a": entry("U8", [1] * 1000, 0, 1)}, b"a"),
    **{
        f"type {dtype}": raw({"a": entry(dtype, [1], 0, size)}, bytes(size))
        for dtype, size in (
            ("BOOL", 1), ("F16", 2), ("BF16", 2), ("F32", 4), ("F64", 8), ("I16", 2), ("I32", 4), ("U64", 8),
            ("F8_E4M3", 1), ("u8", 1), ("|O", 8), ("", 1),
        )
    },
    "a type that is a list": raw({"a": {"dtype": ["U8"], "shape": [4], "data_offsets": [0, 4]}}, b"abcd"),
    "a type that is null": raw({"a": {"dtype": None, "shape": [4], "data_offsets": [0, 4]}}, b"abcd"),
}  # fmt: skip


@pytest.mark.parametrize("content", ATTACKS.values(), ids=ATTACKS.keys())
def test_attacks_are_refused(content: bytes) -> None:
    refused(content)


@settings(max_examples=500)
@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(content: bytes) -> None:
    with pytest.raises(BundleDamaged):
        opened(content)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4) | st.sampled_from(["U8", "I64"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)
entries = st.fixed_dictionaries({"dtype": json_values, "shape": json_values, "data_offsets": json_values})


@pytest.mark.slow
@settings(max_examples=500)
@given(st.dictionaries(st.text(max_size=3), entries | json_values, max_size=3) | json_values, st.binary(max_size=32))
def test_any_header_is_read_or_refused(header: object, data: bytes) -> None:
    try:
        arrays = opened(raw(json.dumps(header), data))
    except BundleDamaged:
        return
    assert sum(array.nbytes for array in arrays.values()) == len(data)


@settings(max_examples=500)
@given(st.data())
def test_a_changed_byte_is_refused_or_changes_data_only(data: st.DataObject) -> None:
    """Hashes stand before this reader; without them it still raises nothing but its own error."""
    content = bytearray(save(ARRAYS))
    place = data.draw(st.integers(0, len(content) - 1))
    content[place] ^= data.draw(st.integers(1, 255))
    try:
        arrays = opened(bytes(content))
    except BundleDamaged:
        return
    assert sum(array.nbytes for array in arrays.values()) == sum(array.nbytes for array in ARRAYS.values())


@given(st.integers(0, len(save(ARRAYS)) - 1))
def test_a_truncated_file_is_refused(length: int) -> None:
    refused(save(ARRAYS)[:length])
