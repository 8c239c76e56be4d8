"""Group commit: one database transaction for the records of several threads.

Most of the time for writing a record is the flush of the disk, and one flush is enough for a hundred records. While one
thread writes, other threads wait. Then one of these threads writes the records of all waiting threads. Each call
returns when its own record is on the disk.
"""

import os
import sqlite3
import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, field
from typing import Generic, TypeVar

ResultType = TypeVar("ResultType")


@dataclass(eq=False)
class _WaitingCall(Generic[ResultType]):
    """A function of one waiting thread that reads and writes the database, and the result of the function.

    After the commit, ``results`` contains the result. If ``is_settled`` is true and ``results`` is empty, the joint
    transaction failed, and the thread must run its work in a separate transaction.
    """

    work: Callable[[sqlite3.Connection], ResultType]
    results: list[ResultType] = field(default_factory=list[ResultType])
    is_settled: bool = False


@dataclass(eq=False, kw_only=True)
class _CallQueue(Generic[ResultType]):
    """Queue of the threads of one process that wait for a transaction. After a fork, the child's queue is empty."""

    process_id: int = field(default_factory=os.getpid)
    condition: threading.Condition = field(default_factory=threading.Condition)
    calls: list[_WaitingCall[ResultType]] = field(default_factory=list[_WaitingCall[ResultType]])
    is_writing: bool = False


class GroupCommit(Generic[ResultType]):
    """Queue of the writes of all threads to one privacy ledger: one transaction commits all waiting writes.

    So the threads wait for the disk only once.

    Args:
        open_transaction: Function that opens a transaction for writing.
    """

    def __init__(self, open_transaction: Callable[[], AbstractContextManager[sqlite3.Connection]]) -> None:
        self._open_transaction = open_transaction
        self._queue: _CallQueue[ResultType] = _CallQueue()

    def run(self, work: Callable[[sqlite3.Connection], ResultType]) -> ResultType:
        """Run ``work`` in one transaction together with the work of other waiting threads, and return its result.

        The changes are on the disk when this method returns.

        Args:
            work: Function that reads and writes the database. It may be called twice, but the changes of at most one
                call are committed.

        Raises:
            Exception: Any error of the transaction or of ``work``. If a joint transaction of several threads fails, it
                writes nothing, and each thread runs its work again in a separate transaction.
        """
        if self._queue.process_id != os.getpid():
            self._queue = _CallQueue()
        queue, call = self._queue, _WaitingCall(work)
        with queue.condition:
            queue.calls.append(call)
            queue.condition.wait_for(lambda: call.is_settled or not queue.is_writing)
            group = [] if call.is_settled else queue.calls
            if group:
                queue.calls, queue.is_writing = [], True
        if group:
            try:
                with suppress(Exception) if len(group) > 1 else nullcontext():
                    self._write_group(group)
            finally:
                with queue.condition:
                    queue.is_writing = False
                    for each in group:
                        each.is_settled = True
                    queue.condition.notify_all()
        if not call.results:
            self._write_group([call])
        return call.results[0]

    def _write_group(self, group: Sequence[_WaitingCall[ResultType]]) -> None:
        with self._open_transaction() as connection:
            results = [each.work(connection) for each in group]
        for each, outcome in zip(group, results, strict=True):
            each.results.append(outcome)
