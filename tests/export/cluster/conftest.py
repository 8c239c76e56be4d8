"""A Ray cluster of two nodes on this machine, each with processes of its own."""

import importlib
from collections.abc import Iterator

import pytest


@pytest.fixture(scope="session")
def two_nodes() -> Iterator[str]:
    """Return the address of a cluster of two nodes with one processor each."""
    pytest.importorskip("ray", reason="needs Ray: make integration-ray")
    environment = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_AUTH_MODE": "disabled"}
    with pytest.MonkeyPatch.context() as patch:
        for name, value in environment.items():
            patch.setenv(name, value)
        Cluster = importlib.import_module("ray.cluster_utils").Cluster
        small = {"num_cpus": 1, "include_dashboard": False, "object_store_memory": 100_000_000}
        cluster = Cluster(initialize_head=True, head_node_args=small)
        cluster.add_node(**small)
        try:
            yield cluster.address
        finally:
            cluster.shutdown()
