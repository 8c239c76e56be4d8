"""The progress bar of every command."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import typer

#: Inputs of fewer bytes are done before a bar could be read.
BAR_FROM_BYTES = 20_000_000


@contextmanager
def progress_bar(
    label: str, size: int, quiet: bool, to_file: bool, from_bytes: int = BAR_FROM_BYTES
) -> Iterator[Callable[..., None]]:
    """Shows a bar over the bytes of large files, on standard error, where that is a terminal without data.

    It has the time that is left and, where rows are counted, how many are done in a second.

    Args:
        label: What stands before it.
        size: Bytes there are, 0 if unknown.
        quiet: Whether there is to be no bar.
        to_file: Whether the data go to a file of their own and not to standard output.
        from_bytes: Sizes below get no bar.

    Yields:
        A function that is told how many bytes are done, and how many rows if they are counted.
    """
    if quiet or size < from_bytes or not sys.stderr.isatty() or (not to_file and sys.stdout.isatty()):
        yield lambda consumed, rows=0: None
        return
    begun = time.monotonic()

    def rate(rows: int | None) -> str | None:
        return f"{rows / max(1e-9, time.monotonic() - begun):,.0f} rows/s" if rows else None

    with typer.progressbar(length=size, label=label, file=sys.stderr, item_show_func=rate) as bar:

        def advance(consumed: int, rows: int = 0) -> None:
            bar.current_item = rows
            bar.update(consumed - bar.pos)

        yield advance
