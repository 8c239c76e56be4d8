"""Looking into JSON that somebody else wrote: what is missing, or of another type, is an error that says where."""

import json
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from textveil_training.data.rows import file_name
from textveil_training.errors import FileLocation, RecordError


class Fields:
    """A JSON object with its place. Names in messages are this project's own; values are never repeated.

    Args:
        content: The object.
        place: Where it was read.
    """

    def __init__(self, content: Mapping[str, Any], place: FileLocation) -> None:
        self.content, self.place = content, place

    def at(self, path: str) -> Any:
        """The value at a dotted path; None where there is none.

        Raises:
            RecordError: Something on the way is not an object.
        """
        found: Any = self.content
        for depth, name in enumerate(path.split(".")):
            if found is None:
                return None
            if not isinstance(found, Mapping):
                raise RecordError(f"{'.'.join(path.split('.')[:depth])} is not an object", self.place)
            found = found.get(name)
        return found

    def number(self, path: str, low: float = -math.inf, high: float = math.inf) -> float | None:
        """A finite number in a range, or None where there is none.

        Raises:
            RecordError: It is no number, not finite, or out of range.
        """
        found = self.at(path)
        if found is None:
            return None
        if isinstance(found, bool) or not isinstance(found, int | float) or not math.isfinite(found):
            raise RecordError(f"{path} is not a number", self.place)
        if not low <= found <= high:
            raise RecordError(f"{path} is out of range", self.place)
        return float(found)

    def pair(self, path: str) -> tuple[float, float] | None:
        """Two finite numbers, or None where there is nothing.

        Raises:
            RecordError: It is something else.
        """
        found = self.at(path)
        if found is None:
            return None
        numbers = isinstance(found, list) and all(isinstance(end, int | float) for end in found)
        if not numbers or len(found) != 2 or not all(map(math.isfinite, found)):
            raise RecordError(f"{path} is not a pair of numbers", self.place)
        return float(found[0]), float(found[1])

    def text(self, path: str) -> str | None:
        """A string, or None where there is none.

        Raises:
            RecordError: It is not a string.
        """
        found = self.at(path)
        if found is not None and not isinstance(found, str):
            raise RecordError(f"{path} is not a string", self.place)
        return found

    def part(self, path: str) -> Mapping[str, Any]:
        """An object, empty where there is none.

        Raises:
            RecordError: It is not an object.
        """
        found = self.at(path)
        if found is not None and not isinstance(found, Mapping):
            raise RecordError(f"{path} is not an object", self.place)
        return found or {}

    def needed(self, path: str, value: Any) -> Any:
        """The value, which must be there.

        Raises:
            RecordError: It is None.
        """
        if value is None:
            raise RecordError(f"{path} is missing", self.place)
        return value


def objects(path: Path) -> Iterator[tuple[FileLocation, Any]]:
    """The JSON values of a file with their places: one, over as many lines as it likes, or one on each line.

    Raises:
        RecordError: The file cannot be read, is not UTF-8, or holds malformed JSON; the error names the line.
    """
    name = file_name(path)
    text = _read(path)
    if text is None:
        raise RecordError("the file cannot be read, or is not UTF-8", FileLocation(name))
    value, wrong = _parse(text)
    if wrong is None:
        yield FileLocation(name), value
        return
    lines = [(number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    several = path.suffix == ".jsonl" or (len(lines) > 1 and _parse(lines[0][1])[1] is None)
    if not several:
        raise RecordError("malformed JSON", FileLocation(name, wrong or None))
    for number, line in lines:
        value, wrong = _parse(line)
        if wrong is not None:
            raise RecordError("malformed JSON", FileLocation(name, number))
        yield FileLocation(name, number), value


def _read(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, ValueError):
        return None


def _parse(text: str) -> tuple[Any, int | None]:
    """The value, or the line where it is wrong, 0 where that is not known.

    The decoder's exception holds the text and must not get out.
    """
    try:
        return json.loads(text, parse_constant=_refuse), None
    except json.JSONDecodeError as error:
        return None, error.lineno
    except (ValueError, RecursionError):
        return None, 0


def _refuse(_: str) -> float:
    raise ValueError("JSON has no such number")
