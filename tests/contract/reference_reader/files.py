"""The parts of a file: JSON and safetensors, read strictly."""

import json
import math
import struct
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

DTYPES = {"U8": "B", "I8": "b", "U16": "H", "U32": "I", "I64": "q"}


@dataclass(frozen=True)
class Array:
    """One array of a safetensors file, its values in row-major order."""

    dtype: str
    shape: list[int]
    values: tuple[int, ...]

    def rows(self) -> list[tuple[int, ...]]:
        """Return the rows of a matrix."""
        width = self.shape[1]
        return [self.values[i * width : (i + 1) * width] for i in range(self.shape[0])]


def check(condition: object, complaint: str) -> None:
    """Refuse the bundle or the request unless the condition holds."""
    if not condition:
        raise ValueError(complaint)


def parse_object(data: bytes) -> dict[str, Any]:
    """Return a JSON object without repeated keys; numbers with a fraction become exact decimals."""

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        check(len({key for key, _ in pairs}) == len(pairs), "a key is repeated")
        return dict(pairs)

    def refuse(constant: str) -> None:
        raise ValueError(f"{constant} in JSON")

    text = data.decode("utf-8")
    value = json.loads(text, object_pairs_hook=unique, parse_float=Decimal, parse_constant=refuse)
    check(isinstance(value, dict), "a JSON object is needed")
    return value


def parse_safetensors(data: bytes) -> dict[str, Array]:
    """Return the arrays of a safetensors file: without holes, aligned, with unique names."""
    start = 8 + struct.unpack_from("<Q", data)[0]
    check(start <= len(data) and data[8:9] == b"{", "bad safetensors header")
    header = parse_object(data[8:start])
    check(all(isinstance(text, str) for text in header.pop("__metadata__", {}).values()), "bad metadata")
    arrays, end = {}, 0
    for name, entry in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
        check(set(entry) == {"dtype", "shape", "data_offsets"}, f"{name}: bad entry")
        check(all(type(n) is int and n >= 0 for n in entry["shape"] + entry["data_offsets"]), f"{name}: bad number")
        code, (begin, stop), count = DTYPES[entry["dtype"]], entry["data_offsets"], math.prod(entry["shape"])
        size = struct.calcsize(f"<{code}")
        check(begin == end and stop == begin + count * size and start + stop <= len(data), f"{name}: hole or overlap")
        check((start + begin) % size == 0, f"{name}: not aligned")
        arrays[name] = Array(entry["dtype"], entry["shape"], struct.unpack_from(f"<{count}{code}", data, start + begin))
        end = stop
    check(start + end == len(data), "data after the last array")
    return arrays
