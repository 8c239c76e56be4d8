"""Work on blocks of words, in order: in this process, on all its cores, or wherever a ``Run`` does it."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from os import cpu_count
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from textveil_export.progress import Progress

Ids = NDArray[np.intp]
Result = TypeVar("Result")
#: Rows of a block that ``split_rows`` gives: seconds of work where there are hundreds of thousands of words.
BLOCK_ROWS = 4096


class BlockRunner(Protocol):
    """Does the work of blocks."""

    def __call__(
        self, work: Callable[..., Result], shared: Sequence[Any], blocks: Iterable[tuple[int, int]]
    ) -> Iterator[Result]:
        """Yields ``work(*shared, start, stop)`` of every block, in order.

        Args:
            work: A function of a module.
            shared: What it needs for every block.
            blocks: Where each block starts and stops.
        """
        ...


def run_blocks(
    work: Callable[..., Result], shared: Sequence[Any], blocks: Iterable[tuple[int, int]]
) -> Iterator[Result]:
    """Does the work of one block after the other in this process; see ``Run``."""
    return (work(*shared, start, stop) for start, stop in blocks)


def split_rows(rows: int, size: int = BLOCK_ROWS) -> list[tuple[int, int]]:
    """Returns where blocks of consecutive rows start and stop."""
    return [(start, min(start + size, rows)) for start in range(0, rows, size)]


def map_in_order(pool: ThreadPoolExecutor, work: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
    """Works like ``pool.map``, but only as many items exist at a time as there are workers."""
    pending: list[Future[Any]] = []
    for item in items:
        pending.append(pool.submit(work, item))
        if len(pending) > (cpu_count() or 1):
            yield pending.pop(0).result()
    for future in pending:
        yield future.result()


def split_ids(ids: Ids, size: int) -> Iterator[Ids]:
    """Yields some ids in order, ``size`` of them at a time."""
    return (ids[start : start + size] for start in range(0, len(ids), size))


def map_blocks(stage: str, ids: Ids, work: Callable[[Ids], Any], progress: Progress, size: int) -> list[Any]:
    """Does some work for every block of ids, on all cores, and returns the results in order.

    Args:
        stage: What progress is reported as.
        ids: Ids of words.
        work: Called with a block of them, on a thread of its own.
        progress: Called with the stage, ids done and ids in all.
        size: Ids in a block.
    """
    results: list[Any] = []
    with ThreadPoolExecutor(cpu_count()) as pool:
        for number, result in enumerate(map_in_order(pool, work, split_ids(ids, size)), 1):
            results.append(result)
            progress(stage, min(number * size, len(ids)), len(ids))
    return results
