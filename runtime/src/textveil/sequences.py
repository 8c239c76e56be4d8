"""Validation of text arguments: one string, or items in order; else an error of one line."""

from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any

from textveil.errors import InputError


def require_string(given: object, name: str = "the text") -> None:
    """Raise ``InputError`` unless ``given`` is a string; ``name`` describes it in the message."""
    if not isinstance(given, str):
        raise InputError(f"{name} is not a string")


def in_order(given: Any, wanted: str = "texts") -> Sequence[Any]:
    """Return the items of a list, a column, a one-dimensional array or an iterator.

    Python iterates over the characters of a string, the keys of a mapping and the column names of a frame. Without this
    check each of them would count as a text, and the actual texts would be ignored.

    Args:
        given: An object of another library or of the caller. Its items are not checked.
        wanted: The items' description for the error.

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
    if hasattr(given, "to_pylist"):  # an Arrow array, whose items are not Python objects
        return given.to_pylist()
    if not isinstance(given, Iterable):
        raise InputError(f"one value came where {wanted} are wanted: put it in a list")
    return list(given)


def texts_of(texts: Iterable[str]) -> list[tuple[str]]:
    """Return texts as documents of one text each.

    Raises:
        InputError: ``texts`` is one string or not a sequence, or an item is not a string.
    """
    found = in_order(texts)
    for number, text in enumerate(found, 1):
        if not isinstance(text, str):
            raise InputError(f"text {number} of {len(found)} is not a string")
    return list(zip(found, strict=True))


def lists_of_texts(documents: Sequence[Sequence[str]]) -> list[Sequence[str]]:
    """Return documents of several texts, and check that each text is a string.

    Raises:
        InputError: A document is one string or not a sequence, or one of its texts is not a string.
    """
    documents = in_order(documents, "documents")
    found = []
    for number, document in enumerate(documents, 1):
        texts = in_order(document, "the texts of a document")
        if not all(isinstance(text, str) for text in texts):
            raise InputError(f"document {number} of {len(documents)} has a text that is not a string")
        found.append(texts)
    return found
