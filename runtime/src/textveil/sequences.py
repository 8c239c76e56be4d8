"""What is given where texts are wanted: one string, or items in order; else an error of one line."""

from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any

from textveil.errors import InputError


def require_string(given: object, name: str = "the text") -> None:
    """Raises ``InputError`` unless what was given is a string; ``name`` is what the error calls it."""
    if not isinstance(given, str):
        raise InputError(f"{name} is not a string")


def in_order(given: Any, wanted: str = "texts") -> Sequence[Any]:
    """Returns the items of a list, a column, an array of one dimension or an iterator.

    Python goes through the characters of a string, the keys of a mapping and the names of a frame's columns. Each of
    them would pass for a text, and the text itself for none.

    Args:
        given: What somebody else's library or caller gave. Its items are not looked at.
        wanted: What the items are, for the error.

    Raises:
        InputError: It is one string, a set, a mapping, a table, or has no items.
    """
    if isinstance(given, list | tuple):
        return given
    if isinstance(given, str | bytes | bytearray | memoryview):
        raise InputError(f"one string came where {wanted} are wanted: put it in a list")
    if isinstance(given, Set):
        raise InputError(f"a set came where {wanted} are wanted, and has no order: make a list of it")
    if isinstance(given, Mapping):
        raise InputError(f"a row or a mapping came where {wanted} are wanted: give one of its columns")
    shape = getattr(given, "shape", None)
    if isinstance(shape, tuple) and len(shape) != 1:
        raise InputError(f"a table came where {wanted} are wanted: give one of its columns")
    if hasattr(given, "to_pylist"):  # an array of Arrow, whose items are not Python's
        return given.to_pylist()
    if not isinstance(given, Iterable):
        raise InputError(f"one value came where {wanted} are wanted: put it in a list")
    return list(given)


def texts_of(texts: Iterable[str]) -> list[tuple[str]]:
    """Returns texts as documents of one text each.

    Raises:
        InputError: They are one string or no sequence, or one is not a string.
    """
    found = in_order(texts)
    for number, text in enumerate(found, 1):
        if not isinstance(text, str):
            raise InputError(f"text {number} of {len(found)} is not a string")
    return list(zip(found, strict=True))


def lists_of_texts(documents: Sequence[Sequence[str]]) -> list[Sequence[str]]:
    """Returns documents of several texts, each text a string.

    Raises:
        InputError: A document is one string or no sequence, or one of its texts is not a string.
    """
    documents = in_order(documents, "documents")
    found = []
    for number, document in enumerate(documents, 1):
        texts = in_order(document, "the texts of a document")
        if not all(isinstance(text, str) for text in texts):
            raise InputError(f"document {number} of {len(documents)} has a text that is not a string")
        found.append(texts)
    return found
