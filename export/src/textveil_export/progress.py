"""How far long work has come, told to whoever wants to show it."""

from collections.abc import Callable

Progress = Callable[[str, int, int], None]
"""Called with a stage, the steps done and the steps in all."""


def no_progress(stage: str, done: int, total: int) -> None:
    """Reports nothing."""
