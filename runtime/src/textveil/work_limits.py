"""Limits for long work: its loops call a check of the caller about every thousand steps.

The caller of the library sets a check for the work of one call. It applies to the calling thread alone, through a
context variable, so no signature between the caller and the innermost loop needs a parameter for it.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

#: Number of steps between two checks, for steps of a few microseconds.
STEPS_PER_CHECK = 1 << 10
#: Raises an error to stop the work; ``None`` without a limit.
_check: ContextVar[Callable[[], None] | None] = ContextVar("textveil_check_work", default=None)


@contextmanager
def limit_work(check: Callable[[], None]) -> Iterator[None]:
    """Call ``check`` repeatedly while the body runs; it raises ``WorkStopped`` to stop the work.

    Args:
        check: Reads a clock or a flag. It runs often, so it must be fast.
    """
    token = _check.set(check)
    try:
        yield
    finally:
        _check.reset(token)


def check_work() -> None:
    """Run the check of this call, which may raise an error; do nothing without a check."""
    check = _check.get()
    if check is not None:
        check()
