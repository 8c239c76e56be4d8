"""The sample upstream of the guides answers the three APIs through a gateway, and prints only rewritten requests."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from gateways import ANTHROPIC, CHAT, RESPONSES, asked, gateway, stream, streamed_text, text_of
from scripts import ROOT
from serving import Server

TEXT = "I am Zqxwvina Novak, order 88213.471."


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """Address of a running sample upstream, and the file of its standard output."""
    received = tmp_path_factory.mktemp("sample") / "received.txt"
    command = [sys.executable, "-B", ROOT / "examples" / "sample_upstream.py", "0"]
    with (
        received.open("w") as file,
        subprocess.Popen(command, stdout=file, stderr=subprocess.PIPE, text=True) as sample,
    ):
        try:
            yield re.search(r"http://\S+(?=;)", sample.stderr.readline())[0], received
        finally:
            sample.terminate()


@pytest.fixture(scope="module")
def gate(printed: tuple[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with gateway(tmp_path_factory.mktemp("gate"), printed[0]) as server:
        yield server


@pytest.mark.parametrize("path", [CHAT, RESPONSES, ANTHROPIC])
def test_a_reply_repeats_the_message_of_the_user(gate: Server, printed: tuple[str, Path], path: str) -> None:
    status, reply, _ = gate.ask("POST", path, asked(path, [{"role": "user", "content": TEXT}]))
    assert (status, text_of(path, reply)) == (200, "You wrote: " + TEXT)
    received = printed[1].read_text("utf-8")
    assert "I am [person 1], order [number 1]." in received
    assert not re.search("Zqxw|Novak|88213", received)


def test_a_streamed_reply_repeats_the_message_of_the_user(gate: Server) -> None:
    written = stream(gate, CHAT, asked(CHAT, [{"role": "user", "content": [{"type": "text", "text": TEXT}]}]))
    assert streamed_text(CHAT, written) == "You wrote: " + TEXT


def test_models_are_listed_and_other_paths_are_not_found(gate: Server) -> None:
    assert gate.ask("GET", "/v1/models")[1]["data"][0]["id"] == "echo"
    assert gate.ask("POST", "/v1/embeddings", {"model": "echo", "input": TEXT})[0] == 404
