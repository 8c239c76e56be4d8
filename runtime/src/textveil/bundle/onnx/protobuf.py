"""Strict reader of protobuf's binary format, for a schema given as a table.

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
_ENDLESS_VARINT = re.compile(rb"[\x80-\xff]{10}")


class MalformedMessage(ValueError):
    """Error for bytes that violate the schema.

    The error text names a place in the schema, never content.
    """


@dataclass(frozen=True)
class MessageField:
    """One field of a message.

    Attributes:
        name: Name of the field.
        wire_types: Allowed encodings, first that of a single value. A repeated number may also be packed into bytes.
        is_repeated: Whether the field may occur more than once.
        refusal: If the field must not occur, its description in the error message; otherwise empty.
    """

    name: str
    wire_types: tuple[int, ...] = (BYTES,)
    _: KW_ONLY
    is_repeated: bool = False
    refusal: str = ""


MessageSchema = Mapping[int, MessageField]


class ForbiddenField(ValueError):
    """Error for a field that the schema forbids. The error text is the field's ``refusal``."""


def parse_message(message: memoryview, schema: MessageSchema, message_name: str) -> dict[str, list[Any]]:
    """Parse one message.

    Args:
        message: The bytes of the message.
        schema: The fields of the message by number.
        message_name: Name of the message in error messages.

    Returns:
        For each field of the schema, by name, its values in order: integers for variable-length integers (varints), and
        views of bytes for all other encodings.

    Raises:
        MalformedMessage: The message is truncated, or a field is unknown, has another encoding, or is repeated without
            permission or too often.
        ForbiddenField: The message has a forbidden field.
    """
    values_by_name: dict[str, list[Any]] = {field.name: [] for field in schema.values()}
    for number, wire_type, value in _iterate_fields(message, message_name):
        field = schema.get(number)
        if field is None:
            raise MalformedMessage(f"unknown field {number} in {message_name}")
        if field.refusal:
            raise ForbiddenField(field.refusal)
        if wire_type not in field.wire_types:
            raise MalformedMessage(f"field {field.name} of {message_name} has another type")
        if isinstance(value, memoryview) and field.wire_types[0] != BYTES:
            _check_packed(value, field.wire_types[0], message_name)
        values = values_by_name[field.name]
        if values and not field.is_repeated:
            raise MalformedMessage(f"field {field.name} of {message_name} occurs twice")
        if len(values) >= MAX_REPEATED:
            raise MalformedMessage(f"field {field.name} of {message_name} occurs too often")
        values.append(value)
    return values_by_name


def decode_numbers(values: Sequence[int | memoryview]) -> list[int]:
    """Return the values of a field of signed integers, whether or not they are packed.

    Raises:
        MalformedMessage: A packed number is too long, or the list has too many numbers.
    """
    decoded: list[int] = []
    for value in values:
        if isinstance(value, int):
            decoded.append(value)
            continue
        position = 0
        while position < len(value):
            number, position = _read_varint(value, position, "a list of numbers")
            decoded.append(number)
            if len(decoded) > MAX_REPEATED:
                raise MalformedMessage("a list of numbers is too long")
    return [number - (1 << 64) if number >> 63 else number for number in decoded]


def decode_text(values: list[memoryview]) -> str:
    """Return the value of an optional text field; an absent one is empty, as in protobuf.

    Raises:
        MalformedMessage: The value is not UTF-8.
    """
    try:
        return str(values[0], "utf-8") if values else ""
    except UnicodeDecodeError as error:
        raise MalformedMessage("a name is not UTF-8") from error


def _iterate_fields(message: memoryview, message_name: str) -> Iterator[tuple[int, int, int | memoryview]]:
    position, end = 0, len(message)
    while position < end:
        tag, position = _read_varint(message, position, message_name)
        number, wire = tag >> 3, tag & 7
        if not 0 < number < 1 << 29:  # some readers truncate a wider tag to 32 bits
            raise MalformedMessage(f"a field number in {message_name} is out of range")
        if wire == VARINT:
            value, position = _read_varint(message, position, message_name)
            yield number, wire, value
            continue
        if wire == BYTES:
            size, position = _read_varint(message, position, message_name)
        elif wire in _WIDTH:
            size = _WIDTH[wire]
        else:
            raise MalformedMessage(f"a field of {message_name} has an unknown wire type")
        if size > end - position:
            raise MalformedMessage(f"{message_name} is truncated")
        yield number, wire, message[position : position + size]
        position += size


def _check_packed(numbers: memoryview, wire: int, message_name: str) -> None:
    """Check that packed numbers end where their bytes end.

    Raises:
        MalformedMessage: The last number is cut off, or a number does not end within ten bytes.
    """
    if wire == VARINT:
        is_truncated = bool(numbers) and (numbers[-1] >= 0x80 or _ENDLESS_VARINT.search(numbers) is not None)
    else:
        is_truncated = len(numbers) % _WIDTH[wire] > 0
    if is_truncated:
        raise MalformedMessage(f"numbers in {message_name} are truncated")


def _read_varint(message: memoryview, position: int, message_name: str) -> tuple[int, int]:
    value = 0
    for index in range(10):
        if position >= len(message):
            raise MalformedMessage(f"{message_name} is truncated")
        byte = message[position]
        position += 1
        value |= (byte & 0x7F) << 7 * index
        if byte < 0x80:
            break
    else:
        raise MalformedMessage(f"a number in {message_name} does not end")
    if value >= 1 << 64:
        raise MalformedMessage(f"a number in {message_name} is out of range")
    return value, position
