"""The service answers its paths and every kind of bad request, and no reply or log contains a word of a request."""

import json
from collections.abc import Iterator

import pytest
from canaries import SECRET
from serving import Server, toy

pytest.importorskip("starlette", reason="needs the extra serve: make integrations")
pytest.importorskip("uvicorn", reason="needs the extra serve: make integrations")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with toy(tmp_path_factory.mktemp("serve")) as running:
        yield running
        assert "Zorblax" not in running.said  # nothing of any request of this file
        assert "Traceback" not in running.said
        assert all(line.startswith("textveil: ") for line in running.said.splitlines())


def test_one_text_and_several(server: Server) -> None:
    status, said, headers = server.ask("POST", "/sanitize", {"text": "ab é"})
    assert (status, said) == (200, {"text": "AB É", "statement": {"epsilon": 10}})
    assert headers["cache-control"] == "no-store"
    status, said, _ = server.ask("POST", "/sanitize", {"texts": ["a", "", "c"]})
    assert [result["text"] for result in said["results"]] == ["A", "", "C"]
    assert server.ask("POST", "/sanitize", {"texts": []})[:2] == (200, {"results": []})


def test_what_it_is(server: Server) -> None:
    assert server.ask("GET", "/health")[:2] == (200, {"status": "ok"})
    status, said, _ = server.ask("GET", "/info")
    assert status == 200
    assert (said["sanitize"], said["encode"]) == ({"epsilon": 10}, None)
    assert said["limits"] == {"body_bytes": 100_000, "texts": 5}


TEXT = {"text": SECRET}
JSON = {"Content-Type": "application/json"}
FORM = {"Content-Type": "application/x-www-form-urlencoded"}
#: Bodies and headers for /sanitize, with the status and the code of the answer.
BAD = {
    "no type": (b'{"text": "Zorblaxia"}', {"Content-Type": ""}, 415, "content-type"),
    "a form": (b"text=Zorblaxia", FORM, 415, "content-type"),
    "no JSON": (b'{"text": Zorblaxia}', JSON, 400, "json"),
    "a key twice": (b'{"text": "Zorblaxia", "text": "a"}', JSON, 400, "json"),
    "a key twice, spelled otherwise": (b'{"text": "a", "\\u0074ext": "Zorblaxia"}', JSON, 400, "json"),
    "a key twice inside": (b'{"texts": [{"Zorblaxia": 1, "Zorblaxia": 2}]}', JSON, 400, "json"),
    "half": (b'{"text": "Zorblaxia', JSON, 400, "json"),
    "nothing": (b"", JSON, 400, "json"),
    "no UTF-8": ('{"text": "Zorbläxia"}'.encode("latin-1"), JSON, 400, "json"),
    "UTF-16": ('{"text": "Zorblaxia"}'.encode("utf-16"), JSON, 400, "json"),
    "no number": (b'{"text": NaN}', JSON, 400, "json"),
    "deep": (b"[" * 50_000, JSON, 400, "json"),
    "digits": (b'{"text": ' + b"9" * 9_000 + b"}", JSON, 400, "json"),
    "a list": ([SECRET], {}, 422, "body"),
    "a number": ({"text": 48213977}, {}, 422, "body"),
    "null": ({"text": None}, {}, 422, "body"),
    "texts of other types": ({"texts": [SECRET, 1]}, {}, 422, "body"),
    "texts is a text": ({"texts": SECRET}, {}, 422, "body"),
    "both": ({"text": SECRET, "texts": []}, {}, 422, "body"),
    "a level of its own": ({"text": SECRET, "level": "weakest"}, {}, 422, "body"),
    "half a pair": (b'{"text": "Zorblaxia \\ud800"}', JSON, 422, "body"),
    "too many": ({"texts": [SECRET] * 6}, {}, 413, "too-many"),
    "too large": ({"text": SECRET * 10_000}, {}, 413, "too-large"),
    "another host": (TEXT, {"Host": "zorblaxia.example"}, 421, "host"),
    "another site": (TEXT, {"Origin": "https://zorblaxia.example"}, 403, "origin"),
    "a site with no name": (TEXT, {"Origin": "null"}, 403, "origin"),
    "a fault": ({"text": f"fault {SECRET}"}, {}, 500, "internal"),
    "a budget": ({"text": f"budget {SECRET}"}, {}, 403, "budget"),
    "slow work": ({"text": "sleep 1.6"}, {}, 503, "timeout"),
}
#: Method, path, body, headers, status and code.
ASKED = {
    **{case: ("POST", "/sanitize", *row) for case, row in BAD.items()},
    "no such path": ("POST", f"/sanitized/{SECRET.split()[0]}", TEXT, {}, 404, "path"),
    "no encoder": ("POST", "/encode", TEXT, {}, 404, "path"),
    "method": ("GET", "/sanitize?text=Zorblaxia", None, {}, 405, "path"),
    "slash": ("POST", "/sanitize/", TEXT, {}, 404, "path"),
    "another host with our name": ("GET", "/info", None, {"Host": "127.0.0.1.zorblaxia.example:80"}, 421, "host"),
    "a page of another port": ("GET", "/info", None, {"Sec-Fetch-Site": "same-site"}, 403, "origin"),
    "an image of another site": ("GET", "/info", None, {"Sec-Fetch-Site": "cross-site"}, 403, "origin"),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", ASKED)
def test_a_bad_request_is_named_and_not_repeated(server: Server, case: str) -> None:
    method, path, body, headers, status, code = ASKED[case]
    got, said, shown = server.ask(method, path, body, headers)
    assert (got, said["error"]["code"]) == (status, code)
    assert set(said) == {"error"}
    assert "orblaxia" not in (json.dumps(said) + str(shown)).casefold()
    assert server.ask("GET", "/health")[0] == 200


def test_a_fault_is_reported_by_its_place(server: Server) -> None:
    server.ask("POST", "/sanitize", {"text": f"fault {SECRET}"})
    assert "textveil: internal: ValueError in <string> line " in server.said


def test_its_own_names_are_answered(server: Server) -> None:
    for host in ("localhost", f"LOCALHOST:{server.port}", "127.0.0.1:1", "[::1]:80"):
        assert server.ask("GET", "/info", headers={"Host": host})[0] == 200
    own = f"http://127.0.0.1:{server.port}"
    assert server.ask("GET", "/info", headers={"Origin": own})[0] == 200
    assert server.raw(b"GET /info HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n").startswith(b"HTTP/1.1 400")
    assert server.raw(b"GET /info HTTP/1.0\r\n\r\n").startswith(b"HTTP/1.1 421")


def test_a_page_of_its_own_is_answered(server: Server) -> None:
    for site in ("same-origin", "none"):
        assert server.ask("GET", "/info", headers={"Sec-Fetch-Site": site})[0] == 200


ONCE = {
    "Host": "localhost",
    "Origin": "http://localhost",
    "Sec-Fetch-Site": "none",
    "Authorization": "Bearer key",
    "Content-Type": "application/json",
}


@pytest.mark.parametrize("name", ONCE)
def test_a_header_that_decides_is_there_once(server: Server, name: str) -> None:
    """Also where both say the same."""
    lines = [f"{key}: {value}" for key, value in ONCE.items()]
    sent = "\r\n".join(
        ["POST /sanitize HTTP/1.1", "Connection: close", "Content-Length: 13", *lines, "", '{"text": "a"}']
    )
    assert server.raw(sent.encode()).startswith(b"HTTP/1.1 200 ")
    twice = sent.replace(f"{name}: {ONCE[name]}", f"{name}: {ONCE[name]}\r\n{name.lower()}: {ONCE[name]}")
    assert server.raw(twice.encode()).startswith(b"HTTP/1.1 400 ")
