"""The progress bar of every command: on standard error, and only where that is a terminal."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

#: Called with a stage, the steps done and the steps in all.
Report = Callable[[str, int, int], None]


@contextmanager
def progress_bars(*, shown: bool = True, in_bytes: bool = False) -> Iterator[Report]:
    """Shows a bar for each stage of long work, with the time that it took and the time that is left.

    Args:
        shown: Whether there is to be any.
        in_bytes: Whether steps are bytes.

    Yields:
        What is told how far the work is. The name of a stage may have more after a tab, such as a rate.
    """
    if not shown or sys.stderr is None or not sys.stderr.isatty():
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

    counted = DownloadColumn() if in_bytes else MofNCompleteColumn()
    left = (TimeElapsedColumn(), TimeRemainingColumn(), TextColumn("{task.fields[more]}"))
    columns = (TextColumn("{task.description}"), BarColumn(), counted, *left)
    with Progress(*columns, console=Console(stderr=True)) as progress:
        tasks: dict[str, Any] = {}

        def report(stage: str, done: int, total: int) -> None:
            name, _, more = stage.partition("\t")
            if name not in tasks:
                tasks[name] = progress.add_task(name, total=total, more=more)
            progress.update(tasks[name], completed=done, total=total, more=more)

        yield report


@contextmanager
def bytes_bar(label: str, size: int, from_bytes: int, *, quiet: bool, to_file: bool) -> Iterator[Callable[..., None]]:
    """Shows a bar over the bytes of large files, where the terminal has no data on it.

    Args:
        label: What stands before it.
        size: Bytes there are, 0 if unknown.
        from_bytes: Sizes below get no bar: they are done before it could be read.
        quiet: Whether there is to be no bar.
        to_file: Whether the data go to a file of their own and not to standard output.

    Yields:
        What is told how many bytes are done, and how many rows if they are counted: their rate is shown.
    """
    shown = not quiet and size >= from_bytes and (to_file or not sys.stdout.isatty())
    begun = time.monotonic()
    with progress_bars(shown=shown, in_bytes=True) as report:

        def advance(consumed: int, rows: int = 0) -> None:
            rate = f"\t{rows / max(1e-9, time.monotonic() - begun):,.0f} rows/s" if rows else ""
            report(label + rate, consumed, size)

        yield advance
