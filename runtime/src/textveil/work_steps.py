"""Long operations on JSON and texts in short steps, between which other threads can run.

One call of a C function holds the interpreter until it returns. With some megabytes of JSON that is a tenth of a
second, and all other threads of a server wait. The functions here return exactly what the standard library returns.
"""

import json
import json.scanner
from collections.abc import Callable, Iterable, Iterator, Sequence
from heapq import merge
from typing import Any

from textveil.work_limits import check_work

#: Maximum number of values that are encoded in one step; of characters that are encoded, decoded or split in one step;
#: and of strings that are sorted in one step.
_STEP_VALUES, _STEP_CHARACTERS, _STEP_STRINGS = 1 << 11, 1 << 16, 1 << 14
#: Number of characters that take as long to encode as one value.
_CHARACTERS_PER_VALUE = 1 << 5
#: The scanner in Python, in which the interpreter can change threads after each value. It is no public interface, so
#: that a Python without it decodes in one step.
_make_stepped_scanner: Any = getattr(json.scanner, "py_make_scanner", json.scanner.make_scanner)


class SteppedJSONEncoder(json.JSONEncoder):
    """Encoder of JSON that encodes a large value in steps.

    >>> from textveil.work_steps import SteppedJSONEncoder
    >>> SteppedJSONEncoder(sort_keys=True).encode({"b": [1, None], "a": "text"})
    '{"a": "text", "b": [1, null]}'
    """

    def encode(self, o: Any) -> str:
        """Return the JSON of a value.

        Raises:
            TypeError: The value has an object that JSON does not support.
            ValueError: A number is not finite, and the option ``allow_nan`` is off.
            RecursionError: The value is nested too deeply.
        """
        if _count_values(o, _STEP_VALUES) < _STEP_VALUES:
            return super().encode(o)
        parts: list[str] = []
        self._append_parts(o, parts)
        return "".join(parts)

    def _append_parts(self, value: Any, parts: list[str]) -> None:
        """Append the JSON of a value to a list, in parts."""
        check_work()
        encode = super().encode
        if isinstance(value, str):
            parts.append('"')
            for start in range(0, len(value), _STEP_CHARACTERS):
                parts.append(encode(value[start : start + _STEP_CHARACTERS])[1:-1])
            parts.append('"')
        elif isinstance(value, dict) and all(isinstance(name, str) for name in value):
            items = (
                ((name, value[name]) for name in sort_strings(value))
                if self.sort_keys
                else ((name, entry) for name, entry in value.items())
            )
            parts.append("{")
            self._append_entries(items, dict, lambda item: item[1], parts)
            parts.append("}")
        elif isinstance(value, list | tuple):
            parts.append("[")
            self._append_entries(iter(value), list, lambda entry: entry, parts)
            parts.append("]")
        else:
            parts.append(encode(value))

    def _append_entries(
        self,
        entries: Iterator[Any],
        make_batch: Callable[[list[Any]], Any],
        get_value: Callable[[Any], Any],
        parts: list[str],
    ) -> None:
        """Append the entries of a container; small ones are encoded together."""
        encode, batch, size, separator = super().encode, list[Any](), 0, ""

        def end_batch() -> None:
            nonlocal batch, size, separator
            if batch:
                parts.append(separator + encode(make_batch(batch))[1:-1])
                batch, size, separator = [], 0, self.item_separator

        for entry in entries:
            count = _count_values(get_value(entry), _STEP_VALUES)
            if count >= _STEP_VALUES or size + count > _STEP_VALUES:
                end_batch()
            if count < _STEP_VALUES:
                batch.append(entry)
                size += count
                continue
            parts.append(separator)
            separator = self.item_separator
            if make_batch is dict:
                self._append_parts(entry[0], parts)
                parts.append(self.key_separator)
            self._append_parts(get_value(entry), parts)
        end_batch()


class _SteppedJSONDecoder(json.JSONDecoder):
    """Decoder that the interpreter can leave between two values."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.scan_once = _make_stepped_scanner(self)


def decode_json(text: str, **options: Any) -> Any:
    """Return the value of a JSON text; a long one is decoded in steps.

    >>> from textveil.work_steps import decode_json
    >>> decode_json('{"a": [1, null]}')
    {'a': [1, None]}

    Args:
        text: The text.
        options: Options of ``json.JSONDecoder``, such as ``object_pairs_hook``.

    Raises:
        ValueError: The text is not JSON.
        RecursionError: The value is nested too deeply.
    """
    if len(text) <= _STEP_CHARACTERS:
        return json.loads(text, **options)
    if text.startswith("\ufeff"):  # as ``json.loads`` does
        raise ValueError("a byte order mark is no JSON")
    return _SteppedJSONDecoder(**options).decode(text)


def join_words(text: str) -> str:
    """Return a text with single blanks between its words, and none at its ends.

    >>> from textveil.work_steps import join_words
    >>> join_words("  one   two ")
    'one two'

    Args:
        text: The text; a long one is split in steps.
    """
    if len(text) <= _STEP_CHARACTERS:
        return " ".join(text.split())
    parts: list[str] = []
    unfinished: list[str] = []
    for start in range(0, len(text), _STEP_CHARACTERS):
        check_work()
        chunk = text[start : start + _STEP_CHARACTERS]
        words = chunk.split()
        if unfinished and (not words or chunk[0].isspace()):
            parts.append("".join(unfinished))
            unfinished = []
        if unfinished:
            unfinished.append(words.pop(0))
            if words or chunk[-1].isspace():
                parts.append("".join(unfinished))
                unfinished = []
        if words and not chunk[-1].isspace():
            unfinished = [words.pop()]
        if words:
            parts.append(" ".join(words))
    return " ".join([*parts, "".join(unfinished)] if unfinished else parts)


def sort_strings(strings: Iterable[str]) -> Sequence[str]:
    """Return strings in order; many strings are sorted in steps.

    >>> from textveil.work_steps import sort_strings
    >>> sort_strings({"b", "a"})
    ['a', 'b']
    """
    unsorted = [*strings]
    if len(unsorted) <= _STEP_STRINGS:
        unsorted.sort()
        return unsorted
    runs = [
        sorted(unsorted[start : start + _STEP_STRINGS])
        for start in range(0, len(unsorted), _STEP_STRINGS)
        if check_work() is None
    ]
    return [*merge(*runs)]


def free_in_steps(*containers: Any) -> None:
    """Empty containers, and the lists, dictionaries and sets in them, so that their memory is freed in steps.

    Python frees a container with all its entries in one step. Nobody else may use the containers.

    >>> from textveil.work_steps import free_in_steps
    >>> value = {"a": [1, 2]}
    >>> free_in_steps(value)
    >>> value
    {}
    """
    waiting = [*containers]
    while waiting:
        container = waiting.pop()
        if isinstance(container, dict):
            while container:
                _, entry = container.popitem()
                if isinstance(entry, list | dict | set):
                    waiting.append(entry)
        elif isinstance(container, list):
            while container:
                entry = container.pop()
                if isinstance(entry, list | dict | set):
                    waiting.append(entry)
        elif isinstance(container, set):
            while container:
                container.pop()


def _count_values(value: Any, limit: int) -> int:
    """Return about how many values a value has, or ``limit`` if they are more; long strings count as several."""
    if isinstance(value, str):
        return min(limit, 1 + len(value) // _CHARACTERS_PER_VALUE)
    if not isinstance(value, list | tuple | dict):
        return 1
    count = 1 + len(value)
    if count >= limit:
        return limit
    if isinstance(value, dict):
        for name in value:
            if isinstance(name, str):
                count += len(name) // _CHARACTERS_PER_VALUE
        value = value.values()
    for entry in value:
        if count >= limit:
            return limit
        if isinstance(entry, str):
            count += len(entry) // _CHARACTERS_PER_VALUE
        elif isinstance(entry, list | tuple | dict):
            count += _count_values(entry, limit - count)
    return min(count, limit)
