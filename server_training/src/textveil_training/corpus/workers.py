"""Processes that sanitize shards.

A process is started afresh and takes nothing over that draws could be repeated with: all randomness is the operating
system's (``textveil.mechanisms.entropy``), so there is no seed to share and none to hand out. What a process meets
comes back as one of our errors, without a cause that could hold text.
"""

import os
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from itertools import islice
from multiprocessing import get_context
from pathlib import Path

from textveil import Sanitizer
from textveil.bundle import MAX_BUNDLE_BYTES
from textveil.errors import TextveilError
from textveil.text import Options
from textveil_cli.processes import ctrl_c_is_ours, guarded, leave_with_parent, one_thread_each

from textveil_training.corpus.layouts import Layout, layout_of
from textveil_training.corpus.shards import Counts, Shard, Source, sanitize_shard, write_shard
from textveil_training.errors import WorkerFailed


@dataclass(frozen=True)
class Job:
    """The settings that every shard of a run shares, in a form that another process can be given.

    Attributes:
        sources: The files.
        format_name: Their format.
        text_keys: Keys or columns of the texts (``jsonl``, ``table``).
        bundle: Folder of the bundle, None for the built-in one.
        identity: Identity it must have.
        options: Options of the sanitizer.
        max_bytes: Most bytes of the bundle's files together.
    """

    sources: tuple[Source, ...]
    format_name: str
    text_keys: tuple[str, ...]
    bundle: Path | None
    identity: str
    options: Options
    max_bytes: int = MAX_BUNDLE_BYTES


@dataclass(frozen=True)
class Piece:
    """A shard to sanitize, and the file to write it to."""

    shard: Shard
    target: Path


class Worker:
    """Sanitizes shards of one job.

    Args:
        job: The job.
        sanitizer: Sanitizer of its bundle; opened when it is needed if left out.
    """

    def __init__(self, job: Job, sanitizer: Sanitizer | None = None) -> None:
        self._job = job
        self._sanitizer = sanitizer
        self._layouts: dict[int, Layout] = {}

    def finish(self, piece: Piece) -> Counts:
        """Sanitizes a shard and writes it.

        Raises:
            TextveilError: It cannot be done.
        """
        if self._sanitizer is None:
            job = self._job
            self._sanitizer = Sanitizer.load(job.bundle, expect_id=job.identity, max_bytes=job.max_bytes)
        number = piece.shard.source
        source = self._job.sources[number]
        if number not in self._layouts:
            self._layouts[number] = layout_of(self._job.format_name, self._job.text_keys, source.path)
        layout = self._layouts[number]
        text, counts = sanitize_shard(piece.shard, source, layout, self._sanitizer, self._job.options)
        write_shard(piece.target, text, counts, piece.shard.sha256)
        return counts


def available_cores() -> int:
    """Counts the cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def finish_all(
    job: Job, pieces: Iterable[Piece], count: int, sanitizer: Sanitizer, done: Callable[[Counts], None]
) -> None:
    """Sanitizes shards, in several processes or, with one worker, in this one.

    When something fails, or at Ctrl-C, no shard is begun any more; those being worked on are finished and kept.

    Args:
        job: The job that the shards belong to.
        pieces: The shards.
        count: Number of workers.
        sanitizer: Sanitizer of the job's bundle, for the work of this process.
        done: Called after each shard.

    Raises:
        TextveilError: The first error met.
        WorkerFailed: A process was ended from outside. One that met an error that is not one of ours raises that of the
            runtime.
    """
    if count == 1:
        worker = Worker(job, sanitizer)
        for piece in pieces:
            outcome = guarded(worker.finish, piece)
            done(_counts(outcome))
        return
    waiting = iter(pieces)
    with (
        one_thread_each(),
        ProcessPoolExecutor(count, get_context("spawn"), initializer=_begin, initargs=(job,)) as pool,
    ):
        try:
            with ctrl_c_is_ours():  # the processes start here
                running = {pool.submit(_work, piece) for piece in islice(waiting, 2 * count)}
            while running:
                ended, running = wait(running, return_when=FIRST_COMPLETED)
                for future in ended:
                    done(_counts(_outcome(future)))
                    running |= {pool.submit(_work, piece) for piece in islice(waiting, 1)}
        except BaseException:
            pool.shutdown(wait=True, cancel_futures=True)
            raise


def _outcome(future: "Future[Counts | TextveilError | MemoryError]") -> "Counts | TextveilError | MemoryError":
    try:
        return future.result()
    except BrokenProcessPool:
        pass
    return WorkerFailed("a process was ended from outside (not enough memory?); finished parts are kept: --resume")


def _counts(outcome: "Counts | TextveilError | MemoryError") -> Counts:
    if isinstance(outcome, Counts):
        return outcome
    raise outcome


_workers: list[Worker] = []
"""The worker of a process that was started for one."""


def _begin(job: Job) -> None:
    leave_with_parent()
    _workers.append(Worker(job))


def _work(piece: Piece) -> "Counts | TextveilError | MemoryError":
    return guarded(_workers[-1].finish, piece)
