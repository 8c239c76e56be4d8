"""Shared parts of worker processes: Ctrl-C, threads, errors without text, end with parent."""

import os
import signal
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from textveil.errors import TextveilError

from textveil_cli.errors import WorkerFailed

Result = TypeVar("Result")

_THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def exit_with_parent() -> None:
    """End this process as soon as its parent process has ended."""
    from multiprocessing import parent_process

    parent = parent_process()
    if parent is not None:
        threading.Thread(target=_exit_after, args=(parent.sentinel,), daemon=True).start()


def _exit_after(sentinel: int) -> None:
    from multiprocessing import connection

    connection.wait([sentinel])
    os._exit(1)


@contextmanager
def ignore_ctrl_c() -> Iterator[None]:
    """Ignore Ctrl-C in processes that start inside, as a terminal sends it to all of them."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    old_handler = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.SIG_DFL if old_handler is None else old_handler)


@contextmanager
def limit_threads() -> Iterator[None]:
    """Limit processes that start inside to one thread for linear algebra.

    Values in the environment take precedence.
    """
    unset = [name for name in _THREAD_VARIABLES if name not in os.environ]
    os.environ.update(dict.fromkeys(unset, "1"))
    try:
        yield
    finally:
        for name in unset:
            os.environ.pop(name, None)


def run_guarded(work: Callable[..., Result], *arguments: Any) -> "Result | TextveilError | MemoryError":
    """Run a function in a worker; return its result, or its error without user text.

    A ``TextveilError`` loses its cause, context and traceback; a ``MemoryError`` is replaced by a fresh one; other
    errors become ``WorkerFailed`` with type and source line alone.
    """
    try:
        return work(*arguments)
    except TextveilError as error:
        error.__cause__ = error.__context__ = None
        return error.with_traceback(None)
    except MemoryError:
        return MemoryError()
    except Exception as error:  # last line of defense: report only the type and source line
        frame = traceback.extract_tb(error.__traceback__)[-1]
        description = f"{type(error).__name__} in {Path(frame.filename).name} line {frame.lineno}"
    return WorkerFailed(f"internal error: {description}; please report this")
