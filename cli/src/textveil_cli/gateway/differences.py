"""Differences between a request and its rewritten form: for the owner of the device, never for a log."""

import re
from collections.abc import Iterator, Mapping
from difflib import SequenceMatcher
from typing import Any

#: Maximum number of words of a string that are compared: the time grows faster than the number of words.
_MAX_WORDS = 20_000
_WORD = re.compile(r"\w+|[^\w\s]+|\s+")
_SYSTEM_ROLES = frozenset(("system", "developer"))


def list_system_texts(body: Mapping[str, Any]) -> list[str]:
    """Return the texts of the system prompt of a request, in order.

    They are ``system``, ``instructions``, and the contents of messages with the role ``system`` or ``developer``.

    Args:
        body: The body of a request, original or rewritten.
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


def iterate_differences(original: Any, rewritten: Any, path: str = "") -> Iterator[str]:
    """Yield a line for each place of a request that was rewritten: where, the original words, and their replacement.

    Args:
        original: A JSON value of the request.
        rewritten: The value that is sent in its place.
        path: Names and numbers that lead to the value, joined by full stops.

    Privacy:
        The lines contain the original words.
    """
    if isinstance(original, Mapping) and isinstance(rewritten, Mapping) and len(original) == len(rewritten):
        pairs = zip(original.items(), rewritten.items(), strict=True)
        for (name, value), (other_name, other) in pairs:
            place = f"{path}.{other_name}" if path else f"{other_name}"
            if name != other_name:
                yield f"{place}: {name!r} -> {other_name!r}"
            yield from iterate_differences(value, other, place)
    elif isinstance(original, list) and isinstance(rewritten, list) and len(original) == len(rewritten):
        for number, (value, other) in enumerate(zip(original, rewritten, strict=True)):
            yield from iterate_differences(value, other, f"{path}.{number}")
    elif isinstance(original, str) and isinstance(rewritten, str):
        yield from (f"{path}: {old!r} -> {new!r}" for old, new in _iterate_changed_words(original, rewritten))
    elif original != rewritten:
        yield f"{path}: {original!r} -> {rewritten!r}"


def _iterate_changed_words(original: str, rewritten: str) -> Iterator[tuple[str, str]]:
    """Yield each changed part of a string with its replacement, both cut at words."""
    if original == rewritten:
        return
    words, others = _WORD.findall(original), _WORD.findall(rewritten)
    if max(len(words), len(others)) > _MAX_WORDS:
        yield f"{len(words):,} words and marks", "too many to compare"
        return
    old, new, gap = "", "", ""
    for change, start, end, other_start, other_end in SequenceMatcher(None, words, others, False).get_opcodes():
        old_part, new_part = "".join(words[start:end]), "".join(others[other_start:other_end])
        if change != "equal":
            old, new, gap = old + gap + old_part, new + gap + new_part, ""
        elif old_part.isspace() and (old or new):  # a blank inside a name
            gap = old_part
        else:
            if old or new:
                yield old, new
            old, new, gap = "", "", ""
    if old or new:
        yield old, new
