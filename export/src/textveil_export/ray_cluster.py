"""A Ray cluster for the work of the other two wheels: started for one run and removed with it, or one that is there.

A cluster that is started here listens on the loopback address alone and answers nobody without its token. It has no
dashboard and reports no usage. Its files, what it spills among them, are in a folder that only its owner can read and
that goes when the run ends. Nothing else of this package opens a socket but ``textveil serve`` and ``gateway``.
"""

import json
import os
import re
import secrets
import shutil
import tempfile
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from textveil.errors import ClusterError, ExtraMissing, WorkerFailed
from textveil_cli.processes import guarded, one_thread_each

from textveil_export.parallel import BlockRunner, Result

#: What shared memory a cluster is given at least.
_STORE_BYTES = 1 << 27
#: What Ray finds in its environment: it reports no usage, and keeps what its own code has to say to its files.
_RAY_ENVIRONMENT = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_USAGE_STATS_PROMPT_ENABLED": "0",
    "RAY_BACKEND_LOG_LEVEL": "fatal",
}
_ADDRESS = re.compile(r"(?P<host>[^:/\s]+):(?P<port>\d{1,5})")
#: Ray makes sockets below its folder, and the system cuts their paths at 107 bytes.
_MAX_PATH = 38
_CONNECT_S = 10


@contextmanager
def open_ray_cluster(address: str | None, workers: int, store_bytes: int = 0) -> Iterator[Any]:
    """Opens a Ray cluster, one that it starts on this machine or one that is there, and gives the module ``ray``.

    Args:
        address: ``HOST:PORT`` of a cluster, or ``auto`` for that of this machine; ``None`` starts one for this run.
        workers: Processes of a cluster that is started.
        store_bytes: Shared memory that its arrays need.

    Raises:
        ExtraMissing: Ray is not installed.
        ClusterError: There is no cluster to connect to, one was not started, or it reports usage or has a dashboard.
    """
    environment = dict(_RAY_ENVIRONMENT)
    if address is None:
        environment |= {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}
    else:
        _check_reachable(address)
    with _set_environment(environment):
        try:
            import ray  # pyright: ignore[reportMissingImports] - brings what our pins do not agree with
        except ImportError:
            ray = None
        if ray is None:
            raise ExtraMissing("--ray needs Ray: pip install with the extra [ray] of this command's package")
        if ray.is_initialized():
            raise ClusterError("Ray is in use in this process already")
        quiet = {"configure_logging": False, "log_to_driver": False, "logging_level": "ERROR"}
        if address is not None:
            with _open_connection(ray, lambda: ray.init(address=address, **quiet)) as context:
                _check_reports_nothing(context)
                yield ray
            return
        with (
            _create_private_folder() as folder,
            one_thread_each(),
            _bind_to_loopback(),
            _open_connection(
                ray,
                lambda: ray.init(
                    address="local",
                    num_cpus=workers,
                    include_dashboard=False,
                    object_store_memory=_STORE_BYTES + store_bytes,
                    object_spilling_directory=str(folder / "spill"),
                    _temp_dir=str(folder / "s"),
                    **quiet,
                ),
            ),
        ):
            yield ray


def run_ray_tasks(
    ray: Any, work: Callable[..., Result], shared: Sequence[Any], items: Iterable[Sequence[Any]]
) -> Generator[Result, None, None]:
    """Yields ``work(*shared, *item)`` of every item, in order, each done by a task of a cluster.

    Only as many results exist at a time as twice the cluster's processors. Arrays in ``shared`` are in shared memory,
    once for each machine.

    Args:
        ray: What ``open_ray_cluster`` gave.
        work: A function of a module. It is done again where its process is ended from outside, three times at most.
        shared: What it needs for every item.
        items: The rest of its arguments.

    Raises:
        TextveilError: The first error met.
        WorkerFailed: A process was ended again and again, or met an error that is not one of ours.
    """
    task = ray.remote(num_cpus=1, max_retries=3)(guarded)
    references = [ray.put(part) for part in shared]
    most = 2 * max(1, int(ray.cluster_resources().get("CPU", 1)))
    waiting: deque[Any] = deque()
    for item in items:
        waiting.append(task.remote(work, *references, *item))
        if len(waiting) > most:
            yield _get_result(ray, waiting.popleft())
    while waiting:
        yield _get_result(ray, waiting.popleft())


def _get_result(ray: Any, reference: Any) -> Any:
    answer = None
    try:
        answer = ray.get(reference)
    except ray.exceptions.RayError:  # its message has the worker's path and address
        answer = WorkerFailed("a process of the cluster was ended from outside, again and again (not enough memory?)")
    if isinstance(answer, BaseException):
        raise answer
    return answer


@contextmanager
def _open_connection(ray: Any, connect: Callable[[], Any]) -> Iterator[Any]:
    context = None
    try:
        with _discard_stderr():
            context = connect()
    except (ConnectionError, ValueError, RuntimeError, OSError, ray.exceptions.RayError):
        pass
    if context is None:  # said without Ray's message, which names addresses and paths
        raise ClusterError("no Ray cluster answers, or none could be started")
    try:
        yield context
    finally:
        ray.shutdown()


def _check_reachable(address: str) -> None:
    """Refuses an address where nobody listens: Ray would ask there for minutes."""
    if address == "auto":
        return
    import socket

    match = _ADDRESS.fullmatch(address)
    if match is None:
        raise ClusterError("--ray-address is HOST:PORT, or auto for the cluster of this machine")
    try:
        socket.create_connection((match["host"], int(match["port"])), timeout=_CONNECT_S).close()
    except (OSError, OverflowError):
        raise ClusterError("no Ray cluster answers at --ray-address") from None


def _check_reports_nothing(context: Any) -> None:
    """Refuses a cluster that reports usage or has a dashboard."""
    from ray.experimental.internal_kv import _internal_kv_get  # pyright: ignore[reportMissingImports]

    if context.dashboard_url:
        raise ClusterError("the cluster has a dashboard: start it with --include-dashboard=false")
    about = json.loads(_internal_kv_get("CLUSTER_METADATA", namespace="cluster") or "{}")
    if "session_start_timestamp_ms" in about:  # is there if, and only if, it reports
        raise ClusterError("the cluster reports usage: start it with --disable-usage-stats")


@contextmanager
def _create_private_folder() -> Iterator[Path]:
    """A folder for its owner alone, with a folder ``spill``, removed at the end.

    What Ray makes in it, it opens to everybody: nobody comes that far.
    """
    folder = Path(tempfile.mkdtemp(prefix="textveil-ray-"))
    try:
        if len(str(folder)) > _MAX_PATH:
            raise ClusterError("the folder of temporary files has too long a path for Ray (TMPDIR): /tmp is not")
        (folder / "spill").mkdir(mode=0o700)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _bind_to_loopback() -> Iterator[None]:
    """Makes Ray listen on the loopback address alone, as it does by itself where there are no clusters, on macOS."""
    from ray._private import ray_constants  # pyright: ignore[reportMissingImports]

    before = ray_constants.ENABLE_RAY_CLUSTER
    ray_constants.ENABLE_RAY_CLUSTER = False
    try:
        yield
    finally:
        ray_constants.ENABLE_RAY_CLUSTER = before


@contextmanager
def _discard_stderr() -> Iterator[None]:
    """Keeps what Ray's own code writes there, past Python, from whoever reads our one line for each error."""
    saved, nothing = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nothing, 2)
        yield
    finally:
        os.dup2(saved, 2)
        os.close(saved)
        os.close(nothing)


@contextmanager
def _set_environment(values: dict[str, str]) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


@contextmanager
def open_ray_runner(address: str | None, workers: int | None, store_bytes: int) -> Iterator[BlockRunner]:
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
    with open_ray_cluster(address, workers or cores, store_bytes) as ray:

        def run(
            work: Callable[..., Result], shared: Sequence[Any], blocks: Iterable[tuple[int, int]]
        ) -> Iterator[Result]:
            return run_ray_tasks(ray, work, shared, blocks)

        yield run
