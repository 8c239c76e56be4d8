"""Counters of the gateway for OpenTelemetry: numbers of requests and of surrogates, never a text or a name.

Each attribute has a value of a fixed set: a path of the API, a status, or a kind of result. Neither the client nor the
conversation is an attribute.
"""

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from textveil import __version__

from textveil_cli.errors import ExtraMissing

#: Attribute ``result`` of the counter of surrogates, by the name of the count in the log line.
_RESULTS = {"restored": "restored", "not_restored_words": "word", "ambiguous": "ambiguous", "skipped": "place"}


def load_meter() -> Any:
    """Return the meter of the gateway from the OpenTelemetry API.

    Raises:
        ExtraMissing: The package is not installed.
    """
    try:
        metrics: Any = import_module("opentelemetry.metrics")
    except ImportError as error:
        raise ExtraMissing.from_extra("telemetry", "opentelemetry-api") from error
    return metrics.get_meter("textveil.gateway", __version__)


class RequestCounters:
    """Counters of requests and surrogates.

    Args:
        meter: A ``Meter`` of OpenTelemetry, which creates the counters.
    """

    def __init__(self, meter: Any) -> None:
        self._requests = meter.create_counter(
            "textveil.gateway.requests", unit="{request}", description="Requests by path and status; 0 if disconnected"
        )
        self._surrogates = meter.create_counter(
            "textveil.gateway.surrogates", unit="{surrogate}", description="Surrogates in replies, by result"
        )
        self._unshared_results = meter.create_counter(
            "textveil.gateway.unshared_results",
            unit="{message}",
            description="Messages with tool results that were sent without the mapping",
        )

    def count_request(self, path: str, status: int, counts: Mapping[str, int]) -> None:
        """Count one request.

        Args:
            path: Path of its route, which contains no text of the client.
            status: Status of the response; 0 if the client disconnected before it.
            counts: Counts of the restored reply, as in the log line.
        """
        self._requests.add(1, {"path": path, "status": status})
        for name, result in _RESULTS.items():
            if counts.get(name):
                self._surrogates.add(counts[name], {"result": result})
        if counts.get("unshared_results"):
            self._unshared_results.add(counts["unshared_results"], {})
