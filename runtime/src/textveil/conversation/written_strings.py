"""Counts what a model wrote of its own into the arguments of a call."""

import json
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from textveil.conversation.shapes import parsed
from textveil.errors import InputError
from textveil.text.forms import Pair
from textveil.text.names.plan import NamesPlan
from textveil.text.names.read import TextReader
from textveil.text.segmentation import key


def hidden_strings(
    value: Any,
    reader: TextReader,
    plan: NamesPlan,
    restored: Collection[Pair],
    is_field: Callable[[str], bool],
    most: int,
) -> list[str]:
    """Return strings of arguments that the rules hide and whose equality would be shown, at most ``most``.

    Surrogates that the device restored into the call are none: the tool gets the originals. Any other surrogate is a
    string like others, since a tool may echo it. Arguments that readers of JSON decode differently count as ``most``.
    """
    outputs = {key(word) for pair in restored for word in (pair.output, *pair.output.split())}
    tags = [pair.output for pair in restored if pair.output.startswith("[")]
    found: dict[str, None] = {}
    try:
        for text in _texts(value, is_field):
            for tag in tags:
                text = text.replace(tag, "")
            for entry in reader.read([text])[0].entries:
                for part in () if isinstance(entry, str) else entry.parts:
                    if shows_equality(part.kind, part.layout, plan) and key(part.text) not in outputs:
                        found[part.folded] = None
            if len(found) >= most:
                break
    except InputError:  # a key twice, or no finite number
        return [f"unreadable {number}" for number in range(most)]
    return [*found][:most]


def shows_equality(kind: str, layout: str, plan: NamesPlan) -> bool:
    """Return whether equal strings of a kind come out equal in a conversation."""
    return plan.style.tags or bool(plan.style.tag) or plan.surrogates.of(kind, layout)[1]


def _texts(value: Any, is_field: Callable[[str], bool]) -> Iterator[str]:
    """Yield all texts and numbers of arguments, and the keys that are rewritten as values are."""
    if isinstance(value, str):
        inside = parsed(value)
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
