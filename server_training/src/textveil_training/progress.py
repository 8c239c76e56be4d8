"""Define the type of progress callbacks.

``textveil_cli.console.show_progress_bars`` displays their reports.
"""

from collections.abc import Callable

ProgressCallback = Callable[[str, int, int], None]
"""Called with a stage, the finished steps and the total."""


def ignore_progress(stage: str, done: int, total: int) -> None:
    """Do nothing; callers pass this function as progress callback if no progress is displayed."""
