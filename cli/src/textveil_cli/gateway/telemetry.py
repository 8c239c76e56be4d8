"""OpenTelemetry counters of the gateway: numbers of requests, and of replaced words in replies.

Privacy:
    No counter contains a text or a name. Each attribute has a value from a fixed set: a path of the API, a status, or a
    type of result. Neither the client nor the conversation is an attribute.
"""

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from textveil import __version__

from textveil_cli.errors import ExtraMissing

#: Attribute ``result`` of the counter of surrogates, by the name of the count in the log line.
_RESULTS = {
    "restored": "restored",
    "not_restored_words": "word",
    "ambiguous": "ambiguous",
    "skipped": "place",
    "unknown_tags": "unknown-tag",
}


def load_meter() -> Any:
    """Return the OpenTelemetry meter of the gateway, which creates its counters.

    Raises:
        ExtraMissing: The package is not installed.
    """
    try:
        metrics: Any = import_module("opentelemetry.metrics")
    except ImportError as error:
        raise ExtraMissing.from_extra("telemetry", "opentelemetry-api") from error
    return metrics.get_meter("textveil.gateway", __version__)


class RequestCounters:
    """OpenTelemetry counters of requests, and of surrogates (replacements of original words) in replies.

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
        """Add one request to the counters.

        Args:
            path: Path of the route, which contains no text of the client.
            status: HTTP status of the response; 0 if the client disconnected before the response.
            counts: How many replaced words of the request got their original back in the reply, and similar counts, as
                in the log line.
        """
        self._requests.add(1, {"path": path, "status": status})
        for name, result in _RESULTS.items():
            if counts.get(name):
                self._surrogates.add(counts[name], {"result": result})
        if counts.get("unshared_results"):
            self._unshared_results.add(counts["unshared_results"], {})
