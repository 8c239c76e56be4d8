"""Divide work on rows into blocks, and run the blocks in order, on threads or elsewhere."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from os import cpu_count
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from textveil_export.progress import Progress

Ids = NDArray[np.intp]
Result = TypeVar("Result")
#: Rows in a block of ``split_rows``: seconds of work for a vocabulary of hundreds of thousands of words.
BLOCK_ROWS = 4096


class BlockRunner(Protocol):
    """Interface of functions that apply a function to blocks of rows."""

    def __call__(
        self, work: Callable[..., Result], shared: Sequence[Any], blocks: Iterable[tuple[int, int]]
    ) -> Iterator[Result]:
        """Yield ``work(*shared, start, stop)`` for each block, in order.

        Args:
            work: A function at module level, so that it can be pickled.
            shared: Arguments that are the same for all blocks.
            blocks: First row of each block, and the row after its last one.
        """
        ...


def run_blocks(
    work: Callable[..., Result], shared: Sequence[Any], blocks: Iterable[tuple[int, int]]
) -> Iterator[Result]:
    """Apply a function to one block after the other in this process; see ``BlockRunner``."""
    return (work(*shared, start, stop) for start, stop in blocks)


def split_rows(rows: int, size: int = BLOCK_ROWS) -> list[tuple[int, int]]:
    """Return the start and stop of consecutive blocks that cover ``rows`` rows."""
    return [(start, min(start + size, rows)) for start in range(0, rows, size)]


def map_in_order(pool: ThreadPoolExecutor, work: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
    """Yield ``work(item)`` in order, with at most one pending item for each core.

    Unlike ``pool.map`` it does not create all items at once.
    """
    pending: list[Future[Any]] = []
    for item in items:
        pending.append(pool.submit(work, item))
        if len(pending) > (cpu_count() or 1):
            yield pending.pop(0).result()
    for future in pending:
        yield future.result()


def split_ids(ids: Ids, size: int) -> Iterator[Ids]:
    """Yield consecutive parts of an array, each of at most ``size`` ids."""
    return (ids[start : start + size] for start in range(0, len(ids), size))


def map_blocks(stage: str, ids: Ids, work: Callable[[Ids], Any], progress: Progress, size: int) -> list[Any]:
    """Apply a function to blocks of ids on all cores, and return the results in order.

    Args:
        stage: Name of the stage in progress reports.
        ids: Ids of words.
        work: Function of a block of ids. It runs on a thread.
        progress: Called with the stage, the ids processed so far, and all ids.
        size: Ids in a block.
    """
    results: list[Any] = []
    with ThreadPoolExecutor(cpu_count()) as pool:
        for number, result in enumerate(map_in_order(pool, work, split_ids(ids, size)), 1):
            results.append(result)
            progress(stage, min(number * size, len(ids)), len(ids))
    return results
