"""The gateway reads requests, and restores replies, in the language of a pack."""

import json
from pathlib import Path

import pytest
from gateways import CHAT, KEY, asked, gateway, stream, streamed_text, text_of
from invented_language import WORDS, write_invented
from upstreams import Upstream

TEXT = f"{WORDS[60]} l'{WORDS[61]} Vrobelq"


@pytest.mark.slow
@pytest.mark.parametrize("streamed", [False, True])
def test_the_gateway_reads_and_restores_in_the_language(
    up: Upstream, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, streamed: bool
) -> None:
    write_invented(tmp_path / "site" / "textveil_qaa" / "bundle")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "site"))
    with gateway(tmp_path, up.url, "--language", "qaa", "--style", "surrogate") as server:
        monkeypatch.setattr(up, "reply", lambda text: f"{text} {text.split()[-1]}m {WORDS[0]}")
        asked_for = asked(CHAT, TEXT, "hostile")
        if streamed:
            reply = streamed_text(CHAT, stream(server, CHAT, asked_for))
        else:
            _, body = server.ask("POST", CHAT, asked_for, KEY)[:2]
            reply = text_of(CHAT, body)
        sent = json.dumps(up.last)
    assert "Vrobelq" not in sent
    assert f"{WORDS[60]} l'{WORDS[61]} " in sent
    assert reply == f"{TEXT} Vrobelq' {WORDS[0]}"
