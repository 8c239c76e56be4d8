"""Report the progress of long work: progress bars on a terminal, and lines in a log or a pipe."""

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from textveil_cli.console import print_message, show_progress_bars

from textveil_training.progress import ProgressCallback

LINE_EVERY_S = 25.0
"""Seconds between two lines."""


class ProgressLines:
    """Writer of lines about the progress of a long run.

    Args:
        write: Function that writes one line.
        clock: Function that returns the time in seconds.
    """

    def __init__(
        self, write: Callable[[str], None] = print_message, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._write, self._clock, self._begun = write, clock, clock()
        self._stage, self._done, self._total = "starting", 0, 0

    def report(self, stage: str, done: int, total: int) -> None:
        """Store the current stage, its finished steps and the total; write nothing."""
        self._stage, self._done, self._total = stage.partition("\t")[0], done, total

    def write_line(self) -> None:
        """Write a line with the current stage, its steps and the time since the start."""
        minutes, seconds = divmod(int(self._clock() - self._begun), 60)
        steps = f", {self._done:,} of {self._total:,} steps" if self._total > 1 else ""
        self._write(f"textveil-train: {self._stage}{steps}, {minutes}:{seconds:02d} minutes")


@contextmanager
def report_progress(every_s: float | None = None) -> Iterator[ProgressCallback]:
    """Show progress bars on a terminal; elsewhere write lines to standard error at regular intervals.

    A separate thread writes the lines, so they also appear during a step that takes longer.

    Args:
        every_s: Seconds from one line to the next; ``None`` for ``LINE_EVERY_S``, 25 seconds.

    Yields:
        A callback that takes a stage, its finished steps and the total.
    """
    if sys.stderr is None or sys.stderr.isatty():
        with show_progress_bars() as bars:
            yield bars
        return
    lines, ended = ProgressLines(), threading.Event()

    def write_lines() -> None:
        while not ended.wait(LINE_EVERY_S if every_s is None else every_s):
            lines.write_line()

    thread = threading.Thread(target=write_lines, daemon=True)
    thread.start()
    try:
        yield lines.report
    finally:
        ended.set()
        thread.join()
