"""How far long work has come, told to whoever wants to show it."""

from collections.abc import Callable

Progress = Callable[[str, int, int], None]
"""Called with a stage, the steps done and the steps in all."""


def ignore_progress(stage: str, done: int, total: int) -> None:
    """Reports nothing."""


def report_part(progress: Progress, number: int, parts: int) -> Progress:
    """Returns a progress that reports one of several equal parts of every stage.

    Args:
        progress: What is reported to.
        number: Parts that are done.
        parts: Parts in all.
    """
    return lambda stage, done, total: progress(stage, number * total + done, parts * total)
