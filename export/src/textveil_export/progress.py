"""Callbacks that report the progress of long work."""

from collections.abc import Callable

Progress = Callable[[str, int, int], None]
"""Callback with the name of a stage, the number of completed steps, and the number of all steps."""


def ignore_progress(stage: str, done: int, total: int) -> None:
    """Ignore a progress report; callers pass this function when nobody displays progress."""


def report_part(progress: Progress, number: int, parts: int) -> Progress:
    """Return a callback for the progress of one part of the work; it reports the progress of the whole work.

    Args:
        progress: Callback for the whole.
        number: Number of parts that are complete.
        parts: Number of all parts.
    """
    return lambda stage, done, total: progress(stage, number * total + done, parts * total)
