"""Counts what a model wrote of its own into the arguments of a call."""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from textveil.conversation.shapes import parsed
from textveil.errors import InputError
from textveil.text.names.plan import NamesPlan
from textveil.text.names.read import TextReader
from textveil.text.names.running import Running


def hidden_strings(
    value: Any, reader: TextReader, plan: NamesPlan, running: Running, is_field: Callable[[str], bool], most: int
) -> list[str]:
    """Return strings of arguments that the rules hide and whose equality would be shown, at most ``most``.

    Surrogates that went out are none: a model does not choose them.
    """
    found: dict[str, None] = {}
    for text in _texts(value, is_field):
        for known in running.tags if "[" in text else ():
            text = text.replace(known, "")
        for entry in reader.read([text])[0].entries:
            for part in () if isinstance(entry, str) else entry.parts:
                if shows_equality(part.kind, part.layout, plan) and not running.has_written(part.text):
                    found[part.folded] = None
        if len(found) >= most:
            break
    return [*found][:most]


def shows_equality(kind: str, layout: str, plan: NamesPlan) -> bool:
    """Return whether equal strings of a kind come out equal in a conversation."""
    return plan.style.tags or bool(plan.style.tag) or plan.surrogates.of(kind, layout)[1]


def _texts(value: Any, is_field: Callable[[str], bool]) -> Iterator[str]:
    """Yield all texts and numbers of arguments, and the keys that are rewritten as values are."""
    if isinstance(value, str):
        try:
            inside = parsed(value)
        except InputError:  # a key twice, or no finite number
            inside = None
        if inside is None:
            yield value
        else:
            yield from _texts(inside, is_field)
    elif isinstance(value, list):
        for entry in value:
            yield from _texts(entry, is_field)
    elif isinstance(value, Mapping):
        for name, entry in value.items():
            if not is_field(str(name)):
                yield str(name)
            yield from _texts(entry, is_field)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield json.dumps(abs(value))
