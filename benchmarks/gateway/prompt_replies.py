"""Send real prompts through the gateway, and count surrogates in replies that are neither restored nor reported.

``real_model.py --prompts`` uses this module. The upstream is a model, or a script that quotes each prompt: in quotation
marks, as a list of its sentences, and in upper case, so that every surrogate of the request is in the reply.
"""

import hashlib
import http.client
import http.server
import json
import re
import sys
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from prompts.prompts import SETS, Prompt, is_measured, read_prompts

_TAG = re.compile(r"\[[a-z][a-z-]* [0-9]+\]")
_SENTENCE = re.compile(r"(?<=[.?!])\s+")
_DRAWN = Path(__file__).resolve().parents[1] / "prompts" / "drawn.json"
_WAIT_SECONDS = 600


def select_prompts(folder: Path, count: int) -> list[Prompt]:
    """Return prompts, half of them private, in the order of a hash; prompts that readers judge are excluded."""
    judged = set(json.loads(_DRAWN.read_text("utf-8"))["new"])
    found: dict[bool, list[Prompt]] = {True: [], False: []}
    for name in SETS:
        if (path := folder / f"{name}.jsonl").is_file():
            found[name == "pupa"] += [one for one in read_prompts(path) if is_measured(one) and one.id not in judged]
    for prompts in found.values():
        prompts.sort(key=lambda prompt: hashlib.sha256(f"end to end {prompt.id}".encode()).digest())
    return [*found[True][: count // 2], *found[False][: count - count // 2]]


def quote_prompt(text: str) -> str:
    """Return a reply that quotes a text as a whole, as a list of its sentences, and in upper case."""
    sentences = "\n".join(f"- {sentence}" for sentence in _SENTENCE.split(text) if sentence)
    tags = " ".join(_TAG.findall(text))
    return f"You wrote:\n\n{text}\n\nIts sentences:\n\n{sentences}\n\nIt mentions: {tags}\n"


class QuotingModel(http.server.BaseHTTPRequestHandler):
    """Request handler that answers with a reply that quotes the last message."""

    def log_message(self, format: str, *arguments: Any) -> None:
        """Log nothing."""

    def do_POST(self) -> None:
        """Answer a request with quotations of its last message."""
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        message = {"role": "assistant", "content": quote_prompt(asked["messages"][-1]["content"])}
        content = json.dumps({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


@dataclass
class PromptCounts:
    """Counts over all prompts.

    Attributes:
        counts: Number of prompts and replies; of tags in requests and in replies; and of tags that were restored, not
            restored, and reported.
        unreported: Ids of the prompts whose reply still has a tag of the request, without a report about it.
    """

    counts: Counter[str] = field(default_factory=Counter)
    unreported: list[str] = field(default_factory=list)

    def add(self, prompt: Prompt, sent: str, replied: str, received: str, reported: dict[str, int]) -> None:
        """Count one prompt.

        Args:
            prompt: The prompt.
            sent: The message that the model received.
            replied: The reply of the model.
            received: The reply that the client received.
            reported: The counts in the header of the reply.
        """
        tags = set(_TAG.findall(sent))
        in_reply = [tag for tag in _TAG.findall(replied) if tag in tags]
        own = Counter(_TAG.findall(prompt.text))
        left = sum((Counter(tag for tag in _TAG.findall(received) if tag in tags) - own).values())
        told = sum(reported.get(name, 0) for name in ("skipped", "ambiguous", "not_restored_words"))
        self.counts.update(
            prompts=1,
            tags=len(tags),
            in_replies=len(in_reply),
            restored=reported.get("restored", 0),
            left=left,
            reported=told,
            untouched=sent == prompt.text,
            whole=prompt.text in received,
            units=len(prompt.units),
            units_sent=sum(unit.lower() in sent.lower() for unit in prompt.units),
        )
        if left > told:
            self.unreported.append(prompt.id)

    def print_lines(self) -> Iterator[str]:
        """Yield the lines of the record."""
        found = self.counts
        yield f"{found['prompts']} prompts, {found['untouched']} of them sent unchanged"
        yield f"{found['tags']} surrogates in requests, {found['in_replies']} occurrences in replies"
        yield f"{found['restored']} occurrences restored, {found['left']} left, {found['reported']} of them reported"
        yield f"{len(self.unreported)} replies with a surrogate that is neither restored nor reported {self.unreported}"
        yield f"{found['whole']} replies with the whole original prompt"
        yield f"{found['units_sent']} of {found['units']} private units occur in the requests that the model received"


def parse_counts(header: str) -> dict[str, int]:
    """Parse the counts in a header such as ``restored=3 skipped=0``."""
    return {name: int(number) for name, number in re.findall(r"([a-z_]+)[=:] ?([0-9]+)", header)}


def send_prompts(gateway: str, prompts: Sequence[Prompt], exchanges: list[tuple[bytes, bytes]]) -> PromptCounts:
    """Send each prompt through the gateway, and compare what the model received and replied with the reply.

    Args:
        gateway: Host and port.
        prompts: The prompts.
        exchanges: Requests that the model received, each with its reply; this function empties the list.
    """
    sums = PromptCounts()
    for number, prompt in enumerate(prompts):
        body = {"model": "m", "temperature": 0, "max_tokens": 64}
        body |= {"messages": [{"role": "user", "content": prompt.text}]}
        connection = http.client.HTTPConnection(gateway, timeout=_WAIT_SECONDS)
        headers = {"Content-Type": "application/json", "X-Textveil-Conversation": f"prompt-{number}"}
        connection.request("POST", "/v1/chat/completions", json.dumps(body), headers)
        reply = connection.getresponse()
        content = reply.read()
        assert reply.status == 200, content
        request, answer = exchanges.pop()
        sent = json.loads(request)["messages"][-1]["content"]
        replied, received = (json.loads(text)["choices"][0]["message"]["content"] for text in (answer, content))
        sums.add(prompt, sent, replied, received, parse_counts(reply.headers.get("x-textveil-counts", "")))
    return sums


def start_server(handler: type[http.server.BaseHTTPRequestHandler]) -> str:
    """Start a server in a thread, and return its host and port."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"127.0.0.1:{server.server_address[1]}"
