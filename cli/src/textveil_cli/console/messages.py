"""Says something to whoever runs a command: on standard error, where no data goes."""

import sys
from contextlib import suppress


def say(message: str) -> None:
    """Prints a line on standard error; if nobody reads it, that is no reason to stop."""
    if sys.stderr is not None:
        with suppress(OSError):
            print(message, file=sys.stderr, flush=True)


def say_unless(message: str, quiet: bool) -> None:
    """Prints a message of ``textveil`` on standard error, unless it is to be quiet."""
    if not quiet:
        say(f"textveil: {message}")
