"""Replies by authors who did not know the restorer are restored to the recorded share, under one stream of entropy."""

import json
import os
import random

import pytest
from tagged_replies import make_tagged_reply
from textveil import Sanitizer
from written_replies import FILE, measured


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
    assert counts["in running text"] >= 0.9 * counts["in every place"] > 0


@pytest.mark.slow
@pytest.mark.skipif(not FILE.exists(), reason="no replies here")
def test_replies_with_tags_are_restored_whole_and_streamed() -> None:
    """Tags are the default of a conversation; what they come back as does not depend on chance."""
    sanitizer, lines = Sanitizer.load(), [json.loads(line) for line in FILE.read_text().splitlines()]
    texts, equal, mentions, in_running_text = 0, 0, 0, 0
    for number, line in enumerate(lines):
        tagged = make_tagged_reply(sanitizer, line, restore_places="all")
        if not tagged.mentions:
            continue
        texts, mentions = texts + 1, mentions + tagged.mentions
        found = tagged.conversation.incoming(tagged.reply, record=False).reply
        equal += found == tagged.wanted
        if found != tagged.wanted:
            print(number, tagged.reply, found, tagged.wanted, sep=" | ")
        by_default = make_tagged_reply(sanitizer, line)
        assert by_default.reply == tagged.reply
        whole = by_default.conversation.incoming(tagged.reply, record=False)
        in_running_text += len(whole.restored)
        for size in (1, 2, 5):
            stream = by_default.conversation.stream(record=False)
            pieces = [stream.feed(tagged.reply[at : at + size]) for at in range(0, len(tagged.reply), size)]
            assert "".join(pieces) + stream.close() == whole.reply
    print(texts, equal, mentions, in_running_text)
    assert texts > 200
    assert equal >= 0.95 * texts
    assert in_running_text >= 0.9 * mentions
