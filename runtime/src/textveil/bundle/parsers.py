"""Strict parsers of the files of a bundle (data folder): JSON, and safetensors.

The functions check the type of each parsed JSON value and raise ``BundleDamaged`` for a wrong type. Callers therefore
need not catch ``TypeError`` or ``KeyError``, which would also hide their own defects.

The parser of safetensors follows the published format, but rejects what the format leaves ambiguous: arrays that are
not aligned to their element size, element types that the caller does not list, and bytes outside all arrays.
"""

import json
import math
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textveil.bundle.layout import MECHANISM_FILE
from textveil.errors import BundleDamaged, BundleTooLarge
from textveil.lazy import LazyPattern

#: Maximum size in bytes, and maximum number of values and keys, of one JSON file. The second limit bounds memory: a
#: parsed empty list takes twenty times its bytes.
MAX_JSON_BYTES, MAX_JSON_VALUES = 2_000_000, 1 << 16
MAX_ARRAY_VALUES = 1 << 16
#: Form of the name of an entity type in ``mechanism.json``.
TYPE_NAME = re.compile(r"[a-z]+(-[a-z]+)*")
# Characters that a terminal executes or cannot print: control characters, line separators, marks that change the
# direction of text, and surrogate code points.
_UNPRINTABLE = LazyPattern(re.compile, "[\0-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_MAX_HEADER_BYTES, _MAX_HEADER_VALUES = 1 << 20, 1 << 16
#: Maximum number of dimensions of an array. The product of very many sizes would take a long time.
_MAX_AXES = 8
_MAX_COUNT = 1 << 62
#: Element types: of tables for sampling noise, which contain only integers; and of weights of encoders and classifiers.
INTEGER_TYPES = {"U8": "<u1", "I8": "<i1", "U16": "<u2", "U32": "<u4", "I64": "<i8"}
FLOAT_TYPES = {"F32": "<f4"}


def parse_json(
    content: bytes,
    name: str,
    *,
    max_bytes: int = MAX_JSON_BYTES,
    max_values: int = MAX_JSON_VALUES,
    printable: bool = True,
) -> dict[str, Any]:
    """Parse a JSON object from bytes, with limits on size and content.

    Args:
        content: The whole file.
        name: Name of the file in error messages.
        max_bytes: Maximum size in bytes.
        max_values: Maximum number of values and keys. Before parsing, the function counts the characters ``[``, ``{``,
            ``,`` and ``:`` and compares their number with this limit.
        printable: Whether to reject strings with control characters, which a terminal would execute.

    Raises:
        BundleDamaged: The content is not a JSON object, repeats a key, or has a number that is NaN or infinite; or a
            string has control characters.
        BundleTooLarge: The content has more than ``max_bytes`` bytes or ``max_values`` values.
    """
    if len(content) > max_bytes:
        raise BundleTooLarge(f"{name}: has more than {max_bytes:,} bytes")
    if sum(map(content.count, (b"[", b"{", b",", b":"))) > max_values:
        raise BundleTooLarge(f"{name}: has more than {max_values:,} values")
    try:
        parsed = json.loads(
            content.decode("utf-8"),
            object_pairs_hook=make_unique_dict,
            parse_constant=_reject_constant,
            parse_float=_parse_finite,
        )
        if printable:
            _check_printable(parsed, name)
    except (ValueError, RecursionError) as error:
        raise BundleDamaged(f"{name}: is not readable JSON") from error
    if not isinstance(parsed, dict):
        raise BundleDamaged(f"{name}: is not a JSON object")
    return parsed


def make_unique_dict(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Build a dictionary, and reject repeated keys. Pass this function to ``json.loads`` as ``object_pairs_hook``.

    JSON parsers disagree on whether the first or the last value of a repeated key counts.

    Raises:
        ValueError: A key occurs twice.

    Example:
        >>> json.loads('{"epsilon": 8, "epsilon": 10}', object_pairs_hook=make_unique_dict)
        Traceback (most recent call last):
        ValueError: a key occurs twice
    """
    entries = dict(pairs)
    if len(entries) != len(pairs):
        raise ValueError("a key occurs twice")
    return entries


def is_printable(text: str) -> bool:
    """Return whether a text has no control characters and no characters that change the writing direction."""
    return text.isprintable() or _UNPRINTABLE.search(text) is None  # fast: false for all of these


def _check_printable(value: Any, name: str) -> None:
    if isinstance(value, str):
        if not is_printable(value):
            raise BundleDamaged(f"{name}: contains control characters")
    elif isinstance(value, dict):
        for key, entry in value.items():
            _check_printable(key, name)
            _check_printable(entry, name)
    elif isinstance(value, list):
        for entry in value:
            _check_printable(entry, name)


def _parse_finite(number: str) -> float:
    value = float(number)
    if not math.isfinite(value):
        raise ValueError("a number is too large for a floating-point number")
    return value


def _reject_constant(constant: str) -> None:
    raise ValueError("NaN and Infinity are not JSON")


def parse_record(value: object, keys: Collection[str], where: str) -> dict[str, Any]:
    """Check that a parsed JSON value is an object with exactly the keys ``keys``, and return it.

    Args:
        value: Parsed JSON.
        keys: The required keys.
        where: Location of the value for error messages, normally a file name.

    Raises:
        BundleDamaged: The value is not an object, or has other keys.
    """
    parsed = parse_object(value, where)
    if parsed.keys() != set(keys):
        raise BundleDamaged(f"{where}: unknown or missing keys")
    return parsed


def parse_object(value: object, where: str) -> dict[str, Any]:
    """Check that a parsed JSON value is an object with any keys, and return it; raise ``BundleDamaged`` otherwise."""
    if not isinstance(value, dict):
        raise BundleDamaged(f"{where}: a value is not an object")
    return value


def parse_array(value: object, where: str, max_values: int = MAX_ARRAY_VALUES) -> list[Any]:
    """Check that a parsed JSON value is an array of at most ``max_values`` values, and return it.

    Raises:
        BundleDamaged: The check fails. The error message begins with ``where``.
    """
    if not isinstance(value, list):
        raise BundleDamaged(f"{where}: a value is not an array")
    if len(value) > max_values:
        raise BundleDamaged(f"{where}: an array has more than {max_values:,} values")
    return value


def parse_integer(value: object, minimum: int, maximum: int, where: str) -> int:
    """Check that a parsed JSON value is an integer from ``minimum`` to ``maximum``, and return it.

    Raises:
        BundleDamaged: The check fails. A boolean is not an integer.
    """
    if type(value) is not int or not minimum <= value <= maximum:
        raise BundleDamaged(f"{where}: a number is not an integer, or out of range")
    return value


def parse_boolean(value: object, where: str) -> bool:
    """Check that a parsed JSON value is a boolean, and return it."""
    if type(value) is not bool:
        raise BundleDamaged(f"{where}: a value is not a boolean")
    return value


def parse_text(value: object, where: str, pattern: re.Pattern[str] | None = None) -> str:
    """Check that a parsed JSON value is a string, and return it.

    Args:
        value: Parsed JSON.
        where: Location of the value for error messages, normally a file name.
        pattern: Regular expression that must match the whole string; ``None`` allows any string.

    Raises:
        BundleDamaged: The check fails.
    """
    if not isinstance(value, str) or (pattern is not None and pattern.fullmatch(value) is None):
        raise BundleDamaged(f"{where}: a value is not a string, or has the wrong form")
    return value


def parse_choice(value: object, allowed: Collection[str], where: str) -> str:
    """Check that a parsed JSON value is one of the strings ``allowed``, and return it."""
    choice = parse_text(value, where)
    if choice not in allowed:
        raise BundleDamaged(f"{where}: a value is not one of the allowed strings")
    return choice


def parse_distinct_texts(value: object, where: str) -> tuple[str, ...]:
    """Check that a parsed JSON value is an array of distinct strings, and return it as a tuple."""
    texts = tuple(parse_text(entry, where) for entry in parse_array(value, where))
    if len(set(texts)) != len(texts):
        raise BundleDamaged(f"{where}: the same text occurs twice")
    return texts


def check_levels(names: list[str], default_name: object) -> str:
    """Check the names of a mechanism's levels (sets of parameters, one per epsilon), and return the default's name.

    Args:
        names: Names of all levels of the mechanism.
        default_name: Parsed JSON with the name of the default level.

    Raises:
        BundleDamaged: Two levels have the same name, or the default is not the name of a level.
    """
    if len(set(names)) != len(names):
        raise BundleDamaged(f"{MECHANISM_FILE}: a level occurs twice")
    return parse_choice(default_name, names, MECHANISM_FILE)


def parse_tensors(buffer: bytes, name: str, types: Mapping[str, str] = INTEGER_TYPES) -> dict[str, NDArray[Any]]:
    """Parse a safetensors file, and return its arrays.

    Args:
        buffer: The whole file.
        name: Name of the file in error messages.
        types: The numpy type of each allowed element type of safetensors.

    Returns:
        Dictionary from the name of each array to the array. The arrays are read-only and little-endian, and share
        memory with ``buffer``. The dictionary raises ``BundleDamaged`` for a name that the file lacks.

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
    """Dictionary from array names to arrays; it raises ``BundleDamaged`` for a name that the file lacks."""

    def __init__(self, file: str) -> None:
        super().__init__()
        self._file = file

    def __missing__(self, name: str) -> NDArray[Any]:
        raise BundleDamaged(f"{self._file}: a required array is missing")


def _iterate_entries(
    header: bytes, types: Mapping[str, str], name: str
) -> Iterator[tuple[int, int, str, str, tuple[int, ...]]]:
    """Yield the entry of each array in the header of a safetensors file.

    Yields:
        For each array: the offset of its first byte and the offset after its last byte, both from the end of the
        header; its name, element type and shape.
    """
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
