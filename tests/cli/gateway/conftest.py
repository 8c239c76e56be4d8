"""Start a gateway before a test upstream."""

from collections.abc import Iterator

import pytest

pytest.importorskip("starlette", reason="needs the extra gateway: make integrations")
pytest.importorskip("uvicorn", reason="needs the extra gateway: make integrations")
pytest.importorskip("httpcore2", reason="needs the extra gateway: make integrations")

from gateways import gateway
from serving import Server
from textveil import Sanitizer
from upstreams import Upstream, upstream

#: Most tests compare surrogates and restored texts, which kept facts and numbered tags would leave equal.
_OPTIONS = ("--style", "surrogate", "--facts", "none")


@pytest.fixture(scope="session")
def sanitizer() -> Sanitizer:
    """Load the built-in bundle."""
    return Sanitizer.load()


@pytest.fixture(scope="session")
def up() -> Iterator[Upstream]:
    """Start an upstream."""
    with upstream() as running:
        yield running


@pytest.fixture(scope="session")
def gate(up: Upstream, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Start a gateway before the upstream that restores the arguments of one tool."""
    with gateway(tmp_path_factory.mktemp("gateway"), up.url, "--restore-tools", "find", *_OPTIONS) as running:
        yield running
        said = running.said
        assert running.stop() == 0
        assert "Traceback" not in said
        assert not any(word in said for word in ("Novak", "Zqxw", "the-clients-key"))
        assert list((tmp_path_factory.getbasetemp()).glob("gateway*/place/*")) == []


@pytest.fixture(scope="session")
def passing(up: Upstream, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Start a gateway that passes the field ``audio`` unchanged."""
    with gateway(tmp_path_factory.mktemp("passing"), up.url, "--pass-through", "audio") as running:
        yield running
        assert "internal" not in running.said
