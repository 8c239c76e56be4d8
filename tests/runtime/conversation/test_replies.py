"""Replies by authors who did not know the restorer are restored to the recorded share, under one stream of entropy."""

import json
import os
import random

import pytest
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
