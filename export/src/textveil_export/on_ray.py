"""Work on blocks as tasks of a Ray cluster (the extra ``[ray]``)."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from textveil_export.cluster import in_tasks, ray_cluster
from textveil_export.parallel import Result, Run


@contextmanager
def on_ray(address: str | None, workers: int | None, store_bytes: int) -> Iterator[Run]:
    """Gives a ``Run`` that does each block in a task; the same blocks give the same results as in one process.

    Args:
        address: Address of a cluster; ``None`` starts one on this machine for as long as it is needed.
        workers: Processes of a cluster that is started; one for each core if left out.
        store_bytes: Shared memory that the arrays need.

    Raises:
        ExtraMissing: Ray is not installed.
        ClusterError: There is no cluster, or it would tell others what it does.
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    with ray_cluster(address, workers or cores, store_bytes) as ray:

        def run(
            work: Callable[..., Result], shared: Sequence[Any], blocks: Iterable[tuple[int, int]]
        ) -> Iterator[Result]:
            return in_tasks(ray, work, shared, blocks)

        yield run
