"""Long work in short steps: between two steps, other threads can run, and the caller can stop the work.

A call of a C function blocks all other threads until it returns. For some megabytes of JSON, this takes a tenth of a
second. The functions of this module for JSON and strings have exactly the results of the standard library.

To limit the time of a call, the caller of the library sets a function (``limit_work``), which long loops regularly call
(``check_work``). A context variable stores the function, so it applies only to the calling thread, and the functions
between the caller and the innermost loop need no parameter for it.
"""

import json
import json.scanner
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from heapq import merge
from typing import Any

#: Maximum size of one step: number of values to encode; number of characters to encode or decode; and number of strings
#: to sort.
_STEP_VALUES, _STEP_CHARACTERS, _STEP_STRINGS = 1 << 11, 1 << 16, 1 << 14
#: Number of characters whose words are listed at once. A short word takes 50 bytes in addition to its characters.
_STEP_SPLIT_CHARACTERS = 1 << 13
#: Number of characters whose encoding takes as long as the encoding of one short value.
_CHARACTERS_PER_VALUE = 1 << 5
#: JSON scanner of the standard library in pure Python, which lets other threads run after each value. Since it is not a
#: public interface, it may be missing. Then a text is decoded in one step.
_make_stepped_scanner: Any = getattr(json.scanner, "py_make_scanner", json.scanner.make_scanner)
#: Number of steps of a loop between two calls of the check, if a step takes a few microseconds.
STEPS_PER_CHECK = 1 << 10
#: Function that raises an error to stop the work; ``None`` if there is no limit.
_check: ContextVar[Callable[[], None] | None] = ContextVar("textveil_check_work", default=None)


@contextmanager
def limit_work(check: Callable[[], None]) -> Iterator[None]:
    """Call ``check`` repeatedly while functions of this library run in the body of a ``with`` statement.

    Args:
        check: Function that raises ``WorkStopped`` to stop the work, for example after a certain time. It is called
            often, so it must be fast.
    """
    token = _check.set(check)
    try:
        yield
    finally:
        _check.reset(token)


def check_work() -> None:
    """Call the function that the caller has set with ``limit_work``, which may raise an error to stop the work.

    Without such a function, do nothing.
    """
    check = _check.get()
    if check is not None:
        check()


class SteppedJSONEncoder(json.JSONEncoder):
    """JSON encoder that encodes a large value in steps, so that other threads can run between two steps.

    >>> from textveil.work_steps import SteppedJSONEncoder
    >>> SteppedJSONEncoder(sort_keys=True).encode({"b": [1, None], "a": "text"})
    '{"a": "text", "b": [1, null]}'
    """

    def encode(self, o: Any) -> str:
        """Encode a value as JSON text.

        Args:
            o: The value.

        Raises:
            TypeError: The value contains an object that JSON does not support.
            ValueError: A number is not finite, and the option ``allow_nan`` is false.
            RecursionError: The value is nested too deeply.
        """
        if _count_values(o, _STEP_VALUES) < _STEP_VALUES:
            return super().encode(o)
        parts: list[str] = []
        self._append_parts(o, parts)
        return "".join(parts)

    def _append_parts(self, value: Any, parts: list[str]) -> None:
        """Encode a value in steps, and append the parts of the JSON text to the list ``parts``."""
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
        """Encode the entries of a JSON list or object in steps, and append the parts of the JSON text to ``parts``.

        Small entries are encoded together in one step.

        Args:
            entries: The entries.
            make_batch: Function that builds a container of several entries.
            get_value: Function that returns the value of an entry.
            parts: List of parts of the JSON text.
        """
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
    """JSON decoder that lets other threads run after each value that it decodes."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.scan_once = _make_stepped_scanner(self)


def decode_json(text: str, **options: Any) -> Any:
    """Decode a JSON text. A long text is decoded in steps.

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
        raise ValueError("the text begins with a byte order mark, which JSON does not allow")
    return _SteppedJSONDecoder(**options).decode(text)


def join_words(text: str) -> str:
    """Join the words of a text with single spaces, without spaces at the ends.

    >>> from textveil.work_steps import join_words
    >>> join_words("  one   two ")
    'one two'

    Args:
        text: The text. A long text is split in steps.
    """
    if len(text) <= _STEP_SPLIT_CHARACTERS:
        return " ".join(text.split())
    parts: list[str] = []
    unfinished: list[str] = []
    for start in range(0, len(text), _STEP_SPLIT_CHARACTERS):
        check_work()
        chunk = text[start : start + _STEP_SPLIT_CHARACTERS]
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
    """Return strings in ascending order. Many strings are sorted in steps.

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
    """Free the memory of containers in steps, by removing their entries.

    Without this function, Python frees a container with all its entries in one step. No other code may use the
    containers or the lists, dictionaries and sets in them.

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
    """Return the approximate number of values in a JSON value, at most ``limit``. A long string counts as several."""
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
