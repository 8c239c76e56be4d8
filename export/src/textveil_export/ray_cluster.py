"""Run work on a Ray cluster: on an existing cluster, or on one that the command starts.

A cluster that the command starts listens on the loopback address only and requires a random token. It has no dashboard
and sends no usage reports. Its files are in a folder that only its owner can read, and the command deletes the folder
at the end. Nothing else in this package opens a socket.
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

from textveil_cli.errors import ExtraMissing, WorkerFailed
from textveil_cli.processes import limit_threads, run_guarded

from textveil_export.errors import ClusterError
from textveil_export.parallel import BlockRunner, Result

#: Least shared memory of a cluster.
_STORE_BYTES = 1 << 27
#: Environment of Ray: no usage reports, and its own messages go to its files only.
_RAY_ENVIRONMENT = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_USAGE_STATS_PROMPT_ENABLED": "0",
    "RAY_BACKEND_LOG_LEVEL": "fatal",
}
_ADDRESS = re.compile(r"(?P<host>[^:/\s]+):(?P<port>\d{1,5})")
#: Ray creates sockets below its folder, and operating systems limit their paths to 107 bytes.
_MAX_PATH = 38
_CONNECT_S = 10


@contextmanager
def open_ray_cluster(address: str | None, workers: int, store_bytes: int = 0) -> Iterator[Any]:
    """Connect to a Ray cluster, or start one on this machine, and yield the module ``ray``.

    Args:
        address: ``HOST:PORT`` of a cluster, ``auto`` for the cluster that runs on this machine, or ``None`` to start
            one.
        workers: Number of processes, if the function starts a cluster.
        store_bytes: Bytes of shared memory for arrays, if the function starts a cluster.

    Raises:
        ExtraMissing: Ray is not installed.
        ClusterError: No cluster is reachable or can be started, or the cluster sends usage reports, or it has a
            dashboard.
    """
    environment = dict(_RAY_ENVIRONMENT)
    if address is None:
        environment |= {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}
    else:
        _check_reachable(address)
    with _set_environment(environment):
        try:
            import ray  # pyright: ignore[reportMissingImports] - not installed for development: it conflicts with pins
        except ImportError:
            ray = None
        if ray is None:
            raise ExtraMissing(
                "--ray needs Ray: pip install 'textveil-export[ray]' (for textveil-train: 'textveil-training[ray]')"
            )
        if ray.is_initialized():
            raise ClusterError("this process already uses Ray: run the command in a process of its own")
        quiet = {"configure_logging": False, "log_to_driver": False, "logging_level": "ERROR"}
        if address is not None:
            with _open_connection(ray, lambda: ray.init(address=address, **quiet)) as context:
                _check_reports_nothing(context)
                yield ray
            return
        with (
            _create_private_folder() as folder,
            limit_threads(),
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
    """Yield ``work(*shared, *item)`` for each item, in order, computed by tasks of a cluster.

    The function limits the number of results in memory to twice the number of the cluster's processors. Ray stores the
    arrays in ``shared`` once on each machine.

    Args:
        ray: The module from ``open_ray_cluster``.
        work: A function at module level. Ray repeats a call at most three times if its process is killed.
        shared: Arguments that are the same for all items.
        items: The remaining arguments of each call.

    Raises:
        TextveilError: The first error of ``work``.
        WorkerFailed: A process was killed repeatedly, or failed with an error of another type.
    """
    task = ray.remote(num_cpus=1, max_retries=3)(run_guarded)
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
    """Return the result of a Ray task, or raise the error that the task raised."""
    answer = None
    try:
        answer = ray.get(reference)
    except ray.exceptions.RayError:  # its message contains the worker's path and address
        answer = WorkerFailed("a cluster process was killed repeatedly: use fewer --workers or more memory")
    if isinstance(answer, BaseException):
        raise answer
    return answer


@contextmanager
def _open_connection(ray: Any, connect: Callable[[], Any]) -> Iterator[Any]:
    """Connect to a cluster for the ``with`` block, and disconnect after it."""
    context = None
    try:
        with _discard_stderr():
            context = connect()
    except (ConnectionError, ValueError, RuntimeError, OSError, ray.exceptions.RayError):
        pass
    if context is None:  # Ray's own message contains addresses and paths
        raise ClusterError("Ray did not start or did not answer: check --ray-address and free memory")
    try:
        yield context
    finally:
        ray.shutdown()


def _check_reachable(address: str) -> None:
    """Raise an error for an address that accepts no connection; Ray itself would retry for minutes."""
    if address == "auto":
        return
    import socket

    match = _ADDRESS.fullmatch(address)
    if match is None:
        raise ClusterError("--ray-address must be HOST:PORT, or auto for the cluster on this machine")
    try:
        socket.create_connection((match["host"], int(match["port"])), timeout=_CONNECT_S).close()
    except (OSError, OverflowError):
        raise ClusterError("no Ray cluster answers at --ray-address: start one, or correct the address") from None


def _check_reports_nothing(context: Any) -> None:
    """Raise an error if the cluster sends usage reports or has a dashboard."""
    from ray.experimental.internal_kv import _internal_kv_get  # pyright: ignore[reportMissingImports]

    if context.dashboard_url:
        raise ClusterError("the cluster has a dashboard: start it with --include-dashboard=false")
    about = json.loads(_internal_kv_get("CLUSTER_METADATA", namespace="cluster") or "{}")
    if "session_start_timestamp_ms" in about:  # Ray writes this key if and only if it reports usage
        raise ClusterError("the cluster reports usage: start it with --disable-usage-stats")


@contextmanager
def _create_private_folder() -> Iterator[Path]:
    """Create a temporary folder that only its owner can read, with a subfolder ``spill``.

    Ray makes its own files in the folder readable by everybody, but other users cannot enter the folder.
    """
    folder = Path(tempfile.mkdtemp(prefix="textveil-ray-"))
    try:
        if len(str(folder)) > _MAX_PATH:
            raise ClusterError("the path of the folder for temporary files is too long for Ray: set TMPDIR=/tmp")
        (folder / "spill").mkdir(mode=0o700)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _bind_to_loopback() -> Iterator[None]:
    """Restrict Ray to the loopback address during the ``with`` block.

    Ray does this on platforms where it cannot form clusters; the function selects that behavior.
    """
    from ray._private import ray_constants  # pyright: ignore[reportMissingImports]

    before = ray_constants.ENABLE_RAY_CLUSTER
    ray_constants.ENABLE_RAY_CLUSTER = False
    try:
        yield
    finally:
        ray_constants.ENABLE_RAY_CLUSTER = before


@contextmanager
def _discard_stderr() -> Iterator[None]:
    """Discard the standard error output of Ray's native code during the ``with`` block.

    Commands print one line per error on standard error, and nothing else.
    """
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
    """Set environment variables for the ``with`` block, and restore them after it."""
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
    """Open a Ray cluster and yield a ``BlockRunner`` that runs each block as a task of the cluster.

    The results do not depend on the machine that runs a block.

    Args:
        address: Address of a running cluster; ``None`` starts a cluster for the ``with`` block.
        workers: Number of processes, if the function starts a cluster; ``None`` for one per core.
        store_bytes: Bytes of shared memory for arrays, if the function starts a cluster.

    Raises:
        ExtraMissing: Ray is not installed.
        ClusterError: No cluster is reachable, or the cluster sends usage reports or has a dashboard.
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    with open_ray_cluster(address, workers or cores, store_bytes) as ray:

        def run(
            work: Callable[..., Result], shared: Sequence[Any], blocks: Iterable[tuple[int, int]]
        ) -> Iterator[Result]:
            """Apply a function to each block of rows as a task of the cluster, and yield the results in order."""
            return run_ray_tasks(ray, work, shared, blocks)

        yield run
