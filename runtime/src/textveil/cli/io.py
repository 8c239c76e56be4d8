"""Where commands read and write: files and standard streams, with errors that name them without their content."""

import os
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import typer

from textveil.console import say
from textveil.errors import InputError, OutputError

Write = Callable[[str], None]

_BAR_FROM_BYTES = 20_000_000


@contextmanager
def standard_output() -> Iterator[Write]:
    """Standard output, flushed after every write.

    Raises:
        OutputError: It is closed.
    """

    def write(text: str) -> None:
        sys.stdout.buffer.write(text.encode("utf-8"))
        sys.stdout.buffer.flush()

    if sys.stdout is None:
        raise OutputError("standard output is closed")
    yield write


@contextmanager
def opened(path: str, name: str) -> Iterator[tuple[int, int]]:
    """Opens an input.

    Args:
        path: Of a file; ``-`` is standard input.
        name: What errors call it.

    Yields:
        A file descriptor and the size of what it names, 0 if unknown.

    Raises:
        InputError: It cannot be opened.
    """
    if path == "-":
        if sys.stdin is None:
            raise InputError("standard input is closed")
        if sys.stdin.isatty():
            say("textveil: reading lines from the terminal; Ctrl-D ends")
        yield sys.stdin.fileno(), 0
        return
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
    except OSError as error:
        raise InputError(f"{name}: no readable file there (to give a text itself, use --text)") from error
    try:
        yield descriptor, os.fstat(descriptor).st_size
    finally:
        os.close(descriptor)


def read_words(path: Path | None, option: str) -> list[str]:
    """The words of a list, one a line; none where there is no list.

    Raises:
        InputError: The file that the option names cannot be read. Not chained: the cause may hold what the file holds.
    """
    if path is None:
        return []
    with suppress(OSError, UnicodeDecodeError):
        return [line.strip() for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    raise InputError(f"{option}: no readable UTF-8 file there")


def refuse_overwriting(paths: list[str], output: Path) -> None:
    """Raises ``OutputError`` if a file that is to be written is also one of those to be read."""
    for path in paths:
        with suppress(OSError, ValueError, AttributeError):  # what is not there, or closed, is not the output
            source = os.fstat(sys.stdin.fileno()) if path == "-" else os.stat(path)
            if stat.S_ISREG(source.st_mode) and os.path.samestat(source, output.stat()):
                raise OutputError("the output is also an input; nothing was written")


@contextmanager
def progress_bar(
    label: str, size: int, quiet: bool, to_file: bool, from_bytes: int = _BAR_FROM_BYTES
) -> Iterator[Callable[[int], None]]:
    """A bar over the bytes of a large file: on standard error, only on a terminal that shows no data.

    Args:
        label: What stands before it.
        size: Bytes there are, 0 if unknown.
        quiet: Whether there is to be no bar.
        to_file: Whether the data go to a file of their own and not to standard output.
        from_bytes: Sizes below get no bar.

    Yields:
        A function that is told how many bytes are done.
    """
    if quiet or size < from_bytes or not sys.stderr.isatty() or (not to_file and sys.stdout.isatty()):
        yield lambda consumed: None
        return
    with typer.progressbar(length=size, label=label, file=sys.stderr) as bar:
        yield lambda consumed: bar.update(consumed - bar.pos)


def say_unless(message: str, quiet: bool) -> None:
    """Prints a message of the command on standard error, unless it is to be quiet."""
    if not quiet:
        say(f"textveil: {message}")
