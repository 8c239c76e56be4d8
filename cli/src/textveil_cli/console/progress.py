"""Progress bars of every command, on standard error, and only if that is a terminal."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

#: Callback with a stage, the number of finished steps and the total.
StageProgressReporter = Callable[[str, int, int], None]


@contextmanager
def show_progress_bars(*, enabled: bool = True, in_bytes: bool = False) -> Iterator[StageProgressReporter]:
    """Show a bar for each stage of long work, with elapsed and remaining time.

    Args:
        enabled: Whether to show bars at all.
        in_bytes: Whether steps are bytes.

    Yields:
        A callback that takes a stage, its finished steps and the total. The name of a stage may have a suffix after a
        tab, such as a rate.
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
    """Show a bar over the bytes of large files, unless data goes to the same terminal.

    Args:
        label: Text before the bar.
        size: Total bytes, 0 if unknown.
        min_bytes: Minimum size for a bar; smaller inputs finish before anyone could read it.
        quiet: Whether to show no bar.
        to_file: Whether the data goes to a file instead of standard output.

    Yields:
        A callback that takes the finished bytes and, if rows are counted, the finished rows; the bar then has their
        rate.
    """
    enabled = not quiet and size >= min_bytes and (to_file or not sys.stdout.isatty())
    start_time = time.monotonic()
    with show_progress_bars(enabled=enabled, in_bytes=True) as report:

        def advance(consumed: int, rows: int = 0) -> None:
            rate = f"\t{rows / max(1e-9, time.monotonic() - start_time):,.0f} rows/s" if rows else ""
            report(label + rate, consumed, size)

        yield advance
