"""The container of the gateway has a pinned base, no root user, and a health check that fails without an answer."""

import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from scripts import ROOT, load_script

health = load_script("containers/gateway/health.py")
FILE = (ROOT / "containers" / "gateway" / "Containerfile").read_text("utf-8")


class AnsweringHandler(BaseHTTPRequestHandler):
    """Answer /health alone."""

    def do_GET(self) -> None:
        self.send_response(200 if self.path == "/health" else 404)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Print nothing."""


class FailingHandler(AnsweringHandler):
    """Answer every request with an error."""

    def do_GET(self) -> None:
        self.send_response(503)
        self.end_headers()


@pytest.fixture(params=[AnsweringHandler, FailingHandler])
def server(request: pytest.FixtureRequest) -> Iterator[tuple[int, bool]]:
    """Serve on a free port, and return it with whether the answer is healthy."""
    server = HTTPServer(("127.0.0.1", 0), request.param)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server.server_port, request.param is AnsweringHandler
    server.shutdown()
    server.server_close()
    thread.join()


def test_health_is_that_of_the_answer(server: tuple[int, bool]) -> None:
    port, healthy = server
    assert health.is_healthy(port) is healthy


def test_a_port_without_a_gateway_is_not_healthy() -> None:
    with HTTPServer(("127.0.0.1", 0), AnsweringHandler) as closed:
        port = closed.server_port
    assert not health.is_healthy(port)


def test_the_last_stage_is_not_root_and_has_a_health_check() -> None:
    stage = FILE.split("\nFROM ")[-1]
    assert re.search(r"^USER 10001$", stage, re.M)
    assert stage.index("USER 10001") < stage.index("ENTRYPOINT")
    assert re.search(r"^HEALTHCHECK .*health\.py", stage, re.M)


def test_the_base_is_pinned_and_dependencies_are_by_hash() -> None:
    assert set(re.findall(r"^FROM (\S+)", FILE, re.M)) == {"${BASE}"}
    assert re.search(r"^ARG BASE=python:3\.\d+\.\d+-slim-[a-z]+$", FILE, re.M)
    assert "--require-hashes" in (ROOT / "containers" / "gateway" / "install.sh").read_text("utf-8")


def test_what_is_copied_exists_and_reaches_the_build() -> None:
    copied = re.findall(r"^COPY (?!--from)(\S+) ", FILE, re.M)
    ignored = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    assert all((ROOT / path).exists() for path in copied)
    assert {path if path.startswith("artifacts") else path.split("/")[0] for path in copied} <= {
        line.removeprefix("!") for line in ignored if line.startswith("!")
    }
