"""A strict reader of safetensors files, from bytes in memory.

Follows the published safetensors format, and refuses what that format leaves open: data that are not aligned to
their element size, element types other than those that the caller names, and bytes that belong to no array.
"""

import json
import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textveil.errors import BundleDamaged

_MAX_HEADER_BYTES, _MAX_HEADER_VALUES = 1 << 20, 1 << 16
#: Most axes of an array. The product of many numbers would take a long time.
_MAX_AXES = 8
_MAX_COUNT = 1 << 62
#: Element types of a table, of which the path of the noise is made, and of a classifier on the server.
INTEGERS = {"U8": "<u1", "I8": "<i1", "U16": "<u2", "U32": "<u4", "I64": "<i8"}
FLOATS = {"F32": "<f4"}


def parse_tensors(buffer: bytes, name: str, types: Mapping[str, str] = INTEGERS) -> dict[str, NDArray[Any]]:
    """Reads every array of a safetensors file from its bytes.

    Args:
        buffer: The whole file.
        name: What errors call it.
        types: Element types that may occur, and their numpy types.

    Returns:
        Read-only little-endian arrays by name; nothing is copied. To ask for one that the file lacks is an error, too.

    Raises:
        BundleDamaged: It is truncated or not what the format says.
    """
    try:
        return _Tensors(name, _parse(buffer, types))
    except _Malformed as error:
        raise BundleDamaged(f"{name}: {error}") from error


class _Malformed(ValueError):
    pass


class _Tensors(dict[str, NDArray[Any]]):
    """The arrays of a file: one that is not there is missing from it."""

    def __init__(self, file: str, arrays: Mapping[str, NDArray[Any]]) -> None:
        super().__init__(arrays)
        self._file = file

    def __missing__(self, name: str) -> NDArray[Any]:
        raise BundleDamaged(f"{self._file}: lacks an array that it must have")


def _parse(buffer: bytes, types: Mapping[str, str]) -> dict[str, NDArray[Any]]:
    header_bytes = int.from_bytes(buffer[:8], "little")
    data_start = 8 + header_bytes
    if len(buffer) < 8 or header_bytes > _MAX_HEADER_BYTES or data_start > len(buffer):
        raise _Malformed("the header is truncated")
    if buffer[8:9] != b"{":
        raise _Malformed("the header is malformed")
    if sum(buffer.count(sign, 8, data_start) for sign in (b"[", b"{", b",", b":")) > _MAX_HEADER_VALUES:
        raise _Malformed("the header has too many values")
    arrays: dict[str, NDArray[Any]] = {}
    expected_begin = 0
    for begin, end, name, kind, shape in sorted(_entries(buffer[8:data_start])):
        if kind not in types:
            raise _Malformed("an array has an unsupported type or shape")
        dtype = np.dtype(types[kind])
        count = math.prod(shape)
        if begin != expected_begin or end - begin != count * dtype.itemsize or data_start + end > len(buffer):
            raise _Malformed("the arrays do not fill the file")
        if (data_start + begin) % dtype.itemsize:
            raise _Malformed("an array is not aligned")
        arrays[name] = np.frombuffer(buffer, dtype, count, data_start + begin).reshape(shape)
        expected_begin = end
    if data_start + expected_begin != len(buffer):
        raise _Malformed("the arrays do not fill the file")
    return arrays


def _entries(header: bytes) -> Iterator[tuple[int, int, str, str, tuple[int, ...]]]:
    """What the header says of each array: begin, end, name, type and shape."""
    try:
        parsed = json.loads(
            header.decode("utf-8"), object_pairs_hook=unique_keys, parse_constant=_refuse, parse_float=_refuse
        )
    except (ValueError, RecursionError) as error:
        raise _Malformed(str(error) if type(error) is _Malformed else "the header is malformed") from error
    for name, entry in parsed.items():
        if name == "__metadata__":
            continue
        if not isinstance(entry, dict) or not {"dtype", "shape", "data_offsets"} <= entry.keys():
            raise _Malformed("the header is malformed")
        kind, shape, offsets = entry["dtype"], entry["shape"], entry["data_offsets"]
        if not isinstance(kind, str) or not isinstance(shape, list) or not isinstance(offsets, list):
            raise _Malformed("the header is malformed")
        if len(offsets) != 2 or not all(type(n) is int and 0 <= n < _MAX_COUNT for n in offsets + shape):
            raise _Malformed("an array has an unsupported type or shape")
        if len(shape) > _MAX_AXES or math.prod(max(1, n) for n in shape) >= _MAX_COUNT >> 3:
            raise _Malformed("an array has an unsupported type or shape")
        yield offsets[0], offsets[1], name, kind, tuple(shape)


def unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuses an object with a repeated key, which readers would take differently. For ``json.loads``."""
    entries = dict(pairs)
    if len(entries) != len(pairs):
        raise _Malformed("a name occurs twice")
    return entries


def _refuse(number: str) -> None:
    raise _Malformed("the header holds a number that is no integer")
