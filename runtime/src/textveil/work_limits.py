"""Stop long work between two steps: its loops ask here every thousand steps whether to go on.

Whoever calls the library sets a check for the work of one call. It holds for the calling thread alone, through a
context variable, so no signature between the caller and the innermost loop names it.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

#: Steps between two checks where a step takes a few microseconds.
STEP = 1 << 10
#: Raises where the work is to stop; ``None`` where nothing limits it.
_check: ContextVar[Callable[[], None] | None] = ContextVar("textveil_check_work", default=None)


@contextmanager
def limit_work(check: Callable[[], None]) -> Iterator[None]:
    """Call ``check`` again and again while the body runs; it raises ``WorkStopped`` to stop the work.

    Args:
        check: Looks at a clock or a flag. It runs often, so it must be quick.
    """
    token = _check.set(check)
    try:
        yield
    finally:
        _check.reset(token)


def check_work() -> None:
    """Raise whatever the check of this call raises; do nothing where there is none."""
    check = _check.get()
    if check is not None:
        check()
