"""What every process that works for another one needs: Ctrl-C, threads, errors without text, an end with its parent."""

import os
import signal
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from textveil.errors import TextveilError, WorkerFailed

Result = TypeVar("Result")

_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def leave_with_parent() -> None:
    """Makes this process end as soon as the one that started it has gone without a word."""
    from multiprocessing import parent_process

    parent = parent_process()
    if parent is not None:
        threading.Thread(target=_leave_with, args=(parent.sentinel,), daemon=True).start()


def _leave_with(sentinel: int) -> None:
    from multiprocessing import connection

    connection.wait([sentinel])
    os._exit(1)


@contextmanager
def ctrl_c_is_ours() -> Iterator[None]:
    """Makes processes started inside pay no attention to Ctrl-C, which a terminal sends to all of them."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.SIG_DFL if before is None else before)


@contextmanager
def one_thread_each() -> Iterator[None]:
    """Gives processes started inside one thread for linear algebra, unless the environment says otherwise."""
    mine = [name for name in _THREADS if name not in os.environ]
    os.environ.update(dict.fromkeys(mine, "1"))
    try:
        yield
    finally:
        for name in mine:
            os.environ.pop(name, None)


def guarded(work: Callable[..., Result], *arguments: Any) -> "Result | TextveilError | MemoryError":
    """Returns what work returns, or its error, free of everything that could hold text: a worker sends it back."""
    try:
        return work(*arguments)
    except TextveilError as error:
        error.__cause__ = error.__context__ = None
        return error.with_traceback(None)
    except MemoryError:
        return MemoryError()
    except Exception as error:  # the last line of defense: only its type and its place may be told
        place = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{type(error).__name__} in {Path(place.filename).name} line {place.lineno}"
    return WorkerFailed(f"internal: {where}; please report this")
