"""Counters for OpenTelemetry count requests and surrogates, and have no text, name or identifier."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from gateways import CHAT, KEY, asked, stream, text_of
from serving import Server, served
from textveil_cli.errors import ExtraMissing
from textveil_cli.gateway.telemetry import RequestCounters, load_meter
from upstreams import Upstream

TEXT = "I am Zqxwvina Novak."
#: A gateway with a meter that prints what it gets, in place of the package.
METERED = """
import json, sys
from types import ModuleType

class Counter:
    def __init__(self, name, **options):
        self.name = name
    def add(self, amount, attributes=None, **options):
        print("counted " + json.dumps([self.name, amount, attributes, sorted(options)]), file=sys.stderr, flush=True)

class Meter:
    create_counter = Counter

metrics = ModuleType("opentelemetry.metrics")
metrics.get_meter = lambda name, version: Meter()
sys.modules["opentelemetry"], sys.modules["opentelemetry.metrics"] = ModuleType("opentelemetry"), metrics
from textveil_cli.main import main
main()
"""


class FakeMeter:
    """A meter that records all that a counter gets."""

    def __init__(self) -> None:
        self.added: list[tuple[str, int, dict[str, Any]]] = []

    def create_counter(self, name: str, unit: str = "", description: str = "") -> Any:
        meter = self

        class FakeCounter:
            def add(self, amount: int, attributes: dict[str, Any]) -> None:
                meter.added.append((name, amount, attributes))

        return FakeCounter()


def test_counts_become_attributes_of_a_fixed_set() -> None:
    meter = FakeMeter()
    counts = {
        "restored": 3,
        "not_restored_words": 1,
        "ambiguous": 0,
        "tools": 2,
        "skipped": 5,
        "unshared_results": 1,
        "unknown_tags": 4,
    }
    RequestCounters(meter).count_request(CHAT, 200, counts)
    assert meter.added == [
        ("textveil.gateway.requests", 1, {"path": CHAT, "status": 200}),
        ("textveil.gateway.surrogates", 3, {"result": "restored"}),
        ("textveil.gateway.surrogates", 1, {"result": "word"}),
        ("textveil.gateway.surrogates", 5, {"result": "place"}),
        ("textveil.gateway.surrogates", 4, {"result": "unknown-tag"}),
        ("textveil.gateway.unshared_results", 1, {}),
    ]


def test_a_missing_package_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.metrics", None)
    with pytest.raises(ExtraMissing, match=r"textveil-cli\[telemetry\]"):
        load_meter()


def test_the_meter_has_the_name_of_the_gateway(monkeypatch: pytest.MonkeyPatch) -> None:
    metrics: Any = ModuleType("opentelemetry.metrics")
    metrics.get_meter = lambda name, version: (name, version)
    monkeypatch.setitem(sys.modules, "opentelemetry", ModuleType("opentelemetry"))
    monkeypatch.setitem(sys.modules, "opentelemetry.metrics", metrics)
    assert load_meter()[0] == "textveil.gateway"


def test_the_api_itself_takes_the_counters() -> None:
    """Without a configured exporter it counts nothing, and raises nothing."""
    pytest.importorskip("opentelemetry.metrics", reason="needs the extra telemetry")
    RequestCounters(load_meter()).count_request(CHAT, 200, {"restored": 1})


@pytest.fixture
def metered(up: Upstream, tmp_path: Path) -> Iterator[Server]:
    """Start a gateway with counters."""
    with served(tmp_path, "-c", METERED, "gateway", "--port", "0", "--upstream", up.url, "--telemetry") as server:
        yield server


def read_counts(server: Server) -> list[Any]:
    lines = [line for line in server.said.splitlines() if line.startswith("counted ")]
    return [json.loads(line.removeprefix("counted ")) for line in lines]


@pytest.mark.slow
def test_a_gateway_counts_requests_and_never_a_text(metered: Server) -> None:
    named = {**KEY, "X-Textveil-Conversation": "Zqxwvina"}
    assert text_of(CHAT, metered.ask("POST", CHAT, asked(CHAT, TEXT), named)[1]) == TEXT
    stream(metered, CHAT, asked(CHAT, TEXT), named)
    metered.ask("POST", CHAT, asked(CHAT, TEXT, zqxwvina="Novak"), named)
    metered.ask("GET", "/v1/models/zqxwvina", None, KEY)
    assert metered.stop() == 0
    counted = read_counts(metered)
    requests = [(amount, attributes) for name, amount, attributes, _ in counted if name == "textveil.gateway.requests"]
    assert requests == [
        (1, {"path": CHAT, "status": 200}),
        (1, {"path": CHAT, "status": 200}),
        (1, {"path": CHAT, "status": 422}),
        (1, {"path": "/v1/models", "status": 200}),
    ]
    surrogates = [entry[:3] for entry in counted if entry[0] == "textveil.gateway.surrogates"]
    assert surrogates == [["textveil.gateway.surrogates", 1, {"result": "restored"}]] * 2
    assert not [word for word in ("zqxwvina", "novak", "the-clients-key") if word in json.dumps(counted).lower()]
    assert not [options for *_, options in counted if options]


@pytest.mark.slow
def test_without_the_option_nothing_is_counted(up: Upstream, tmp_path: Path) -> None:
    with served(tmp_path, "-c", METERED, "gateway", "--port", "0", "--upstream", up.url) as server:
        assert server.ask("POST", CHAT, asked(CHAT, TEXT), KEY)[0] == 200
        assert server.stop() == 0
    assert read_counts(server) == []
