"""Sanitizing of blocks in this process or in several, with results in order.

Each worker process starts fresh and receives no random state: all randomness comes from the operating system, so there
is no seed to share. A worker returns a ``TextveilError`` or ``MemoryError`` without a cause, since the cause could hold
text.
"""

import gc
import signal
from collections import deque
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from textveil.bundle import Pins
from textveil.errors import DocumentTooLong, TextveilError, WorkerFailed
from textveil.text import Options, Sanitizer

from textveil_cli.files.rows import TOO_LONG, Documents, Drawn
from textveil_cli.processes import ctrl_c_is_ours, guarded, leave_with_parent, one_thread_each

# A run with one process does not wait for the imports that several need.
if TYPE_CHECKING:
    from concurrent.futures import Future, ProcessPoolExecutor

#: Result of a step without documents.
NOTHING = Drawn([], [])


Step = TypeVar("Step")


def draw(sanitizer: Sanitizer, texts: list[str], sizes: list[int], options: Options) -> Drawn:
    """Sanitize documents.

    Args:
        sanitizer: The sanitizer.
        texts: Texts of all documents, one document after the other.
        sizes: Number of texts in each document.
        options: As in ``Sanitizer.sanitize``.

    Privacy:
        A release of every document. If one is too long for consistent replacement, the results of the others are
        discarded unreleased, and each document is sanitized again alone.
    """
    if not options.get("consistent") and len(texts) == len(sizes):
        results = sanitizer.sanitize_batch(texts, **options)
        return _of([[result.text] for result in results], results)
    rest = iter(texts)
    documents = [[*islice(rest, size)] for size in sizes]
    try:
        drawn = sanitizer.sanitize_documents(documents, **options)
        return _of([one.texts for one in drawn], drawn)
    except DocumentTooLong:
        if len(documents) == 1:
            return Drawn([TOO_LONG] * len(texts), [TOO_LONG])
    alone = [draw(sanitizer, document, [len(document)], options) for document in documents]
    return Drawn(
        [text for one in alone for text in one.texts],
        [one.tokens[0] for one in alone],
        words=[sum(one.words) for one in alone],
        replaced=[sum(one.replaced) for one in alone],
    )


def _of(texts: Iterable[Sequence[str]], counts: Sequence[Any]) -> Drawn:
    """Return texts with the counts of their results or documents."""
    drawn, replaced = [one.drawn for one in counts], [one.replaced_words for one in counts]
    return Drawn(
        [text for of_one in texts for text in of_one], [one.tokens for one in counts], words=drawn, replaced=replaced
    )


class Drawer:
    """Sanitizer of the blocks of a run, in one or several processes.

    Args:
        sanitizer: The sanitizer of this process.
        bundle: Folder of its bundle, ``None`` for the built-in one.
        options: Options of ``Sanitizer.sanitize``.
        workers: Number of processes; 1 uses this process alone.
    """

    def __init__(self, sanitizer: Sanitizer, bundle: Path | None, options: Options, workers: int) -> None:
        self._sanitizer, self._bundle, self._options, self._workers = sanitizer, bundle, options, workers

    def draw_all(self, steps: Iterable[tuple[Step, Documents | None]]) -> Generator[tuple[Step, Drawn], None, None]:
        """Yield every step with the rewritten texts of its block, in order.

        Workers rewrite up to two blocks per process ahead.

        Raises:
            TextveilError: The first error in a step.
            WorkerFailed: A worker was ended from outside, or failed with an error that is no ``TextveilError``.
        """
        if self._workers == 1:
            for step, work in steps:
                yield step, NOTHING if work is None else draw(self._sanitizer, work.texts, work.sizes, self._options)
            return
        with self._pool() as pool:
            window: deque[tuple[Step, Future[Drawn | TextveilError | MemoryError] | None]] = deque()
            for step, work in steps:
                window.append((step, None if work is None else pool.submit(_work, work.texts, work.sizes)))
                if len(window) > 2 * self._workers + 1:
                    yield _outcome(*window.popleft())
            while window:
                yield _outcome(*window.popleft())

    @contextmanager
    def _pool(self) -> "Iterator[ProcessPoolExecutor]":
        from concurrent.futures import ProcessPoolExecutor
        from multiprocessing import get_context

        job = (self._bundle, self._sanitizer.bundle.same, self._options)
        with (
            one_thread_each(),
            ProcessPoolExecutor(self._workers, get_context("spawn"), initializer=_begin, initargs=job) as pool,
        ):
            try:
                with ctrl_c_is_ours():  # the processes start with the first blocks
                    for _ in range(self._workers):
                        pool.submit(_work, [], [])
                yield pool
            except BaseException:
                # Wait for the blocks in progress. A process that is ended in the middle of an answer leaves half of it
                # in the pipe, and the reader of that pipe would wait forever.
                pool.shutdown(wait=True, cancel_futures=True)
                raise


def _outcome(step: Step, future: "Future[Drawn | TextveilError | MemoryError] | None") -> tuple[Step, Drawn]:
    from concurrent.futures.process import BrokenProcessPool

    if future is None:
        return step, NOTHING
    try:
        outcome = future.result()
    except BrokenProcessPool:
        raise WorkerFailed("a process was ended from outside (not enough memory?)") from None
    if isinstance(outcome, BaseException):
        raise outcome
    return step, outcome


_job: list[tuple[Path | None, Pins, Options]] = []
_sanitizers: list[Sanitizer] = []


def _begin(bundle: Path | None, pins: Pins, options: Options) -> None:
    leave_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _job.append((bundle, pins, options))


def _work(texts: list[str], sizes: list[int]) -> Drawn | TextveilError | MemoryError:
    """Return the rewritten documents, or the error."""
    return guarded(_drawn, texts, sizes)


def _drawn(texts: list[str], sizes: list[int]) -> Drawn:
    bundle, pins, options = _job[-1]
    if not _sanitizers:
        _sanitizers.append(Sanitizer.load(bundle, **pins))
        gc.freeze()  # excludes the loaded data from garbage collection, which takes a fifth of the time of short cells
    return draw(_sanitizers[-1], texts, sizes, options)
