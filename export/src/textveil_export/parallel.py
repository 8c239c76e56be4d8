"""Divide rows of arrays into blocks, and apply a function to the blocks in order."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from os import cpu_count
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from textveil_export.progress import Progress

Ids = NDArray[np.intp]
Result = TypeVar("Result")
#: Rows in a block of ``split_rows``. A block takes seconds for a vocabulary of hundreds of thousands of words.
BLOCK_ROWS = 4096


class BlockRunner(Protocol):
    """Interface of functions that apply another function to blocks of rows.

    Implementations run the blocks in this process (``run_blocks``) or on a Ray cluster (``open_ray_runner``).
    """

    def __call__(
        self, work: Callable[..., Result], shared: Sequence[Any], blocks: Iterable[tuple[int, int]]
    ) -> Iterator[Result]:
        """Yield ``work(*shared, start, stop)`` for each block, in the order of the blocks.

        Args:
            work: A function at module level, which other processes can unpickle.
            shared: Arguments that are the same for all blocks.
            blocks: Pairs ``(start, stop)``: the first row of a block, and the row after its last row.
        """
        ...


def run_blocks(
    work: Callable[..., Result], shared: Sequence[Any], blocks: Iterable[tuple[int, int]]
) -> Iterator[Result]:
    """Apply a function to each block of rows in this process, one block after the other.

    Args:
        work: A function at module level.
        shared: Arguments that are the same for all blocks.
        blocks: Pairs ``(start, stop)``: the first row of a block, and the row after its last row.
    """
    return (work(*shared, start, stop) for start, stop in blocks)


def split_rows(rows: int, size: int = BLOCK_ROWS) -> list[tuple[int, int]]:
    """Split the rows 0 to ``rows - 1`` into consecutive blocks of at most ``size`` rows.

    Returns:
        Pairs ``(start, stop)``: the first row of a block, and the row after its last row.
    """
    return [(start, min(start + size, rows)) for start in range(0, rows, size)]


def map_in_order(pool: ThreadPoolExecutor, work: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
    """Yield ``work(item)`` in the order of the items, with about one pending item for each core.

    Unlike ``pool.map`` the function takes few items from ``items`` in advance, so memory stays small.
    """
    pending: list[Future[Any]] = []
    for item in items:
        pending.append(pool.submit(work, item))
        if len(pending) > (cpu_count() or 1):
            yield pending.pop(0).result()
    for future in pending:
        yield future.result()


def split_ids(ids: Ids, size: int) -> Iterator[Ids]:
    """Split an array of ids into consecutive parts of at most ``size`` ids."""
    return (ids[start : start + size] for start in range(0, len(ids), size))


def map_blocks(stage: str, ids: Ids, work: Callable[[Ids], Any], progress: Progress, size: int) -> list[Any]:
    """Apply a function to blocks of ids on all cores, and return the results in order.

    Args:
        stage: Name of the stage in progress reports.
        ids: Ids of words.
        work: Function that takes one block of ids. It runs on a thread.
        progress: Called with the stage, the number of processed ids, and the number of all ids.
        size: Largest number of ids in a block.
    """
    results: list[Any] = []
    with ThreadPoolExecutor(cpu_count()) as pool:
        for number, result in enumerate(map_in_order(pool, work, split_ids(ids, size)), 1):
            results.append(result)
            progress(stage, min(number * size, len(ids)), len(ids))
    return results
