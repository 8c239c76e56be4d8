"""The service listens on the loopback address by default, elsewhere only with a token, TLS and a name."""

import json
import socket
import ssl
import stat
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from serving import LIMITS, toy

pytest.importorskip("starlette", reason="needs the extra serve: make integrations")
pytest.importorskip("uvicorn", reason="needs the extra serve: make integrations")

from textveil_cli.errors import ServeError
from textveil_cli.serve import ServiceAddress


@pytest.fixture
def token(tmp_path: Path) -> Path:
    path = tmp_path / "token"
    path.write_text("t" * 32 + "\n")
    path.chmod(0o600)
    return path


def test_the_loopback_address_needs_nothing() -> None:
    assert ServiceAddress().make_access_rule().hosts == {"localhost", "127.0.0.1", "[::1]"}
    assert ServiceAddress(host="localhost").make_access_rule().token is None
    assert "[::1]" in ServiceAddress(host="::1").make_access_rule().hosts
    assert "127.0.0.5" in ServiceAddress(host="127.0.0.5").make_access_rule().hosts


@pytest.mark.parametrize("host", ["0.0.0.0", "192.0.2.1", "::", "2001:db8::1", "10.0.0.1"])
def test_elsewhere_a_token_and_tls_are_needed(host: str, token: Path) -> None:
    files: dict[str, Any] = {"certificate": token, "key": token}
    alone: list[dict[str, Any]] = [{}, {"token_file": token}, files]
    for some in alone:
        with pytest.raises(ServeError, match="use --token-file, --tls-certificate and --tls-key"):
            ServiceAddress(host=host, **some).make_access_rule()
    access = ServiceAddress(host=host, names=("Host.example",), token_file=token, **files).make_access_rule()
    assert access.token == "t" * 32
    assert "host.example" in access.hosts
    assert "localhost" not in access.hosts
    assert "t" * 32 not in repr(access)


def test_every_address_needs_a_name(token: Path) -> None:
    with pytest.raises(ServeError, match="--name is missing: the host name that clients use for this address"):
        ServiceAddress(host="0.0.0.0", token_file=token, certificate=token, key=token).make_access_rule()


@pytest.mark.parametrize("host", ["example.org", "", "1.2.3", "256.0.0.1"])
def test_a_name_is_no_address(host: str) -> None:
    with pytest.raises(ServeError, match="must be an IP address"):
        ServiceAddress(host=host).make_access_rule()


def test_a_missing_token_is_made_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "token"
    made = ServiceAddress(token_file=path).make_access_rule().token
    assert made is not None
    assert len(made) >= 40
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert ServiceAddress(token_file=path).make_access_rule().token == made


def test_a_token_that_others_may_read_or_guess_is_refused(token: Path) -> None:
    token.chmod(0o640)
    with pytest.raises(ServeError, match="run chmod 600"):
        ServiceAddress(token_file=token).make_access_rule()
    token.chmod(0o600)
    for content in (b"short", b"", b"\xff" * 40, b"t t" * 20):
        token.write_bytes(content)
        with pytest.raises(ServeError) as refused:
            ServiceAddress(token_file=token).make_access_rule()
        assert "t t" not in str(refused.value)


def test_a_port_that_is_taken_is_one_line() -> None:
    with ServiceAddress().open_socket() as bound:
        assert bound.proto == socket.IPPROTO_TCP
    with ServiceAddress().open_socket() as bound:
        port = bound.getsockname()[1]
        with pytest.raises(
            ServeError, match=f"port {port} is in use: stop the program that uses it, or choose another"
        ):
            ServiceAddress(port=port).open_socket()


def test_another_port_or_host_that_cannot_be_used() -> None:
    with pytest.raises(ServeError, match="--port must be from 0 to 65535"):
        ServiceAddress(port=70_000).open_socket()
    with pytest.raises(ServeError, match="--host is not an address of this device"):
        ServiceAddress(host="192.0.2.1").open_socket()  # reserved for documents


def test_files_that_are_no_certificate(token: Path) -> None:
    with pytest.raises(ServeError, match="cannot be used"):
        ServiceAddress(certificate=token, key=token).make_tls_context()
    with pytest.raises(ServeError, match="must be used together"):
        ServiceAddress(certificate=token).make_access_rule()


def test_a_token_and_tls(tmp_path: Path, token: Path, certificate: tuple[Path, Path]) -> None:
    made, key = certificate
    files = f"token_file=Path({str(token)!r}), certificate=Path({str(made)!r}), key=Path({str(key)!r})"
    with toy(tmp_path, limits=LIMITS, address=files, before="from pathlib import Path") as server:
        trusting = ssl.create_default_context(cafile=str(made))

        def ask(path: str, given: str | None, body: bytes | None = None) -> tuple[int, str]:
            headers = {} if given is None else {"Authorization": given}
            asked = urllib.request.Request(f"https://localhost:{server.port}{path}", body, headers)
            try:
                with urllib.request.urlopen(asked, context=trusting, timeout=20) as answer:
                    return answer.status, ""
            except urllib.error.HTTPError as error:
                return error.code, json.loads(error.read())["error"]["code"]

        assert ask("/info", "Bearer " + "t" * 32) == (200, "")
        assert ask("/health", None) == (200, "")
        for wrong in (None, "Bearer " + "u" * 32, "Bearer", "Basic " + "t" * 32, "Bearer \xe9"):
            assert ask("/info", wrong) == (401, "token")
        assert ask("/sanitize", None, bytes(1_000_000)) == (401, "token")  # a reset would hide the answer
        assert server.raw(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n") == b""  # no TLS, no answer
        assert "t" * 32 not in server.said
