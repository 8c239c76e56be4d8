"""List the words that the gateway replaced in a request, for the owner of the device, never for a log."""

from collections.abc import Iterator, Mapping
from typing import Any

from textveil_cli.changes.word_changes import iterate_word_changes

_SYSTEM_ROLES = frozenset(("system", "developer"))


def list_system_texts(body: Mapping[str, Any]) -> list[str]:
    """Return the texts of the system prompt of a request, in order.

    The system prompt consists of the fields ``system`` and ``instructions``, and of the messages with the role
    ``system`` or ``developer``.

    Args:
        body: The body of a request, before or after names were replaced.
    """
    values = [body.get("system"), body.get("instructions")]
    for name in ("messages", "input"):
        messages = body.get(name)
        for message in messages if isinstance(messages, list) else ():
            if isinstance(message, Mapping) and message.get("role") in _SYSTEM_ROLES:
                values.append(message.get("content"))
    texts = list[str]()
    for value in values:
        for part in value if isinstance(value, list) else [value]:
            text = part.get("text") if isinstance(part, Mapping) else part
            if isinstance(text, str):
                texts.append(text)
    return texts


def list_system_roles(body: Mapping[str, Any]) -> list[str]:
    """Return the roles of the messages that ``--pass-through`` would send unchanged, such as ``["system"]``.

    Such messages are instructions of the developer. The fields ``system`` and ``instructions`` count as messages with
    the role ``system``. Each role appears once, in the order of the request.

    Args:
        body: The body of a request, before names were replaced.
    """
    roles = ["system"] if body.get("system") or body.get("instructions") else []
    for messages in (body.get("messages"), body.get("input")):
        for message in messages if isinstance(messages, list) else ():
            if isinstance(message, Mapping) and message.get("role") in _SYSTEM_ROLES:
                roles.append(message["role"])
    return list(dict.fromkeys(roles))


def iterate_values(original: Any, rewritten: Any, path: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Yield every value of a request, and every changed key, each with the value or key that is sent in its place.

    Args:
        original: A JSON value of the request.
        rewritten: The value that is sent in its place.
        path: Keys and indices that lead to the value, joined by full stops.

    Yields:
        The path of a value, the value, and the value that is sent in its place.

    Privacy:
        The values are original texts.
    """
    if isinstance(original, Mapping) and isinstance(rewritten, Mapping) and len(original) == len(rewritten):
        pairs = zip(original.items(), rewritten.items(), strict=True)
        for (name, value), (other_name, other) in pairs:
            place = f"{path}.{other_name}" if path else f"{other_name}"
            if name != other_name:
                yield place, name, other_name
            yield from iterate_values(value, other, place)
    elif isinstance(original, list) and isinstance(rewritten, list) and len(original) == len(rewritten):
        for number, (value, other) in enumerate(zip(original, rewritten, strict=True)):
            yield from iterate_values(value, other, f"{path}.{number}")
    else:
        yield path, original, rewritten


def iterate_differences(original: Any, rewritten: Any) -> Iterator[str]:
    """Yield a line for each change in a request: path of the field, original words, and replacement.

    Args:
        original: The request.
        rewritten: The request that is sent.

    Privacy:
        The lines contain the original words.
    """
    for place, value, other in iterate_values(original, rewritten):
        if isinstance(value, str) and isinstance(other, str):
            for old, new, is_equal in iterate_word_changes(value, other):
                if not is_equal:
                    yield f"{place}: {old!r} -> {new!r}"
        elif value != other:
            yield f"{place}: {value!r} -> {other!r}"
