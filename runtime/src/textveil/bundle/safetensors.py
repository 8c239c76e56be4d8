"""Strict reader of safetensors files from bytes in memory.

It follows the published safetensors format, but rejects what the format leaves ambiguous: arrays that are not aligned
to their element size, element types that the caller does not list, and bytes outside all arrays.
"""

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textveil.bundle.files import parse_array, parse_choice, parse_integer, parse_json, parse_record
from textveil.errors import BundleDamaged, BundleTooLarge

_MAX_HEADER_BYTES, _MAX_HEADER_VALUES = 1 << 20, 1 << 16
#: Most axes of an array. The product of very many sizes would take a long time.
_MAX_AXES = 8
_MAX_COUNT = 1 << 62
#: Element types of integer tables (all data on the path of the noise), and of weights of encoders and classifiers.
INTEGER_TYPES = {"U8": "<u1", "I8": "<i1", "U16": "<u2", "U32": "<u4", "I64": "<i8"}
FLOAT_TYPES = {"F32": "<f4"}


def parse_tensors(buffer: bytes, name: str, types: Mapping[str, str] = INTEGER_TYPES) -> dict[str, NDArray[Any]]:
    """Return every array of a safetensors file.

    Args:
        buffer: The whole file.
        name: Name of the file in error messages.
        types: The numpy type of each allowed element type.

    Returns:
        Read-only little-endian arrays by name, without copies. A name that the file lacks raises ``BundleDamaged``.

    Raises:
        BundleDamaged: The file is truncated or violates the format.

    Example:
        >>> header = b'{"x": {"dtype": "U8", "shape": [2], "data_offsets": [0, 2]}}'
        >>> parse_tensors(len(header).to_bytes(8, "little") + header + bytes([3, 5]), "x.safetensors")["x"].tolist()
        [3, 5]
    """
    header_bytes = int.from_bytes(buffer[:8], "little")
    data_start = 8 + header_bytes
    if len(buffer) < 8 or header_bytes > _MAX_HEADER_BYTES or data_start > len(buffer) or buffer[8:9] != b"{":
        raise BundleDamaged(f"{name}: the header is truncated or malformed")
    arrays = _TensorDict(name)
    expected = data_start
    for begin, end, array, element_type, shape in sorted(_iterate_entries(buffer[8:data_start], types, name)):
        dtype, count = np.dtype(types[element_type]), math.prod(shape)
        if data_start + begin != expected or end - begin != count * dtype.itemsize or data_start + end > len(buffer):
            raise BundleDamaged(f"{name}: the arrays must fill the file without gaps or overlaps")
        if expected % dtype.itemsize:
            raise BundleDamaged(f"{name}: an array does not begin at a multiple of its item size")
        arrays[array] = np.frombuffer(buffer, dtype, count, expected).reshape(shape)
        expected = data_start + end
    if expected != len(buffer):
        raise BundleDamaged(f"{name}: the arrays must fill the file without gaps or overlaps")
    return arrays


class _TensorDict(dict[str, NDArray[Any]]):
    """Arrays of a file by name; a name that the file lacks raises ``BundleDamaged``."""

    def __init__(self, file: str) -> None:
        super().__init__()
        self._file = file

    def __missing__(self, name: str) -> NDArray[Any]:
        raise BundleDamaged(f"{self._file}: a required array is missing")


def _iterate_entries(
    header: bytes, types: Mapping[str, str], name: str
) -> Iterator[tuple[int, int, str, str, tuple[int, ...]]]:
    """Yield begin, end, name, element type and shape of each array in the header."""
    try:
        parsed = parse_json(header, name, max_bytes=_MAX_HEADER_BYTES, max_values=_MAX_HEADER_VALUES, printable=False)
    except BundleTooLarge as error:
        raise BundleDamaged(f"{name}: the header has too many values") from error
    for array, entry in parsed.items():
        if array == "__metadata__":
            continue
        fields = parse_record(entry, {"dtype", "shape", "data_offsets"}, name)
        shape = tuple(
            parse_integer(size, 0, _MAX_COUNT - 1, name) for size in parse_array(fields["shape"], name, _MAX_AXES)
        )
        offsets = [
            parse_integer(offset, 0, _MAX_COUNT - 1, name) for offset in parse_array(fields["data_offsets"], name, 2)
        ]
        if len(offsets) != 2 or math.prod(max(1, size) for size in shape) >= _MAX_COUNT >> 3:
            raise BundleDamaged(f"{name}: an array has an unsupported type or shape")
        yield offsets[0], offsets[1], array, parse_choice(fields["dtype"], types, name), shape
