"""A strict reader of safetensors files, from bytes in memory.

Follows the published safetensors format, and refuses what that format leaves open: data that are not aligned to
their element size, element types other than those that the caller names, and bytes that belong to no array.
"""

import json
import math
from collections.abc import Mapping
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
        Read-only little-endian arrays by name; nothing is copied.

    Raises:
        BundleDamaged: It is truncated or not what the format says.
    """
    try:
        return _parse(buffer, types)
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        detail = str(error) if type(error) is _Malformed else "the header is malformed"
        raise BundleDamaged(f"{name}: {detail}") from error


class _Malformed(ValueError):
    pass


def _parse(buffer: bytes, types: Mapping[str, str]) -> dict[str, NDArray[Any]]:
    header_bytes = int.from_bytes(buffer[:8], "little")
    data_start = 8 + header_bytes
    if len(buffer) < 8 or header_bytes > _MAX_HEADER_BYTES or data_start > len(buffer):
        raise _Malformed("the header is truncated")
    if buffer[8:9] != b"{":
        raise _Malformed("the header is malformed")
    if sum(buffer.count(sign, 8, data_start) for sign in (b"[", b"{", b",", b":")) > _MAX_HEADER_VALUES:
        raise _Malformed("the header has too many values")
    header = json.loads(
        buffer[8:data_start].decode("utf-8"), object_pairs_hook=unique_keys, parse_constant=_refuse, parse_float=_refuse
    )
    header.pop("__metadata__", None)
    arrays: dict[str, NDArray[Any]] = {}
    expected_begin = 0
    for name, entry in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
        begin, end = entry["data_offsets"]
        shape = tuple(entry["shape"])
        numbers = (begin, end, *shape)
        if (
            entry["dtype"] not in types
            or len(shape) > _MAX_AXES
            or not all(type(n) is int and 0 <= n < _MAX_COUNT for n in numbers)
        ):
            raise _Malformed("an array has an unsupported type or shape")
        dtype = np.dtype(types[entry["dtype"]])
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


def unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuses an object with a repeated key, which readers would take differently. For ``json.loads``."""
    entries = dict(pairs)
    if len(entries) != len(pairs):
        raise _Malformed("a name occurs twice")
    return entries


def _refuse(number: str) -> None:
    raise _Malformed("the header holds a number that is no integer")
