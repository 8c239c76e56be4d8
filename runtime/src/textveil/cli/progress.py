"""The progress bar of every command."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import typer

#: Inputs of fewer bytes are done before a bar could be read.
BAR_FROM_BYTES = 20_000_000


@contextmanager
def progress_bar(
    label: str, size: int, quiet: bool, to_file: bool, from_bytes: int = BAR_FROM_BYTES
) -> Iterator[Callable[[int], None]]:
    """Shows a bar over the bytes of a large file, on standard error, where that is a terminal without data.

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
