"""How long work says how far it has come; ``textveil_cli.console.progress_bars`` shows it."""

from collections.abc import Callable

Report = Callable[[str, int, int], None]
"""Called with a stage, the steps done and the steps in all."""


def no_report(stage: str, done: int, total: int) -> None:
    """Reports nothing."""
