"""Group commit: one transaction for the spends of several threads.

Flushing to the disk dominates the cost of a spend, and one flush serves a hundred spends. While one thread writes,
others wait; then one of them writes for all. Each call returns when its spend is on the disk, as without other threads.
"""

import os
import sqlite3
import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, field
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(eq=False)
class _Waiter(Generic[T]):
    """Work of one thread and its result.

    ``given`` holds the result after the commit. If ``settled`` is true and ``given`` is empty, the group failed and the
    thread runs its work alone.
    """

    work: Callable[[sqlite3.Connection], T]
    given: list[T] = field(default_factory=list[T])
    settled: bool = False


@dataclass(eq=False, kw_only=True)
class _Queue(Generic[T]):
    """Waiting threads of one process. A fork starts a new queue, without the work of its parent."""

    process: int = field(default_factory=os.getpid)
    changed: threading.Condition = field(default_factory=threading.Condition)
    waiters: list[_Waiter[T]] = field(default_factory=list[_Waiter[T]])
    is_written: bool = False


class Waiting(Generic[T]):
    """Queue of writes of all threads to one ledger.

    Args:
        transaction: Opens a transaction for writing.
    """

    def __init__(self, transaction: Callable[[], AbstractContextManager[sqlite3.Connection]]) -> None:
        self._transaction = transaction
        self._queue: _Queue[T] = _Queue()

    def written(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run ``work`` in a transaction, with the work of waiting threads; return its result.

        The result is on the disk when this method returns.

        Raises:
            Exception: Any error of the transaction or of ``work``. If a group of several threads fails, nothing of it
                is written, and each thread runs its work alone.
        """
        if self._queue.process != os.getpid():
            self._queue = _Queue()
        queue, mine = self._queue, _Waiter(work)
        with queue.changed:
            queue.waiters.append(mine)
            queue.changed.wait_for(lambda: mine.settled or not queue.is_written)
            group = [] if mine.settled else queue.waiters
            if group:
                queue.waiters, queue.is_written = [], True
        if group:
            try:
                with suppress(Exception) if len(group) > 1 else nullcontext():
                    self._write(group)
            finally:
                with queue.changed:
                    queue.is_written = False
                    for each in group:
                        each.settled = True
                    queue.changed.notify_all()
        if not mine.given:
            self._write([mine])
        return mine.given[0]

    def _write(self, group: Sequence[_Waiter[T]]) -> None:
        with self._transaction() as connection:
            given = [each.work(connection) for each in group]
        for each, outcome in zip(group, given, strict=True):
            each.given.append(outcome)
