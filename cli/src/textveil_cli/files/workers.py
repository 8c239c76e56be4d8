"""Sanitize blocks of rows in several processes, with results in order.

Privacy:
    Each worker process starts as a new interpreter, not as a fork, and receives no random state. All randomness comes
    from the operating system, so processes share no seed. A worker returns an error without its cause, since the cause
    could contain text.
"""

import gc
import signal
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from textveil.bundle import ExpectedBundle
from textveil.errors import TextveilError
from textveil.text import Options, Sanitizer

from textveil_cli.errors import WorkerFailed
from textveil_cli.files.blocks import NO_TEXTS, DocumentBlock, RewrittenDocuments, sanitize_block
from textveil_cli.processes import exit_with_parent, ignore_ctrl_c, limit_threads, run_guarded

if TYPE_CHECKING:
    from concurrent.futures import Future, ProcessPoolExecutor

Step = TypeVar("Step")
#: Folder of the bundle (``None`` for the built-in one), requirements on it, and options of ``Sanitizer.sanitize``.
SanitizingJob = tuple[Path | None, ExpectedBundle, Options]


def sanitize_in_processes(
    steps: Iterable[tuple[Step, DocumentBlock | None]], job: SanitizingJob, workers: int
) -> Iterator[tuple[Step, RewrittenDocuments]]:
    """Sanitize blocks in several processes, and yield every step with its sanitized texts, in order.

    Worker processes sanitize blocks ahead of the output, at most two per process.

    Args:
        steps: Steps of the run, each with its block; ``None`` for a step without a block.
        job: Bundle and options of every worker process.
        workers: Number of worker processes.

    Raises:
        TextveilError: The first error of a block, in the order of ``steps``.
        WorkerFailed: A worker process was killed, or raised an error that is not a ``TextveilError``.
    """
    with _open_pool(job, workers) as pool:
        window: deque[tuple[Step, Future[RewrittenDocuments | TextveilError | MemoryError] | None]] = deque()
        for step, work in steps:
            window.append(
                (step, None if work is None else pool.submit(_sanitize_in_worker, work.texts, work.document_sizes))
            )
            if len(window) > 2 * workers + 1:
                yield _get_outcome(*window.popleft())
        while window:
            yield _get_outcome(*window.popleft())


@contextmanager
def _open_pool(job: SanitizingJob, workers: int) -> "Iterator[ProcessPoolExecutor]":
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    with (
        limit_threads(),
        ProcessPoolExecutor(workers, get_context("spawn"), initializer=_start_worker, initargs=job) as pool,
    ):
        try:
            with ignore_ctrl_c():  # the processes start when the first blocks are submitted
                for _ in range(workers):
                    pool.submit(_sanitize_in_worker, [], [])
            yield pool
        except BaseException:
            # Wait for the blocks in progress. A process that is ended in the middle of an answer leaves half of it
            # in the pipe, and the reader of that pipe would wait forever.
            pool.shutdown(wait=True, cancel_futures=True)
            raise


def _get_outcome(
    step: Step, future: "Future[RewrittenDocuments | TextveilError | MemoryError] | None"
) -> tuple[Step, RewrittenDocuments]:
    from concurrent.futures.process import BrokenProcessPool

    if future is None:
        return step, NO_TEXTS
    try:
        outcome = future.result()
    except BrokenProcessPool:
        raise WorkerFailed("a worker process was killed, possibly for lack of memory: use fewer --workers") from None
    if isinstance(outcome, BaseException):
        raise outcome
    return step, outcome


_jobs: list[SanitizingJob] = []
_sanitizers: list[Sanitizer] = []


def _start_worker(bundle: Path | None, expected_bundle: ExpectedBundle, options: Options) -> None:
    exit_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _jobs.append((bundle, expected_bundle, options))


def _sanitize_in_worker(texts: list[str], sizes: list[int]) -> RewrittenDocuments | TextveilError | MemoryError:
    """Sanitize documents in a worker process, and return the sanitized texts, or the error instead of raising it."""
    return run_guarded(_sanitize_with_bundle, texts, sizes)


def _sanitize_with_bundle(texts: list[str], sizes: list[int]) -> RewrittenDocuments:
    bundle, expected_bundle, options = _jobs[-1]
    if not _sanitizers:
        _sanitizers.append(Sanitizer.load(bundle, **expected_bundle))
        gc.freeze()  # without this, garbage collection of the loaded data takes a fifth of the time for short cells
    return sanitize_block(_sanitizers[-1], texts, sizes, options)
