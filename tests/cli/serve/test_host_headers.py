"""A header that decides who is answered counts only if it is there once.

A front end may look at the first of two and the service at the last. The server in front of the application refuses two
``Host`` headers itself, so the rule and the application are asked here without it.
"""

import asyncio
from collections.abc import Iterable
from typing import Any

import pytest

pytest.importorskip("starlette", reason="needs the extra serve: make integrations")
pytest.importorskip("uvicorn", reason="needs the extra serve: make integrations")

from textveil_cli.serve import AccessRule, ServedReleases, make_app
from textveil_cli.serve.access import Refusal

TOKEN = "t" * 32
RULE = AccessRule(frozenset({"localhost"}), TOKEN)
#: Of each header a value that is fine, and another one.
HEADERS = {
    "host": ("localhost:80", "zorblaxia.example"),
    "origin": ("http://localhost:80", "http://zorblaxia.example"),
    "sec-fetch-site": ("same-origin", "cross-site"),
    "authorization": (f"Bearer {TOKEN}", f"Bearer {'u' * 32}"),
    "content-type": ("application/json", "text/plain"),
    "content-length": ("13", "14"),
    "transfer-encoding": ("chunked", "identity"),
}
TWICE = [
    (name, values)
    for name, (fine, other) in HEADERS.items()
    for values in ((fine, other), (other, fine), (fine, fine), (fine, ""))
]


def scope(name: str, values: Iterable[str]) -> dict[str, Any]:
    """Return a request in which one header has these values in turn, and the others are valid."""
    others = [(key, fine) for key, (fine, _) in HEADERS.items() if key != name]
    headers = [(key.encode(), value.encode()) for key, value in [*others, *((name, value) for value in values)]]
    request = {"type": "http", "method": "GET", "path": "/info", "raw_path": b"/info", "scheme": "http"}
    return {**request, "query_string": b"", "headers": headers}


def status(asked: dict[str, Any]) -> int:
    """Return the status of the application's reply."""

    class Promise:
        def to_dict(self) -> dict[str, object]:
            return {}

    said: list[Any] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b""}

    async def send(message: Any) -> None:
        said.append(message.get("status"))

    app = make_app(ServedReleases(sanitize=list, sanitize_statement=Promise()), RULE)  # type: ignore[arg-type]
    asyncio.run(app(asked, receive, send))
    return said[0]


@pytest.mark.parametrize("name", HEADERS)
def test_a_header_that_is_there_once_is_answered(name: str) -> None:
    RULE.check_request(scope(name, [HEADERS[name][0]]))
    assert status(scope(name, [HEADERS[name][0]])) == 200


@pytest.mark.parametrize(("name", "values"), TWICE)
def test_a_header_that_is_there_twice_is_refused(name: str, values: tuple[str, str]) -> None:
    with pytest.raises(Refusal) as refused:
        RULE.check_request(scope(name, values))
    assert (refused.value.status, refused.value.code) == (400, "header")
    assert status(scope(name, values)) == 400


@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("name", HEADERS)
def test_a_rule_that_reads_one_of_two_is_seen(name: str, last: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted faults: the first of two headers counts, or the last."""
    right = AccessRule.check_request

    def check(self: AccessRule, asked: dict[str, Any]) -> None:
        headers = asked["headers"] if last else asked["headers"][::-1]
        right(self, {**asked, "headers": list(dict(headers).items())})

    monkeypatch.setattr(AccessRule, "check_request", check)
    fine, wrong = HEADERS[name]
    with pytest.raises(pytest.fail.Exception):
        test_a_header_that_is_there_twice_is_refused(name, (wrong, fine) if last else (fine, wrong))
