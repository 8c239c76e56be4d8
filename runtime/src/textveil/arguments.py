"""Checks of arguments: texts and sequences of texts, names of options, and values among a few choices.

An error about an unknown name or value suggests the one that the user meant. ``join_utf16_halves`` repairs a text that
was cut.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from typing import Any

from textveil.errors import InputError, OptionError


def check_string(value: object, name: str = "the text") -> None:
    """Check that an argument is a string.

    Args:
        value: The argument.
        name: Description of the argument for the error message.

    Raises:
        InputError: ``value`` is not a string.
    """
    if not isinstance(value, str):
        raise InputError(f"{name} must be a string")


def join_utf16_halves(text: str) -> str:
    r"""Join the two UTF-16 halves of each character whose halves arrived in two parts of a text.

    JSON may write an emoji as two escapes. If a stream cuts the text between them, each part ends or begins with half
    of the emoji. A half whose other half is missing is not changed.

    >>> join_utf16_halves("\ud83d" + "\ude00") == "\U0001f600"
    True
    """
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def list_items(value: Any, description: str = "texts") -> Sequence[Any]:
    """Return the items of a list, a column, a one-dimensional array or an iterator, as a sequence.

    Other values raise an error, because iterating over them does not give texts: a string gives its characters, a
    mapping its keys, and a data frame the names of its columns.

    Args:
        value: The object. Its items are not checked.
        description: Description of the items for the error message, such as ``texts``.

    Raises:
        InputError: ``value`` is a single string, a set, a mapping or a table, or cannot be iterated.
    """
    if isinstance(value, list | tuple):
        return value
    if isinstance(value, str | bytes | bytearray | memoryview):
        raise InputError(f"expected {description}, got one string: put it in a list")
    if isinstance(value, Set):
        raise InputError(f"expected {description}, got a set, which has no order: convert the set to a list")
    if isinstance(value, Mapping):
        raise InputError(f"expected {description}, got a row or a mapping: pass one of its columns")
    shape = getattr(value, "shape", None)
    if isinstance(shape, tuple) and len(shape) != 1:
        raise InputError(f"expected {description}, got a table: pass one of its columns")
    if hasattr(value, "to_pylist"):  # an Arrow array, whose items are not Python objects
        return value.to_pylist()
    if not isinstance(value, Iterable):
        raise InputError(f"expected {description}, got one value: put it in a list")
    return list(value)


def wrap_texts(texts: Iterable[str]) -> list[tuple[str]]:
    """Convert each text to a document that consists of this text only, after checking that each text is a string.

    Raises:
        InputError: ``texts`` is a single string or not a sequence, or an item is not a string.
    """
    items = list_items(texts)
    for number, text in enumerate(items, 1):
        if not isinstance(text, str):
            raise InputError(f"text {number} of {len(items)} must be a string")
    return list(zip(items, strict=True))


def check_documents(documents: Sequence[Sequence[str]]) -> list[Sequence[str]]:
    """Return a list of documents, each a sequence of texts, after checking that each text is a string.

    Raises:
        InputError: A document is a single string or not a sequence, or one of its texts is not a string.
    """
    documents = list_items(documents, "documents")
    checked = []
    for number, document in enumerate(documents, 1):
        texts = list_items(document, "the texts of a document")
        if not all(isinstance(text, str) for text in texts):
            raise InputError(f"document {number} of {len(documents)} has a text that is not a string")
        checked.append(texts)
    return checked


def refuse_unknown_options(options: Collection[str], choices: Collection[str]) -> None:
    """Raise ``OptionError`` if the name of an option is not one of ``choices``.

    The message suggests the most similar choice that the call does not use, or lists all choices if none is similar. It
    does not repeat the unknown name.

    >>> refuse_unknown_options({"fact": "useful"}, ["style", "facts"])
    Traceback (most recent call last):
    textveil.errors.OptionError: unknown option: did you mean facts?
    """
    for name in options:
        if name not in choices:
            suggestion = suggest_choice(name, [choice for choice in choices if choice not in options])
            raise OptionError(f"unknown option: {suggestion or 'choose among ' + ', '.join(choices)}")


def suggest_choice(typed: object, choices: Iterable[str]) -> str:
    """Return the choice with the most similar spelling as a question, such as ``did you mean facts?``.

    The result is empty if no choice is similar. It contains no part of ``typed``, which may be private.

    >>> suggest_choice("usefu", ["plain", "useful"]), suggest_choice("everything", ["plain", "useful"])
    ('did you mean useful?', '')
    """
    from difflib import get_close_matches  # lazy: only errors need it

    return "".join(f"did you mean {choice}?" for choice in get_close_matches(str(typed), choices, 1))


def check_choice(name: str, value: object, choices: Collection[str]) -> None:
    """Raise ``OptionError`` if the value of an option is not one of ``choices``. The message suggests a similar one."""
    if value not in choices:
        suggestion = suggest_choice(value, choices)
        raise OptionError(f"{name} must be one of {', '.join(choices)}{suggestion and '; ' + suggestion}")
