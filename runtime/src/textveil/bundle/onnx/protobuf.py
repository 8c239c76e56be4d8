"""Strict parser of protobuf's binary format. The caller passes the schema as a table.

The parser follows the published encoding (https://protobuf.dev/programming-guides/encoding/). Ordinary parsers are
lenient: they skip unknown fields, merge two occurrences of a message and truncate numbers to the width of their field.
Two parsers may then find different content in the same bytes, so this parser rejects all such input.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
#: Maximum number of occurrences of a repeated field. Parsing one occurrence takes a microsecond or two.
MAX_REPEATED = 100_000
_WIDTH = {FIXED64: 8, FIXED32: 4}
_ENDLESS_VARINT = re.compile(rb"[\x80-\xff]{10}")


class MalformedMessage(ValueError):
    """Error for bytes that violate the schema.

    The error text names a message or a field of the schema. It never contains a value from the bytes.
    """


@dataclass(frozen=True)
class MessageField:
    """One field in the schema of a message.

    Attributes:
        name: Name of the field.
        wire_types: Allowed wire types (encodings of protobuf). The first type encodes a single value. If there is a
            second type, the field may pack several numbers into bytes.
        is_repeated: Whether the field may occur more than once.
        refusal: Text of the error message if the field is forbidden; empty if the field is allowed.
    """

    name: str
    wire_types: tuple[int, ...] = (BYTES,)
    _: KW_ONLY
    is_repeated: bool = False
    refusal: str = ""


MessageSchema = Mapping[int, MessageField]


class ForbiddenField(ValueError):
    """Error for a field that the schema forbids. The error text is ``MessageField.refusal``."""


def parse_message(message: memoryview, schema: MessageSchema, message_name: str) -> dict[str, list[Any]]:
    """Parse one protobuf message.

    Args:
        message: The bytes of the message.
        schema: The allowed and forbidden fields by field number.
        message_name: Name of the message in error messages.

    Returns:
        The values of each field of the schema, in order, by the field's name. Variable-length integers (varints) are
        integers; all other values are views of their bytes.

    Raises:
        MalformedMessage: The message is truncated; or a field is unknown, has a wire type that the schema does not
            allow, or occurs too often.
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
    """Decode the values of a field of signed integers.

    Args:
        values: Values from ``parse_message``: integers, and views of bytes into which several integers are packed.

    Raises:
        MalformedMessage: A packed number is too long, or the field has too many numbers.
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
                raise MalformedMessage("a field has too many numbers")
    return [number - (1 << 64) if number >> 63 else number for number in decoded]


def decode_text(values: list[memoryview]) -> str:
    """Decode the value of an optional text field. If the field is absent, return an empty string, as protobuf does.

    Args:
        values: The values of the field from ``parse_message``: none or one.

    Raises:
        MalformedMessage: The value is not UTF-8.
    """
    try:
        return str(values[0], "utf-8") if values else ""
    except UnicodeDecodeError as error:
        raise MalformedMessage("a text field is not UTF-8") from error


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
    """Check that every number in a packed field is complete.

    Args:
        numbers: Bytes of the field.
        wire: Wire type of one number.
        message_name: Name of the message in error messages.

    Raises:
        MalformedMessage: The last number is incomplete, or a variable-length number has more than ten bytes.
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
        raise MalformedMessage(f"a number in {message_name} is incomplete")
    if value >= 1 << 64:
        raise MalformedMessage(f"a number in {message_name} is out of range")
    return value, position
