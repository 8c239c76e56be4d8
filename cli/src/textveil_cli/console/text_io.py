"""Plain text input and output of commands: files, standard streams, messages and progress bars.

Error messages name a file or stream, and never contain its content.
"""

import codecs
import os
import re
import stat
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Any

from textveil.errors import InputError, OutputError

TextWriter = Callable[[str], None]
#: Lines, whether the last of them ended with a line feed, and bytes consumed.
LineBatch = tuple[list[str], bool, int]
#: Callback with a stage, the number of finished steps and the total.
StageProgressReporter = Callable[[str, int, int], None]

#: Maximum bytes of one read; a terminal or pipe returns fewer, so lines are processed as they arrive.
_READ_BYTES = 1 << 20
#: Shape of the name of a text file. Private text hardly ever has this shape.
_DATA_FILE_NAME = re.compile(r"[\w.+-]{1,60}\.(?:txt|md|log|csv|tsv|jsonl?|ndjson|parquet|pq|gz|zst)", re.I)


def print_message(message: str) -> None:
    """Print a line on standard error; do nothing if standard error is closed.

    Use it for messages alone: results belong on standard output.
    """
    if sys.stderr is not None:
        with suppress(OSError):
            print(message, file=sys.stderr, flush=True)


def print_unless_quiet(message: str, quiet: bool) -> None:
    """Print a message on standard error, with the prefix ``textveil:``, unless ``quiet`` is true."""
    if not quiet:
        print_message(f"textveil: {message}")


@contextmanager
def open_standard_output() -> Iterator[TextWriter]:
    """Yield a function that writes to standard output and flushes after every write.

    Raises:
        OutputError: Standard output is closed.
    """

    def write(text: str) -> None:
        sys.stdout.buffer.write(text.encode("utf-8"))
        sys.stdout.buffer.flush()

    if sys.stdout is None:
        raise OutputError("standard output is closed")
    yield write


def open_output(path: Path | None, *, private: bool = False) -> AbstractContextManager[TextWriter]:
    """Open an output for writing: standard output, or a file that is written completely or not at all.

    Args:
        path: Path of the file; ``None`` for standard output.
        private: Whether only the owner may read the file.

    Raises:
        OutputError: The output cannot be written.
    """
    if path is None:
        return open_standard_output()
    from textveil.storage import open_atomic_text

    return open_atomic_text(path, private=private)


def make_printable(name: str) -> str:
    """Replace each unprintable character of a file name by ``?``, and return the result."""
    return "".join(character if character.isprintable() else "?" for character in name)


def get_safe_file_name(path: str | Path) -> str:
    """Return the last component of a path for messages; "" if the path may be private text.

    A path counts as safe if it exists, or if it ends like the name of a data file.
    """
    file = os.path.basename(os.path.normpath(path))
    return make_printable(file) if os.path.exists(path) or _DATA_FILE_NAME.fullmatch(file) else ""


def name_inputs(paths: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield each input path with a name for messages.

    If a path may be private text, its name is its position alone, such as ``input 1 of 2``.
    """
    for number, path in enumerate(paths, 1):
        safe_name = get_safe_file_name(path)
        position = "" if safe_name and len(paths) == 1 else f"input {number} of {len(paths)}"
        yield path, "standard input" if path == "-" else position + (", " if position and safe_name else "") + safe_name


@contextmanager
def open_input(path: str, name: str) -> Iterator[tuple[int, int]]:
    """Open an input and close it on exit.

    Args:
        path: Path of a file; ``-`` is standard input.
        name: Name of the input in errors.

    Yields:
        A file descriptor and the size of the file in bytes, 0 if unknown.

    Raises:
        InputError: The input cannot be opened, or is a folder.
    """
    if path == "-":
        if sys.stdin is None:
            raise InputError("standard input is closed: pass a file")
        if sys.stdin.isatty():
            print_message("textveil: reading lines from the terminal; press Ctrl-D to end")
        yield sys.stdin.fileno(), 0
        return
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
    except OSError as error:
        hint = " (to pass a text, use --text)" if name.startswith("input ") and "," not in name else ""
        raise InputError(f"{name}: cannot read the file: {os.strerror(error.errno or 0)}{hint}") from error
    try:
        status = os.fstat(descriptor)
        if stat.S_ISDIR(status.st_mode):
            raise InputError(f"{name}: is a folder: name the files in it")
        yield descriptor, status.st_size
    finally:
        with suppress(OSError):
            os.close(descriptor)


def read_inputs(paths: Sequence[str]) -> Iterator[Iterator[LineBatch]]:
    """Open the inputs one after the other, and yield for each input the iterator of ``read_lines`` over its lines."""
    for path, name in name_inputs(paths):
        with open_input(path, name) as (descriptor, _):
            yield read_lines(descriptor, name)


def iterate_lines(paths: Sequence[str]) -> Iterator[str]:
    """Yield the lines of all inputs, one after the other, as soon as they arrive."""
    return (line for found in read_inputs(paths) for lines, _, _ in found for line in lines)


def refuse_missing_file(path: Path, option: str) -> None:
    """Raise ``InputError`` if the file of an option does not exist. The error has no path that may be private text."""
    if not os.path.exists(path):
        name = get_safe_file_name(path)
        raise InputError(f"{option}: no such file{f': {name}' if name else ''}")


def read_word_list(path: Path | None, option: str) -> list[str]:
    """Return the words of a file that has one word per line; an empty list if ``path`` is ``None``.

    A byte order mark is dropped.

    Args:
        path: The file.
        option: The option that names the file, for errors.

    Raises:
        InputError: The file does not exist or cannot be read. The error has no cause, since a cause could contain
            content of the file.
    """
    if path is None:
        return []
    refuse_missing_file(path, option)
    with suppress(OSError, UnicodeDecodeError):
        return [line.strip() for line in path.read_text(encoding="utf-8-sig").splitlines() if line.strip()]
    raise InputError(f"{option}: cannot read {get_safe_file_name(path) or 'the file'} as UTF-8 with one word per line")


def read_lines(descriptor: int, name: str, remedy: str = "save it as UTF-8") -> Iterator[LineBatch]:
    """Yield the lines of an input in batches, as soon as they arrive.

    A line ends with a line feed. A carriage return before the line feed stays in the line, as white space. A byte order
    mark at the start of the input is dropped.

    Args:
        descriptor: An open file descriptor, which is read to its end and left open.
        name: Name of the input in errors, such as ``input 1``.
        remedy: Advice for an input that is not UTF-8.

    Yields:
        For each batch its lines, whether the last line ends with a line feed, and the number of bytes read from the
        input so far.

    Raises:
        InputError: The input cannot be read or is not UTF-8. All lines before the invalid bytes are yielded first; the
            message gives the offset of the invalid bytes.
    """
    offset = 0  # of the first byte of `pending`
    pending: list[bytes] = []
    while True:
        try:
            chunk = os.read(descriptor, _READ_BYTES)
        except OSError as error:
            raise InputError(f"{name}: cannot read the file") from error
        end = len(chunk) if not chunk else chunk.rfind(b"\n") + 1
        if chunk and not end:
            pending.append(chunk)
            continue
        pending.append(chunk[:end])
        block = b"".join(pending)
        pending.clear()  # a line may be long: hold its bytes once, and free them before the line is used
        consumed = offset + len(block)
        if block:
            lines, ended, error_offset = _decode_lines(block, first=offset == 0)
            hint = _suggest_encoding(block) if error_offset == 0 and offset == 0 else ""
            del block
            if lines:
                yield lines, ended, consumed
                del lines
            if error_offset is not None:
                raise InputError(f"{name}: not UTF-8 at byte {offset + error_offset}{hint or f' ({remedy})'}")
            offset = consumed
        if not chunk:
            return
        pending = [chunk[end:]]


def merge_line_batches(batches: Iterable[LineBatch]) -> Iterator[LineBatch]:
    """Join the batches of lines of an input, and yield all lines as one batch after the last line has arrived.

    Nothing is yielded for an empty input.
    """
    collected = list(batches)
    if collected:
        yield [line for lines, _, _ in collected for line in lines], *collected[-1][1:]


def _decode_lines(block: bytes, *, first: bool) -> tuple[list[str], bool, int | None]:
    """Decode a block of bytes to lines.

    Args:
        block: The bytes.
        first: Whether the block is the start of the input and may have a byte order mark.

    Returns:
        The lines before the first invalid byte; whether the last of them ends with a line feed; and the offset of the
        first invalid byte after these lines. The offset is ``None`` if all bytes are valid UTF-8.
    """
    if first and _suggest_encoding(
        block
    ):  # UTF-16 without a mark is valid UTF-8, with a null beside every ASCII letter
        return [], False, 0
    lines: list[str] = []
    start = len(codecs.BOM_UTF8) if first and block.startswith(codecs.BOM_UTF8) else 0
    while start < len(block):
        end = block.find(b"\n", start)
        ended, stop = end >= 0, end if end >= 0 else len(block)
        try:
            lines.append(str(memoryview(block)[start:stop], "utf-8"))
        except UnicodeDecodeError as error:
            return lines, True, start + error.start
        start = stop + ended
    return lines, block.endswith(b"\n"), None


def _suggest_encoding(block: bytes) -> str:
    """Return advice if an input begins like a format other than UTF-8 text; otherwise ""."""
    wide = b"\0" in block[:2] or block.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    return ": the file is UTF-16 or not text; save it as UTF-8" if wide else ""


@contextmanager
def show_progress_bars(*, enabled: bool = True, in_bytes: bool = False) -> Iterator[StageProgressReporter]:
    """Show a progress bar for each stage of long work, with elapsed and remaining time.

    Args:
        enabled: Whether to show bars at all.
        in_bytes: Whether the steps of a stage are bytes.

    Yields:
        A callback that takes the name of a stage, the number of finished steps, and the total number of steps. After a
        tab, the name may have a suffix such as a rate.
    """
    if not enabled or sys.stderr is None or not sys.stderr.isatty():
        yield lambda stage, done, total: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    count_column = DownloadColumn() if in_bytes else MofNCompleteColumn()
    time_columns = (TimeElapsedColumn(), TimeRemainingColumn(), TextColumn("{task.fields[more]}"))
    columns = (TextColumn("{task.description}"), BarColumn(), count_column, *time_columns)
    with Progress(*columns, console=Console(stderr=True)) as progress:
        tasks: dict[str, Any] = {}

        def report(stage: str, done: int, total: int) -> None:
            name, _, more = stage.partition("\t")
            if name not in tasks:
                tasks[name] = progress.add_task(name, total=total, more=more)
            progress.update(tasks[name], completed=done, total=total, more=more)

        yield report


@contextmanager
def show_byte_progress(
    label: str, size: int, min_bytes: int, *, quiet: bool, to_file: bool
) -> Iterator[Callable[..., None]]:
    """Show a progress bar over the bytes of a large file, unless results go to the same terminal.

    Args:
        label: Text before the bar.
        size: Total bytes; 0 if unknown.
        min_bytes: Smallest ``size`` for which a bar is shown.
        quiet: Whether to show no bar.
        to_file: Whether the results are written to a file instead of standard output.

    Yields:
        A callback that takes the number of finished bytes and, optionally, the number of finished rows. With rows, the
        bar also shows the rows per second.
    """
    enabled = not quiet and size >= min_bytes and (to_file or not sys.stdout.isatty())
    start_time = time.monotonic()
    with show_progress_bars(enabled=enabled, in_bytes=True) as report:

        def advance(consumed: int, rows: int = 0) -> None:
            rate = f"\t{rows / max(1e-9, time.monotonic() - start_time):,.0f} rows/s" if rows else ""
            report(label + rate, consumed, size)

        yield advance
