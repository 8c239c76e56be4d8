"""What is restored of replies that somebody wrote without knowing how: ``replies.jsonl``, under one stream of entropy.

Each has a message, what it mentions, and a reply with places for it: ``{p1}``, ``{p1.first}``, ``{p1.grouped}``. Places
get what came out for the mention, in that form.
"""

import json
import os
import random
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from textveil import Conversation, Sanitizer
from textveil.text.forms import _parsed, _written
from textveil.text.forms import _plural as plural
from textveil.text.placing import Index, Stream

FILE = Path(__file__).with_name("replies.jsonl")
PLACE = re.compile(r"\{(\w+)(?:\.(\w+))?\}")
DATES = {"iso": "iso", "long": "day first", "us": "month first"}


class Recording(Stream):
    """A stream that remembers what was put where."""

    def __init__(self, index: Index) -> None:
        super().__init__(index)
        self.put: list[tuple[int, int, str]] = []

    def _put(self, text: str, place: int, found: Any) -> str:
        written = super()._put(text, place, found)
        if written != text[place : found[1]]:
            self.put.append((place, found[1], written))
        return written


def formed(text: str, form: str | None) -> str | None:
    """A mention in a form; ``None`` where it has none."""
    if form in DATES:
        date = _parsed(text)
        return None if date is None else _written(date).get(DATES[form])
    if form == "grouped":
        return f"{int(text.replace(',', '')):,}" if text.replace(",", "").isdigit() else None
    ways = {
        "first": text.split()[0],
        "last": text.split()[-1],
        "upper": text.upper(),
        "wrapped": "\n".join(text.split()),
    }
    return text if form is None else ways[form]


def came_out(pieces: list[Any], start: int, end: int) -> str | None:
    """What came out for a part of a message; ``None`` where that is less than a slot."""
    out, at = "", 0
    for piece in pieces:
        first, last = max(start, at) - at, min(end, at + len(piece.original)) - at
        if first < last:
            named = 0 if piece.mention is None else len(piece.original) - len(piece.mention.named)
            if piece.mention is not None and (first > named or last < len(piece.original)):
                return None
            out += piece.output[first:last] if piece.mention is None else piece.output
        at += len(piece.original)
    return out


def filled(reply: str, outputs: dict[str, str | None], mentions: dict[str, str]) -> tuple[str, list[Any]]:
    """A reply with what came out, and for each place where it is and what has to stand there."""
    text, position, places = "", 0, []
    for match in PLACE.finditer(reply):
        if match[1] not in mentions:  # braces of the reply's own
            continue
        text += reply[position : match.start()]
        output, form = outputs.get(match[1]), match[2]
        written = None if output is None else formed(output, form)
        wanted = {formed(mentions[match[1]], form), mentions[match[1]] if form in {*DATES, "grouped"} else None}
        places.append((len(text), len(text) + len(written or ""), wanted, match[0]))
        text += written or ""
        position = match.end()
        ending = re.match(r"s?", reply[position:])[0]  # a plural
        if ending and written:
            start, end, wanted, place = places[-1]
            places[-1] = start, end + 1, {plural(want) for want in wanted if want}, place
    return text + reply[position:], places


def measured(sanitizer: Sanitizer, lines: list[Any]) -> tuple[Counter[str], list[Any]]:
    """How many mentions and other words there are, and how many of them were placed and changed; what was not right."""
    counts, wrong = Counter(), []
    for number, line in enumerate(lines, 1):
        conversation = Conversation(sanitizer)
        kept: list[Any] = []
        draw = conversation._running.rewrite
        conversation._running.rewrite = lambda read, draw=draw, kept=kept: kept.append(draw(read)) or kept[-1]
        conversation.outgoing_text(line["message"])
        outputs = {}
        for name, mention in line["mentions"].items():
            at = re.search(rf"(?<!\w){re.escape(mention)}(?!\w)", line["message"])
            outputs[name] = None if at is None else came_out(kept[0], *at.span())
        text, places = filled(line["reply"], outputs, line["mentions"])
        stream = Recording(conversation._restorer.index)
        stream._decided(text, True)
        inside = set()
        for start, end, wanted, place in places:
            if start == end:
                counts["no form"] += 1
                wrong.append((number, place, "no form"))
                continue
            counts["mentions"] += 1
            found, at = "", start
            for first, last, written in stream.put:
                over = text[end:last]  # as in 4,718.00, where the reply has the end
                if start <= first < end < last and written.endswith(over):
                    inside.add((first, last))
                    last, written = end, written.removesuffix(over)
                if start <= first and last <= end:
                    found += text[at:first] + written
                    at = last
                    inside.add((first, last))
            found = " ".join((found + text[at:end]).split())
            if found in {" ".join(want.split()) for want in wanted if want}:
                counts["placed"] += 1
            else:
                wrong.append((number, place, text[start:end], found, wanted))
        counts["words"] += len(re.findall(r"\w+", PLACE.sub(" ", line["reply"])))
        for first, last, written in stream.put:
            if (first, last) not in inside:
                counts["changed"] += len(text[first:last].split())
                wrong.append((number, "changed", text[max(0, first - 20) : last + 10], written))
    return counts, wrong


@pytest.mark.skipif(not FILE.exists(), reason="no replies here")
def test_replies_are_restored(monkeypatch: pytest.MonkeyPatch) -> None:
    sanitizer, lines = Sanitizer.load(), [json.loads(line) for line in FILE.read_text().splitlines()]
    monkeypatch.setattr(os, "urandom", random.Random(1).randbytes)
    counts, wrong = measured(sanitizer, lines)
    monkeypatch.undo()
    for entry in wrong:
        print(*entry, sep=" | ")
    print(counts)
    assert counts["placed"] >= 0.98 * counts["mentions"] > 0
    assert counts["changed"] <= 0.005 * counts["words"]
