"""Read stored records, compressed or not, and report errors with file and line."""

import gzip
import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

#: Types of pandas tables and columns, since pandas has no type annotations.
Frame = Any
Column = Any


class RecordError(ValueError):
    """A record cannot be used. The message names the file and the line."""


def read_objects(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the JSON objects of a file with their places: one in ``*.json``, one per line in ``*.jsonl``.

    If the file is missing, a compressed file with the suffix ``.gz`` is read.

    Raises:
        RecordError: The file is missing, or something in it is not a JSON object.
    """
    try:
        packed = path.with_name(f"{path.name}.gz")
        plain = path.exists() or not packed.exists()
        text = (path.read_bytes() if plain else gzip.decompress(packed.read_bytes())).decode("utf-8")
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise RecordError(f"{path.name}: cannot be read as UTF-8 text") from error
    parts = enumerate(text.splitlines(), 1) if path.suffix == ".jsonl" else [(0, text)]
    for number, part in parts:
        place = f"{path.name}, line {number}" if number else path.name
        try:
            found = json.loads(part, parse_constant=_refuse_constant)
        except ValueError as error:
            raise RecordError(f"{place}: malformed JSON") from error
        if not isinstance(found, dict):
            raise RecordError(f"{place}: this is not a JSON object")
        yield place, found


def _refuse_constant(name: str) -> float:
    raise ValueError(f"JSON has no {name}")
