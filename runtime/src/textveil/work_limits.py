"""Time limits for long work: long loops regularly call a function of the caller, which can stop the work.

The caller of the library sets this function for one call. The function is stored in a context variable, so it applies
only to the calling thread, and the functions between the caller and the innermost loop need no parameter for it.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

#: Number of steps of a loop between two calls of the check, if a step takes a few microseconds.
STEPS_PER_CHECK = 1 << 10
#: Function that raises an error to stop the work; ``None`` if there is no limit.
_check: ContextVar[Callable[[], None] | None] = ContextVar("textveil_check_work", default=None)


@contextmanager
def limit_work(check: Callable[[], None]) -> Iterator[None]:
    """Call ``check`` repeatedly while functions of this library run in the body of a ``with`` statement.

    Args:
        check: Function that raises ``WorkStopped`` to stop the work, for example after a certain time. It is called
            often, so it must be fast.
    """
    token = _check.set(check)
    try:
        yield
    finally:
        _check.reset(token)


def check_work() -> None:
    """Call the function that the caller has set with ``limit_work``, which may raise an error to stop the work.

    Without such a function, do nothing.
    """
    check = _check.get()
    if check is not None:
        check()
