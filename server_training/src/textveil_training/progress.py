"""How long work says how far it has come; ``textveil_cli.console.progress_bars`` shows it."""

from collections.abc import Callable

ProgressCallback = Callable[[str, int, int], None]
"""Called with a stage, the steps done and the steps in all."""


def ignore_progress(stage: str, done: int, total: int) -> None:
    """Reports nothing."""
