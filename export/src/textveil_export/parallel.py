"""Work on blocks of words, on all cores and in order."""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from os import cpu_count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textveil_export.progress import Progress

Ids = NDArray[np.intp]


def in_order(pool: ThreadPoolExecutor, work: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
    """Works like ``pool.map``, but only as many items exist at a time as there are workers."""
    pending: list[Future[Any]] = []
    for item in items:
        pending.append(pool.submit(work, item))
        if len(pending) > (cpu_count() or 1):
            yield pending.pop(0).result()
    for future in pending:
        yield future.result()


def blocks(ids: Ids, size: int) -> Iterator[Ids]:
    """Yields some ids in order, ``size`` of them at a time."""
    return (ids[start : start + size] for start in range(0, len(ids), size))


def each_block(stage: str, ids: Ids, work: Callable[[Ids], Any], progress: Progress, size: int) -> list[Any]:
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
        for number, result in enumerate(in_order(pool, work, blocks(ids, size)), 1):
            results.append(result)
            progress(stage, min(number * size, len(ids)), len(ids))
    return results
