"""What several threads have to charge is written in one transaction: a group commit.

Flushes are what a charge costs, and one costs as many as a hundred. While one thread writes, others wait; then one of
these writes for all of them. Each returns when its charge is on the disk, as if it were alone.
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
    """One thread's work, and what it gave once that is on the disk; settled without any, it has to be done alone."""

    work: Callable[[sqlite3.Connection], T]
    given: list[T] = field(default_factory=list[T])
    settled: bool = False


@dataclass(eq=False, kw_only=True)
class _Queue(Generic[T]):
    """Who waits, in one process: a fork must not do what its parent has to do."""

    process: int = field(default_factory=os.getpid)
    changed: threading.Condition = field(default_factory=threading.Condition)
    waiters: list[_Waiter[T]] = field(default_factory=list[_Waiter[T]])
    is_written: bool = False


class Waiting(Generic[T]):
    """What threads have to write to one ledger.

    Args:
        transaction: Opens a transaction for writing.
    """

    def __init__(self, transaction: Callable[[], AbstractContextManager[sqlite3.Connection]]) -> None:
        self._transaction = transaction
        self._queue: _Queue[T] = _Queue()

    def written(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Does work in a transaction, with that of others who wait; returns what it gave when all is on the disk.

        Raises:
            Exception: What the transaction or this work raises. Where anything of a group fails, nothing of it is
                written, and each is done alone.
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
