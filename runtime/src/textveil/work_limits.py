"""Limits for long work: long loops call a check of the caller about every thousand steps.

A caller of the library sets the check for one call. It applies only to the calling thread, through a context variable,
so that no function between the caller and the innermost loop needs a parameter for it.
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
    """Call ``check`` repeatedly while the body of the ``with`` runs.

    Args:
        check: Raises ``WorkStopped`` to stop the work, for example after it has read a clock or a flag. It runs often,
            so it must be fast.
    """
    token = _check.set(check)
    try:
        yield
    finally:
        _check.reset(token)


def check_work() -> None:
    """Run the check that the caller has set, which may raise an error; without one, do nothing."""
    check = _check.get()
    if check is not None:
        check()
