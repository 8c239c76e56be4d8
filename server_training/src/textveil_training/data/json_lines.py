"""JSON Lines: one JSON object per line, with the caller's names for the text and the label."""

import json
from collections.abc import Collection, Iterator
from typing import cast

from textveil_training.data.examples import Document, LabeledText
from textveil_training.data.rows import FilePath, label_field, read_lines, text_field
from textveil_training.errors import FileLocation, InvalidJson, MissingLabel, MissingText


def read_json_lines(
    path: FilePath,
    *,
    text_key: str = "text",
    label_key: str | None = "label",
    labels: Collection[str] | None = None,
) -> Iterator[LabeledText | Document]:
    """Streams JSON Lines. Keys that were not asked for are passed over; a blank line is an error.

    Args:
        path: A UTF-8 text file.
        text_key: Key of the text, a string.
        label_key: Key of the label, a string or an integer (which becomes its decimal digits); None for texts
            without a label.
        labels: The labels there are, or None to accept any.

    Yields:
        ``LabeledText``, or ``Document`` when ``label_key`` is None.

    Raises:
        InvalidJson: A line is not a JSON object, or a value has another type, or a lone surrogate.
        MissingText: A row has no text.
        MissingLabel: A row has no label.
        UnknownLabel: A label is not in ``labels``.
        DataError: The file cannot be read, is empty or not UTF-8.
    """
    for location, line in read_lines(path):
        row = _parse(line)
        if row is None:
            raise InvalidJson("the line is not a JSON object", location)
        text = text_field(_text(row, text_key, location), location)
        if label_key is None:
            yield Document(text)
        else:
            yield LabeledText(text, label_field(_label(row, label_key, location), labels, location))


def _parse(line: str) -> dict[str, object] | None:
    """The object on a line, or None. The decoder's exception holds the line, so it must not get out."""
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return cast(dict[str, object], row) if isinstance(row, dict) else None


def _text(row: dict[str, object], key: str, location: FileLocation) -> str:
    value = row.get(key)
    if value is None:
        raise MissingText("the text is missing", location)
    if not isinstance(value, str):
        raise InvalidJson("the text is not a string", location)
    return _encodable(value, location)


def _label(row: dict[str, object], key: str, location: FileLocation) -> str:
    value = row.get(key)
    if value is None:
        raise MissingLabel("the label is missing", location)
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str):
        raise InvalidJson("the label is neither a string nor an integer", location)
    return _encodable(value, location)


def _encodable(value: str, location: FileLocation) -> str:
    """JSON can escape half of a surrogate pair, which no UTF-8 file can hold and no tokenizer expects."""
    if any("\ud800" <= character <= "\udfff" for character in value):
        raise InvalidJson("a string holds a lone surrogate", location)
    return value
