"""Helpers for processes that sanitize texts in parallel.

They handle Ctrl-C, the number of threads, errors that must not contain text, and the end of the parent process.
"""

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
    """Start a thread that ends this worker process as soon as its parent process has ended."""
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
    """Make processes that start inside the ``with`` block ignore Ctrl-C.

    A terminal sends Ctrl-C to every process of a command; the main process alone shall react.
    """
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
    """Limit processes that start inside the ``with`` block to one thread for linear algebra.

    Environment variables that the user has set keep their values.
    """
    unset = [name for name in _THREAD_VARIABLES if name not in os.environ]
    os.environ.update(dict.fromkeys(unset, "1"))
    try:
        yield
    finally:
        for name in unset:
            os.environ.pop(name, None)


def run_guarded(work: Callable[..., Result], *arguments: Any) -> "Result | TextveilError | MemoryError":
    """Call a function in a worker process, and return its result or an error that contains no user text.

    Args:
        work: The function.
        arguments: Its positional arguments.

    Returns:
        The result of the function, or its error. A ``TextveilError`` loses its cause, context and traceback. A
        ``MemoryError`` is replaced by a new one. Every other error becomes a ``WorkerFailed`` with only the type of the
        error and the source line.
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
