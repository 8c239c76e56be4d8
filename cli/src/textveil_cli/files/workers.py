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

from textveil.bundle import ExpectedBundle
from textveil.errors import DocumentTooLong, TextveilError
from textveil.text import Options, Sanitizer

from textveil_cli.errors import WorkerFailed
from textveil_cli.files.blocks import TOO_LONG, DocumentBlock, RewrittenDocuments
from textveil_cli.processes import exit_with_parent, ignore_ctrl_c, limit_threads, run_guarded

# A run with one process does not wait for the imports that several need.
if TYPE_CHECKING:
    from concurrent.futures import Future, ProcessPoolExecutor

#: Result of a step without documents.
NO_TEXTS = RewrittenDocuments([], [])


Step = TypeVar("Step")


def sanitize_block(sanitizer: Sanitizer, texts: list[str], sizes: list[int], options: Options) -> RewrittenDocuments:
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
        return _collect_results([[result.text] for result in results], results)
    remaining = iter(texts)
    documents = [[*islice(remaining, size)] for size in sizes]
    try:
        documents_results = sanitizer.sanitize_documents(documents, **options)
        return _collect_results([one.texts for one in documents_results], documents_results)
    except DocumentTooLong:
        if len(documents) == 1:
            return RewrittenDocuments([TOO_LONG] * len(texts), [TOO_LONG])
    separate_results = [sanitize_block(sanitizer, document, [len(document)], options) for document in documents]
    return RewrittenDocuments(
        [text for one in separate_results for text in one.texts],
        [one.tokens[0] for one in separate_results],
        randomized_words=[sum(one.randomized_words) for one in separate_results],
        replaced_words=[sum(one.replaced_words) for one in separate_results],
    )


def _collect_results(texts: Iterable[Sequence[str]], results: Sequence[Any]) -> RewrittenDocuments:
    """Return texts with the counts of their results or documents."""
    randomized, replaced = [one.randomized_words for one in results], [one.replaced_words for one in results]
    return RewrittenDocuments(
        [text for of_one in texts for text in of_one],
        [one.tokens for one in results],
        randomized_words=randomized,
        replaced_words=replaced,
    )


class BlockSanitizer:
    """Sanitizer of the blocks of a run, in one or several processes.

    Args:
        sanitizer: The sanitizer of this process.
        bundle: Folder of its bundle, ``None`` for the built-in one.
        options: Options of ``Sanitizer.sanitize``.
        workers: Number of processes; 1 uses this process alone.
    """

    def __init__(self, sanitizer: Sanitizer, bundle: Path | None, options: Options, workers: int) -> None:
        self._sanitizer, self._bundle, self._options, self._workers = sanitizer, bundle, options, workers

    def sanitize_blocks(
        self, steps: Iterable[tuple[Step, DocumentBlock | None]]
    ) -> Generator[tuple[Step, RewrittenDocuments], None, None]:
        """Yield every step with the rewritten texts of its block, in order.

        Workers rewrite up to two blocks per process ahead.

        Raises:
            TextveilError: The first error in a step.
            WorkerFailed: A worker was ended from outside, or failed with an error that is no ``TextveilError``.
        """
        if self._workers == 1:
            for step, work in steps:
                yield (
                    step,
                    NO_TEXTS
                    if work is None
                    else sanitize_block(self._sanitizer, work.texts, work.document_sizes, self._options),
                )
            return
        with self._open_pool() as pool:
            window: deque[tuple[Step, Future[RewrittenDocuments | TextveilError | MemoryError] | None]] = deque()
            for step, work in steps:
                window.append(
                    (step, None if work is None else pool.submit(_sanitize_in_worker, work.texts, work.document_sizes))
                )
                if len(window) > 2 * self._workers + 1:
                    yield _get_outcome(*window.popleft())
            while window:
                yield _get_outcome(*window.popleft())

    @contextmanager
    def _open_pool(self) -> "Iterator[ProcessPoolExecutor]":
        from concurrent.futures import ProcessPoolExecutor
        from multiprocessing import get_context

        job = (self._bundle, self._sanitizer.bundle.expected_bundle, self._options)
        with (
            limit_threads(),
            ProcessPoolExecutor(self._workers, get_context("spawn"), initializer=_start_worker, initargs=job) as pool,
        ):
            try:
                with ignore_ctrl_c():  # the processes start with the first blocks
                    for _ in range(self._workers):
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
        raise WorkerFailed("a worker process was killed, possibly for lack of memory") from None
    if isinstance(outcome, BaseException):
        raise outcome
    return step, outcome


_jobs: list[tuple[Path | None, ExpectedBundle, Options]] = []
_sanitizers: list[Sanitizer] = []


def _start_worker(bundle: Path | None, expected_bundle: ExpectedBundle, options: Options) -> None:
    exit_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _jobs.append((bundle, expected_bundle, options))


def _sanitize_in_worker(texts: list[str], sizes: list[int]) -> RewrittenDocuments | TextveilError | MemoryError:
    """Return the rewritten documents, or the error."""
    return run_guarded(_sanitize_with_bundle, texts, sizes)


def _sanitize_with_bundle(texts: list[str], sizes: list[int]) -> RewrittenDocuments:
    bundle, expected_bundle, options = _jobs[-1]
    if not _sanitizers:
        _sanitizers.append(Sanitizer.load(bundle, **expected_bundle))
        gc.freeze()  # excludes the loaded data from garbage collection, which takes a fifth of the time of short cells
    return sanitize_block(_sanitizers[-1], texts, sizes, options)
