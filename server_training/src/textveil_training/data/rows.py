"""Read the lines and columns of a text file, with their locations for error messages.

A line ends only at LF or CR LF: texts may contain the other line separators of Unicode. The reader drops a byte order
mark at the beginning of a file. Columns are separated by one tab and are never quoted: the published files contain
unbalanced quotation marks, which a CSV reader would take for the beginning of a long field.

Errors are raised outside of ``except`` blocks, so that no chained exception contains the invalid bytes.
"""

import os
import re
from collections.abc import Collection, Iterator
from itertools import count
from pathlib import Path
from typing import BinaryIO

from textveil_training.errors import (
    EmptyData,
    FileLocation,
    InvalidScore,
    InvalidUtf8,
    MissingLabel,
    MissingText,
    UnknownLabel,
    UnreadableFile,
    WrongColumnCount,
    make_printable,
)

FilePath = str | os.PathLike[str]

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?")


def format_file_name(path: FilePath) -> str:
    """Return the last part of a path for error messages, with unprintable characters replaced."""
    return make_printable(Path(path).name)


def read_lines(path: FilePath, *, escaped: bool = False) -> Iterator[tuple[FileLocation, str]]:
    """Yield the lines of a file, without line ends.

    Args:
        path: A UTF-8 text file.
        escaped: Whether to decode bytes that are not UTF-8 with Python's error handler ``surrogateescape`` instead of
            raising an error.

    Yields:
        The location and the text of each line, empty lines included.

    Raises:
        UnreadableFile: The file cannot be opened or read.
        InvalidUtf8: A line is not UTF-8; the error has the offset of the first invalid byte in the file.
        EmptyData: The file has no line.
    """
    name = format_file_name(path)
    start = 0  # number of bytes before this line
    with _open_file(path) as stream:
        for number in count(1):
            location = FileLocation(name, number)
            line = _read_line(stream, location)
            if not line:
                break
            skipped = len(_BYTE_ORDER_MARK) if number == 1 and line.startswith(_BYTE_ORDER_MARK) else 0
            text, invalid = _decode_line(line[skipped:], escaped)
            if invalid is not None:
                byte = start + skipped + invalid
                raise InvalidUtf8(f"not UTF-8 at byte {byte} of the file: save it as UTF-8", location, byte=byte)
            yield location, _strip_line_end(text)
            start += len(line)
    if start == 0:
        raise EmptyData("the file is empty", FileLocation(name))


def split_columns(line: str, columns: int, location: FileLocation) -> list[str]:
    """Split a line at its tabs, and check the number of its columns.

    Raises:
        WrongColumnCount: The line has another number of columns.
    """
    row = line.split("\t")
    if len(row) != columns:
        raise WrongColumnCount(f"the row has {len(row)} columns instead of {columns}", location)
    return row


def check_text(value: str, location: FileLocation) -> str:
    """Return a text unchanged, or raise an error if it is empty.

    Raises:
        MissingText: The text is empty or blank.
    """
    if not value.strip():
        raise MissingText("the text is missing", location)
    return value


def check_label(value: str, labels: Collection[str] | None, location: FileLocation) -> str:
    """Return a label unchanged, or raise an error if it is empty or unknown.

    Args:
        value: The label in the spelling of the file.
        labels: The allowed labels; ``None`` to accept any label.
        location: File and line of the label.

    Raises:
        MissingLabel: The label is empty or blank.
        UnknownLabel: The label is not one of ``labels``.
    """
    if not value.strip():
        raise MissingLabel("the label is missing", location)
    if labels is not None and value not in labels:
        raise UnknownLabel(f"the label is not one of the {len(labels)} expected ones", location)
    return value


def parse_score(value: str, lowest: float, highest: float, location: FileLocation) -> float:
    """Parse a decimal number in ASCII digits, such as ``4`` or ``3.665``.

    Exponents, blanks, infinity and NaN are errors.

    Raises:
        InvalidScore: The value is not such a number, or is outside ``lowest`` to ``highest``.
    """
    if not _NUMBER.fullmatch(value):
        raise InvalidScore("the score is not a number", location)
    score = float(value)
    if not lowest <= score <= highest:
        raise InvalidScore(f"the score must be from {lowest:g} to {highest:g}", location)
    return score


def _open_file(path: FilePath) -> BinaryIO:
    """Open a file; the error for a missing file does not contain the path, which could be private."""
    try:
        return open(path, "rb")
    except (OSError, ValueError) as error:
        reason = _describe_error(error)
    raise UnreadableFile(f"the file cannot be opened ({reason})")


def _read_line(stream: BinaryIO, location: FileLocation) -> bytes:
    try:
        return stream.readline()
    except OSError as error:
        reason = _describe_error(error)
    raise UnreadableFile(f"the file cannot be read ({reason})", location)


def _describe_error(error: Exception) -> str:
    """Return the operating system's message for an error, without the path."""
    return os.strerror(error.errno) if isinstance(error, OSError) and error.errno else "not a path"


def _strip_line_end(line: str) -> str:
    return line[:-1].removesuffix("\r") if line.endswith("\n") else line


def _decode_line(line: bytes, escaped: bool) -> tuple[str, int | None]:
    """Decode a line from UTF-8.

    Args:
        line: The bytes of the line.
        escaped: Whether to decode invalid bytes with Python's error handler ``surrogateescape``.

    Returns:
        The text, and the offset of the first invalid byte, or ``None`` if all bytes are valid.
    """
    try:
        return line.decode("utf-8", "surrogateescape" if escaped else "strict"), None
    except UnicodeDecodeError as error:
        return "", error.start
