"""Measure with a real model which names reach it through the gateway, and whether replies are restored.

    python -m llama_cpp.server --model gemma-3-270m-q4_k_m.gguf --port 8899
    python benchmarks/gateway/real_model.py --upstream http://127.0.0.1:8899
    python benchmarks/gateway/real_model.py --prompts DATA/prompts [--upstream http://127.0.0.1:8899]

Each prompt consists of two examples, which a small base model needs, and of a sentence with two persons. The script
sends it directly to the model and through the gateway, both with and without streaming. The model may answer the same
request differently, and in the streamed request it has the prompt already in its cache. A recorder between gateway and
model searches requests for the family names, which are on no list.

With --prompts 100 real prompts are sent instead, half of them private ones, with the gateway's defaults. Without
--upstream, a simulated model answers, which quotes each prompt (prompt_replies.py).
"""

import argparse
import http.client
import http.server
import json
import random
import re
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from gateway.prompt_replies import QuotingModel, select_prompts, send_prompts, start_server

EXAMPLES = (
    ("Maria Lopez paid 300 dollars to Tom Becker.", "Who paid? Maria Lopez. Who was paid? Tom Becker."),
    ("Tom Jones wrote to Ann Miller about the car.", "Who wrote? Tom Jones. Who was written to? Ann Miller."),
)
WAYS = (
    "{} paid 4711 euros to {}.",
    "{} called {} about the order.",
    "{} wrote to {} on 12 March.",
    "{} met {} in Lisbon.",
)
GIVEN = "Anna Peter Laura Simon Julia Robert Helen Martin".split()


def sentences(count: int) -> list[tuple[str, list[str]]]:
    """Return sentences with two persons, and the family names in each sentence."""
    chance, found = random.Random(0), []
    for number in range(count):
        names = [
            "".join(chance.choice(part) for part in ("BDKV", "aeo", "lrz", "vmk", "aeo", "xzq", "ek")) for _ in "ab"
        ]
        people = [f"{chance.choice(GIVEN)} {name}" for name in names]
        found.append((WAYS[number % len(WAYS)].format(*people), names))
    return found


class Recorder(http.server.BaseHTTPRequestHandler):
    """Request handler that forwards requests to the model and stores them."""

    model: str
    kept: list[str]
    exchanges: list[tuple[bytes, bytes]]

    def log_message(self, format: str, *arguments: Any) -> None:
        """Log nothing."""

    def do_POST(self) -> None:
        """Store the request, forward it, and stream the reply back."""
        content = self.rfile.read(int(self.headers["content-length"]))
        self.kept.append(content.decode())
        asking = http.client.HTTPConnection(self.model, timeout=300)
        asking.request("POST", self.path, content, {"Content-Type": "application/json"})
        reply = asking.getresponse()
        self.send_response(reply.status)
        self.send_header("Content-Type", reply.headers["content-type"])
        self.end_headers()  # HTTP/1.0: the end of the connection ends the reply
        answer = b""
        while part := reply.read1(1 << 16):
            answer += part
            self.wfile.write(part)
        self.exchanges.append((content, answer))


def ask(address: str, sentence: str, name: str, stream: bool = False) -> tuple[str, float, float]:
    """Send a sentence; return the reply, and the seconds to its first text and to its end."""
    turns = [("user", "assistant")[place % 2] for place in range(5)]
    said = [text for example in EXAMPLES for text in example] + [sentence]
    messages = [{"role": role, "content": text} for role, text in zip(turns, said, strict=True)]
    body = {"model": "m", "temperature": 0, "max_tokens": 24, "stream": stream, "messages": messages}
    asking, start = http.client.HTTPConnection(address, timeout=300), time.perf_counter()
    headers = {"Content-Type": "application/json", "X-Textveil-Conversation": name}
    asking.request("POST", "/v1/chat/completions", json.dumps(body), headers)
    reply, text, first = asking.getresponse(), "", 0.0
    assert reply.status == 200, reply.status
    if not stream:
        text = json.load(reply)["choices"][0]["message"]["content"]
    for line in reply if stream else ():
        if line.startswith(b"data: {"):
            text += json.loads(line[6:])["choices"][0]["delta"].get("content") or ""
            first = first or (time.perf_counter() - start if text else 0.0)
    return text, first, time.perf_counter() - start


@contextmanager
def open_gateway(address: str, *options: str) -> Iterator[str]:
    """Run a gateway to an upstream, and yield its host and port."""
    command = [sys.executable, "-m", "textveil_cli", "gateway", *options, "--port", "0", "--upstream"]
    with subprocess.Popen([*command, f"http://{address}"], stderr=subprocess.PIPE, text=True) as gateway:
        assert gateway.stderr is not None
        served = (found for line in gateway.stderr if (found := re.search(r"serving on http://([\d.:]+);", line)))
        found = next(served, None)  # the line before describes what the gateway keeps
        assert found is not None
        threading.Thread(target=gateway.stderr.read, daemon=True).start()
        try:
            yield found[1]
        finally:
            gateway.terminate()


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--upstream", help="address of the model; without it, and with --prompts, a script")
    parser.add_argument("--sentences", type=int, default=100)
    parser.add_argument("--prompts", type=Path, help="folder of real prompts, which are sent instead of sentences")
    parser.add_argument("--count", type=int, default=100, help="number of prompts")
    given = parser.parse_args()
    if given.upstream is None and given.prompts is None:
        parser.error("pass --upstream or --prompts")
    model = start_server(QuotingModel) if given.upstream is None else urlsplit(given.upstream).netloc
    recorder = type("R", (Recorder,), {"model": model, "kept": [], "exchanges": []})
    address = start_server(recorder)
    if given.prompts is not None:
        with open_gateway(address) as gateway:
            prompts = select_prompts(given.prompts, given.count)
            print("\n".join(send_prompts(gateway, prompts, recorder.exchanges).print_lines()))
        return
    with open_gateway(address, "--style", "surrogate", "--facts", "none") as gateway:
        compare_sentences(model, gateway, given.sentences, recorder.kept)


def compare_sentences(model: str, gateway: str, count: int, kept: list[str]) -> None:
    """Send sentences directly and through the gateway, and print the hidden names in the replies.

    Args:
        model: Host and port of the model.
        gateway: Host and port of the gateway.
        count: Number of sentences.
        kept: Requests that the model received through the gateway.
    """
    rows = {"direct": [], "direct stream": [], "gateway": [], "gateway stream": []}
    same, leaks, names = dict.fromkeys(("direct", "gateway"), 0), 0, 0
    for number, (sentence, family) in enumerate(sentences(count)):
        replies = {
            "direct": ask(model, sentence, ""),
            "direct stream": ask(model, sentence, "", True),
            "gateway": ask(gateway, sentence, str(number)),
            "gateway stream": ask(gateway, sentence, str(number), True),
        }
        for way, (text, first, last) in replies.items():
            rows[way].append((sum(name in text for name in family), first, last))
        for way in same:
            same[way] += replies[way][0] == replies[f"{way} stream"][0]
        leaks += sum(name in content for name in family for content in kept)
        names += len(family)
        kept.clear()
    print(f"{names} family names; {leaks} reached the model through the gateway")
    for way, measured in rows.items():
        right, first, last = (list(column) for column in zip(*measured, strict=True))
        times = f"first text {statistics.median(first):.2f} s, " if way.endswith("stream") else ""
        print(f"{way:15} {sum(right):4} of {names} in the reply, {times}median {statistics.median(last):.2f} s")
    for way, of_way in same.items():
        print(f"{way:15} streamed and whole replies have the same text: {of_way} of {count}")


if __name__ == "__main__":
    main()
