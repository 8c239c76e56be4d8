"""Settings of Ray before its start, and cleanup after it, with a fake; tests/export/cluster uses the real Ray."""

import json
import os
import socket
import stat
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace

import pytest
from textveil.errors import OptionError
from textveil_cli.errors import WorkerFailed
from textveil_export.errors import ClusterError
from textveil_export.ray_cluster import open_ray_cluster, run_ray_tasks

NAMES = ("RAY_USAGE_STATS_ENABLED", "RAY_AUTH_MODE", "RAY_AUTH_TOKEN", "RAY_BACKEND_LOG_LEVEL")


class RayError(Exception):
    pass


class FakeRay(SimpleNamespace):
    """Keeps what it is started with."""

    def __init__(self, monkeypatch, metadata=b"{}", dashboard=""):
        exceptions = SimpleNamespace(RayError=RayError)
        super().__init__(exceptions=exceptions, seen={}, fails=None, dashboard=dashboard, down=0, answers={})
        constants = SimpleNamespace(ENABLE_RAY_CLUSTER=True)
        kv = SimpleNamespace(_internal_kv_get=lambda key, namespace: metadata)
        self.constants = constants
        monkeypatch.setitem(sys.modules, "ray", self)
        monkeypatch.setitem(sys.modules, "ray._private", SimpleNamespace(ray_constants=constants))
        monkeypatch.setitem(sys.modules, "ray.experimental", SimpleNamespace(internal_kv=kv))
        monkeypatch.setitem(sys.modules, "ray.experimental.internal_kv", kv)

    def is_initialized(self):
        return False

    def init(self, **options):
        self.seen = {**options, "environment": {name: os.environ.get(name) for name in NAMES}}
        self.seen["loopback"] = not self.constants.ENABLE_RAY_CLUSTER
        os.write(2, b"noise of Ray's own code\n")
        spill = Path(options.get("object_spilling_directory", "/"))
        self.seen["modes"] = [stat.S_IMODE(path.stat().st_mode) for path in (spill, spill.parent)]
        if self.fails is not None:
            raise self.fails
        return SimpleNamespace(dashboard_url=self.dashboard)

    def shutdown(self):
        self.down += 1

    def put(self, value):
        return value

    def cluster_resources(self):
        return {"CPU": 1}

    def remote(self, **options):
        self.seen["task"] = options
        return lambda work: SimpleNamespace(remote=lambda *arguments: (work, arguments))

    def get(self, reference):
        work, arguments = reference
        if arguments[1:] == ("dies",):
            raise RayError("/the/path/of/a/worker")
        return work(*arguments)


@pytest.fixture
def ray(monkeypatch):
    return FakeRay(monkeypatch)


def test_a_cluster_of_its_own_is_silent_private_and_gone_at_the_end(ray, capfd):
    with open_ray_cluster(None, 2, 1000) as given:
        assert given is ray
    seen = ray.seen
    assert seen["include_dashboard"] is False
    assert (seen["num_cpus"], seen["object_store_memory"]) == (2, 1000 + (1 << 27))
    assert seen["modes"] == [0o700, 0o700]
    assert Path(seen["_temp_dir"]).parent == Path(seen["object_spilling_directory"]).parent
    assert seen["loopback"]
    assert (seen["log_to_driver"], seen["configure_logging"]) == (False, False)
    assert seen["environment"]["RAY_USAGE_STATS_ENABLED"] == "0"
    assert seen["environment"]["RAY_AUTH_MODE"] == "token"
    assert len(seen["environment"]["RAY_AUTH_TOKEN"]) == 64
    assert ray.down == 1
    assert ray.constants.ENABLE_RAY_CLUSTER
    assert not Path(seen["object_spilling_directory"]).parent.exists()
    assert not [name for name in NAMES if name in os.environ]
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("error", [RayError("10.0.0.1:3 /path"), ConnectionError("x"), RuntimeError("x"), OSError("x")])
def test_a_cluster_that_does_not_start_is_one_named_error(ray, error):
    ray.fails = error
    with (
        pytest.raises(
            ClusterError, match="did not start or did not answer: check --ray-address and free memory"
        ) as caught,
        open_ray_cluster(None, 2),
    ):
        pass
    assert caught.value.__cause__ is caught.value.__context__ is None
    assert not Path(ray.seen["object_spilling_directory"]).parent.exists()


def test_an_interrupted_run_leaves_no_folder(ray):
    with pytest.raises(KeyboardInterrupt), open_ray_cluster(None, 1):
        raise KeyboardInterrupt
    assert ray.down == 1
    assert not Path(ray.seen["object_spilling_directory"]).parent.exists()


def test_a_path_that_is_too_long_for_sockets_is_refused(ray, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with pytest.raises(ClusterError, match="TMPDIR"), open_ray_cluster(None, 1):
        pass
    assert not [*tmp_path.iterdir()]


@pytest.fixture
def address():
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"127.0.0.1:{server.getsockname()[1]}"


def test_a_cluster_that_reports_nothing_is_accepted(ray, address):
    with open_ray_cluster(address, 2):
        pass
    assert ray.seen["address"] == address
    assert ray.seen["environment"]["RAY_AUTH_TOKEN"] is None
    assert ray.down == 1


@pytest.mark.parametrize(
    ("told", "message"),
    [
        ({"dashboard": "127.0.0.1:8265"}, "dashboard"),
        ({"metadata": json.dumps({"session_start_timestamp_ms": 1}).encode()}, "usage"),
    ],
)
def test_a_cluster_that_reports_usage_is_refused(monkeypatch, address, told, message):
    ray = FakeRay(monkeypatch, **told)
    with pytest.raises(ClusterError, match=message), open_ray_cluster(address, 2):
        pass
    assert ray.down == 1


@pytest.mark.parametrize(
    "given", ["local", "ray://127.0.0.1:1", "127.0.0.1", "a b:1", "127.0.0.1:99999", "127.0.0.1:1"]
)
def test_an_address_of_no_cluster_is_refused_at_once(ray, given):
    with pytest.raises(ClusterError, match="--ray-address"), open_ray_cluster(given, 2):
        pass
    assert not ray.seen


def half(number, base=0):
    if number == 3:
        raise OptionError("no")
    return base + number // 2


def test_tasks_answer_in_order_and_their_errors_are_ours(ray):
    assert [*run_ray_tasks(ray, half, (), [(n, 100) for n in (8, 2, 6, 4, 10)])] == [104, 101, 103, 102, 105]
    assert ray.seen["task"] == {"num_cpus": 1, "max_retries": 3}
    with pytest.raises(OptionError, match="no"):
        list(run_ray_tasks(ray, half, (), [(2,), (3,)]))
    with pytest.raises(WorkerFailed, match="killed repeatedly: use fewer --workers or more memory") as caught:
        list(run_ray_tasks(ray, half, (), [("dies",)]))
    assert "/the/path" not in repr((caught.value, caught.value.__context__))
