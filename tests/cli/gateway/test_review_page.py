"""The page of ``--review-page``: what was sent, received and restored, for a browser on this device alone."""

import http.client
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from forked import run_forked
from gateways import ANTHROPIC, CHAT, KEY, RESPONSES, asked, gateway, stream
from serving import Server
from textveil import Sanitizer
from textveil.text.marked_html import MarkedPiece
from textveil_cli.changes import TextExplainer
from textveil_cli.gateway import ExchangeReview, ReviewPage
from textveil_cli.gateway.exchange_review import MAX_EXCHANGES
from textveil_cli.gateway.sse import ServerSentEvent
from upstreams import Upstream

#: In no list and no pool of the built-in bundle.
NAME = "Zqxwvina Novak"
TITLE = "What the gateway sent and received"
SCRIPT = "<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"
CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium")


@pytest.fixture(scope="module")
def reviewed(up: Upstream, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Start a gateway with the page, and check that its log and its folder hold no original."""
    with gateway(tmp_path_factory.mktemp("reviewed"), up.url, "--review-page") as running:
        yield running
        said = running.said
        assert running.stop() == 0
        assert not [word in said for word in ("Novak", "Zqxwvina", "owned", "Traceback") if word in said]
        assert list((running.log.parent / "place").iterdir()) == []


def find_path(server: Server) -> str:
    """Return the path of the page, which the gateway prints at its start."""
    found = re.search(r"a private page for your browser: http://127\.0\.0\.1:(\d+)(/review/\S+)\n", server.said)
    assert found is not None
    assert int(found[1]) == server.port
    return found[2]


def read_page(server: Server, path: str, method: str = "GET", **headers: str) -> tuple[int, str, dict[str, str]]:
    client = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
    try:
        client.request(method, path, None, {name.replace("_", "-"): value for name, value in headers.items()})
        answer = client.getresponse()
        return answer.status, answer.read().decode(), {name.lower(): value for name, value in answer.getheaders()}
    finally:
        client.close()


@pytest.mark.parametrize("path", [CHAT, RESPONSES, ANTHROPIC])
@pytest.mark.parametrize("is_stream", [False, True], ids=["whole", "stream"])
def test_the_page_has_what_was_sent_received_and_restored(reviewed: Server, path: str, is_stream: bool) -> None:
    body = asked(path, f"Please call {NAME} now.")
    if is_stream:
        stream(reviewed, path, body)
    else:
        reviewed.ask("POST", path, body, KEY)
    status, page, headers = read_page(reviewed, find_path(reviewed))
    while "the reply arrives" in page:  # the client has the whole reply before the gateway notes its end
        status, page, headers = read_page(reviewed, find_path(reviewed))
    assert status == 200
    assert page.startswith("<!-- contains your original text: do not send -->\n")
    card = page.split('<section class="card">')[1]
    assert f"{path}: status 200" in card
    texts = [re.sub(r"<small>.*?</small>|<[^>]+>", "", part) for part in re.findall(r"tv-text[^>]*>(.*?)</div>", card)]
    tagged, original = "Please call [person 1] now.", f"Please call {NAME} now."
    assert texts == [original, tagged, tagged, original]
    assert f"<del>{NAME}</del>" in card
    assert f'<mark data-kind="replaced">{NAME}</mark>' in card
    assert headers["cache-control"] == "no-store"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["content-security-policy"].startswith("default-src 'none'; style-src 'sha256-")
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert "refresh" not in headers


def test_earlier_texts_of_a_conversation_are_folded(reviewed: Server) -> None:
    messages = [
        {"role": "user", "content": f"I am {NAME}."},
        {"role": "assistant", "content": "Hello."},
        {"role": "user", "content": "Is the order here?"},
    ]
    reviewed.ask("POST", CHAT, asked(CHAT, messages), KEY)
    card = read_page(reviewed, find_path(reviewed))[1].split('<section class="card">')[1]
    folded, shown = card.split("</details>")
    assert "2 texts of earlier requests" in folded
    assert "Zqxwvina" in folded
    assert "Zqxwvina" not in shown
    assert "Is the order here?" in shown


@pytest.mark.slow
def test_a_reply_in_progress_is_on_the_page(up: Upstream, tmp_path: Path) -> None:
    """The upstream ``silent`` sends one word, and then waits until the client leaves."""
    with gateway(tmp_path, up.url, "--review-page") as server, server.connect() as client:
        content = b'{"model": "silent", "stream": true, "messages": [{"role": "user", "content": "Call Zqxwvina."}]}'
        head = f"POST {CHAT} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        client.sendall(f"{head}Content-Length: {len(content)}\r\n\r\n".encode() + content)
        received = b""
        while b'"one"' not in received:
            part = client.recv(1 << 16)
            assert part
            received += part
        _, page, headers = read_page(server, find_path(server))
        assert "the reply arrives" in page
        assert ">one<" in page
        assert headers["refresh"] == "2"


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"path": "/review"}, 401),
        ({"path": "/review/"}, 401),
        ({"path": "/review/wrong"}, 401),
        ({"suffix": "x"}, 401),
        ({"suffix": "/x"}, 401),
        ({"Host": "evil.example"}, 421),
        ({"Host": "evil.example:8765"}, 421),
        ({"Origin": "https://evil.example"}, 403),
        ({"Sec_Fetch_Site": "cross-site"}, 403),
        ({"Sec_Fetch_Site": "same-site"}, 403),
        ({"method": "POST"}, 405),
        ({"method": "HEAD"}, 405),
        ({"Host": "localhost"}, 200),
        ({"Sec_Fetch_Site": "none"}, 200),
    ],
    ids=str,
)
def test_any_other_request_is_refused(reviewed: Server, change: dict[str, Any], status: int) -> None:
    reviewed.ask("POST", CHAT, asked(CHAT, f"I am {NAME}."), KEY)
    path = change.pop("path", find_path(reviewed)) + change.pop("suffix", "")
    got, page, _ = read_page(reviewed, path, change.pop("method", "GET"), **change)
    assert got == status
    assert ("Zqxwvina" in page) == (status == 200)


@pytest.mark.slow
def test_the_page_has_its_own_token_beside_that_of_the_gateway(up: Upstream, tmp_path: Path) -> None:
    token = tmp_path / "token"
    with gateway(tmp_path, up.url, "--review-page", "--token-file", token, "--name", "box.example") as server:
        path = find_path(server)
        assert token.read_text("ascii").strip() not in path
        assert read_page(server, path)[0] == 200
        assert read_page(server, path, Host="box.example")[0] == 421  # a name of the gateway, not of this device
        assert server.ask("POST", CHAT, asked(CHAT, "hello"), KEY)[0] == 401


def test_without_the_option_there_is_no_page(gate: Server) -> None:
    assert "browser" not in gate.said
    for path in ("/review", "/review/x"):
        assert read_page(gate, path)[0] == 404


def test_other_devices_cannot_get_the_page(tmp_path: Path) -> None:
    arguments = ["gateway", "--upstream", "http://localhost:1", "--review-page", "--host", "0.0.0.0"]
    refused = run_forked(arguments, cwd=tmp_path)
    assert refused.stderr.startswith(b"textveil: option: --review-page shows original text: leave out --host")


def test_the_number_and_the_size_of_exchanges_are_bounded() -> None:
    review = ExchangeReview()
    for number in range(3 * MAX_EXCHANGES):
        messages = [{"role": "user", "content": "x" * 30_000}] * 300
        review.add_request(f"r{number}", CHAT, {"messages": messages}, {"messages": messages})
        steps = review.observe_reply(f"r{number}", EchoSteps())
        for _ in range(20):
            list(steps.restore_event(ServerSentEvent("", {"choices": [{"delta": {"content": "y" * 30_000}}]})))
    exchanges = review.list_exchanges()
    assert [one.request_id for one in exchanges] == [f"r{number}" for number in range(59, 39, -1)]
    for one in exchanges:
        assert sum(len(text.before) for text in one.sent) == 100_000
        assert one.left_out == 300 * 30_000 - 100_000
        assert [len(text.before) for text in one.received.values()] == [20_000]
        assert one.left_out_of_reply == 20 * 30_000 - 20_000


def test_a_tag_of_the_model_that_is_sent_as_it_is_has_no_mark() -> None:
    """A second request repeats a reply in which tags in code and in links stayed."""
    review = ExchangeReview()
    reply = f"Dear {NAME}, see [Link](https://[organization 1]/x) and `[organization 1]`."
    changed = reply.replace(NAME, "[person 1]")
    for number, (original, sent) in enumerate([(reply, changed), (changed, changed)]):
        bodies = [{"messages": [{"role": "assistant", "content": text}]} for text in (original, sent)]
        review.add_request(f"r{number}", CHAT, *bodies)
    page = ReviewPage(review, TextExplainer(Sanitizer.load(), {"style": "tag"}).align).render_page()[0].decode()
    unchanged, with_name = page.split('<section class="card">')[1:]
    assert "<del>" not in unchanged
    assert "<mark" not in unchanged
    assert re.findall("<del>.*?</del>", with_name) == [f"<del>{NAME}</del>"]
    assert len(re.findall("<mark", with_name)) == 1


class EchoSteps:
    """A restorer that changes nothing."""

    def restore_whole(self, reply: dict[str, Any]) -> dict[str, Any]:
        return reply

    def restore_event(self, event: ServerSentEvent) -> list[ServerSentEvent]:
        return [event]

    def end_stream(self) -> list[ServerSentEvent]:
        return []


@pytest.mark.slow
def test_a_reply_that_is_nested_too_deeply_is_passed_on() -> None:
    review = ExchangeReview()
    review.add_request("r", CHAT, {"messages": []}, {"messages": []})
    deep: Any = {"text": "x"}
    for _ in range(5_000):
        deep = {"content": [deep]}
    assert review.observe_reply("r", EchoSteps()).restore_whole(deep) is deep


@pytest.mark.slow
def test_a_token_is_random_for_each_run() -> None:
    pages = [ReviewPage(ExchangeReview(), lambda text, output: [MarkedPiece(output)]) for _ in range(2)]
    assert pages[0].path != pages[1].path
    assert all(len(page.path) >= len("/review/") + 43 for page in pages)


def read_title(address: str, profile: Path) -> str:
    """Return the title that a page has in Chromium after its scripts ran."""
    assert CHROMIUM is not None
    arguments = ["--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={profile}", "--dump-dom"]
    ran = subprocess.run([CHROMIUM, *arguments, address], capture_output=True, text=True, check=True, timeout=300)
    return ran.stdout.split("<title>")[1].split("</title>")[0]


@pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium: apt-get install chromium")
@pytest.mark.slow
def test_a_script_in_a_prompt_and_in_a_reply_does_not_run(reviewed: Server, tmp_path: Path) -> None:
    """The upstream repeats the prompt, so both have the script."""
    reviewed.ask("POST", CHAT, asked(CHAT, f"{SCRIPT} {NAME}"), KEY)
    stream(reviewed, CHAT, asked(CHAT, f"{SCRIPT} {NAME}"))
    path = find_path(reviewed)
    address = f"http://127.0.0.1:{reviewed.port}{path}"
    assert read_title(address, tmp_path / "profile") == TITLE
    page = read_page(reviewed, path)[1]
    card = page.split('<section class="card">')[1]
    assert card.count("&lt;script&gt;document.title=") >= 3
    assert "<script" not in page
    saved = tmp_path / "page.html"
    unescaped = page.replace("</h1>", f"</h1>{SCRIPT}", 1)
    saved.write_text(unescaped, "utf-8")  # the policy alone stops it
    assert read_title(saved.as_uri(), tmp_path / "profile") == TITLE
    saved.write_text(unescaped.replace("Content-Security-Policy", "x"), "utf-8")  # the test can fail
    assert read_title(saved.as_uri(), tmp_path / "profile") == "owned"
