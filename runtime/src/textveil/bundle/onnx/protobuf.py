"""Strict reader of protobuf's wire format, for a schema given as a table.

It follows the published encoding (https://protobuf.dev/programming-guides/encoding/). Ordinary readers are lenient:
they skip unknown fields, merge a message that occurs twice and truncate numbers to the width of their field. Two
readers may then find different content in the same bytes, so this reader rejects all such input.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
#: Most occurrences of a repeated field. Parsing one takes a microsecond or two.
MAX_REPEATED = 100_000
_WIDTH = {FIXED64: 8, FIXED32: 4}
_ENDLESS = re.compile(rb"[\x80-\xff]{10}")


class Malformed(ValueError):
    """Error for bytes that violate the schema.

    The message has a place in the schema, never content.
    """


@dataclass(frozen=True)
class Field:
    """One field of a message.

    Attributes:
        name: Name of the field.
        wires: Allowed wire types, first that of a single value; a repeated number may also be packed into bytes.
        repeated: Whether the field may occur more than once.
        refused: Description in the error message if the field must not occur; otherwise empty.
    """

    name: str
    wires: tuple[int, ...] = (BYTES,)
    _: KW_ONLY
    repeated: bool = False
    refused: str = ""


Schema = Mapping[int, Field]


class Refused(ValueError):
    """Error for a field that the schema forbids. The message is the field's ``refused`` text."""


def read(message: memoryview, schema: Schema, kind: str) -> dict[str, list[Any]]:
    """Parse one message.

    Args:
        message: Its bytes.
        schema: Its fields by number.
        kind: Name of the message in error messages.

    Returns:
        The values of every field of the schema, in order, by name: integers for varints, views for all other wire
        types.

    Raises:
        Malformed: The message is truncated, or a field is unknown, has another wire type, or is repeated without
            permission or too often.
        Refused: The message has a forbidden field.
    """
    found: dict[str, list[Any]] = {field.name: [] for field in schema.values()}
    for number, wire, value in _fields(message, kind):
        field = schema.get(number)
        if field is None:
            raise Malformed(f"unknown field {number} in {kind}")
        if field.refused:
            raise Refused(field.refused)
        if wire not in field.wires:
            raise Malformed(f"field {field.name} of {kind} has another type")
        if isinstance(value, memoryview) and field.wires[0] != BYTES:
            _check_packed(value, field.wires[0], kind)
        values = found[field.name]
        if values and not field.repeated:
            raise Malformed(f"field {field.name} of {kind} occurs twice")
        if len(values) >= MAX_REPEATED:
            raise Malformed(f"field {field.name} of {kind} occurs too often")
        values.append(value)
    return found


def numbers(values: Sequence[int | memoryview]) -> list[int]:
    """Return the values of a field of signed integers, packed or not.

    Raises:
        Malformed: A packed number is too long, or the list has too many numbers.
    """
    found: list[int] = []
    for value in values:
        if isinstance(value, int):
            found.append(value)
            continue
        position = 0
        while position < len(value):
            number, position = _varint(value, position, "a list of numbers")
            found.append(number)
            if len(found) > MAX_REPEATED:
                raise Malformed("a list of numbers is too long")
    return [number - (1 << 64) if number >> 63 else number for number in found]


def text(values: list[memoryview]) -> str:
    """Return the value of an optional text field; an absent one is empty, as in protobuf.

    Raises:
        Malformed: The value is not UTF-8.
    """
    try:
        return str(values[0], "utf-8") if values else ""
    except UnicodeDecodeError as error:
        raise Malformed("a name is not UTF-8") from error


def _fields(message: memoryview, kind: str) -> Iterator[tuple[int, int, int | memoryview]]:
    position, end = 0, len(message)
    while position < end:
        tag, position = _varint(message, position, kind)
        number, wire = tag >> 3, tag & 7
        if not 0 < number < 1 << 29:  # some readers truncate a wider tag to 32 bits
            raise Malformed(f"a field number in {kind} is out of range")
        if wire == VARINT:
            value, position = _varint(message, position, kind)
            yield number, wire, value
            continue
        if wire == BYTES:
            size, position = _varint(message, position, kind)
        elif wire in _WIDTH:
            size = _WIDTH[wire]
        else:
            raise Malformed(f"a field of {kind} has an unknown wire type")
        if size > end - position:
            raise Malformed(f"{kind} is truncated")
        yield number, wire, message[position : position + size]
        position += size


def _check_packed(numbers: memoryview, wire: int, kind: str) -> None:
    """Check that the last packed number ends at the end of its bytes.

    Raises:
        Malformed: It does not, or a number does not end within ten bytes.
    """
    if wire == VARINT:
        broken = bool(numbers) and (numbers[-1] >= 0x80 or _ENDLESS.search(numbers) is not None)
    else:
        broken = len(numbers) % _WIDTH[wire] > 0
    if broken:
        raise Malformed(f"numbers in {kind} are truncated")


def _varint(message: memoryview, position: int, kind: str) -> tuple[int, int]:
    value = 0
    for index in range(10):
        if position >= len(message):
            raise Malformed(f"{kind} is truncated")
        byte = message[position]
        position += 1
        value |= (byte & 0x7F) << 7 * index
        if byte < 0x80:
            break
    else:
        raise Malformed(f"a number in {kind} does not end")
    if value >= 1 << 64:
        raise Malformed(f"a number in {kind} is out of range")
    return value, position
