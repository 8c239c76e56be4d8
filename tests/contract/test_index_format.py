"""A reader written from docs/encoder-format.md alone, and the runtime, give the same indices from the same bytes."""

import math
from decimal import Decimal, localcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from reference_reader.index import WORD, G, IndexReader
from small_index import write_index
from textveil.vector import IndexEncoder, IndexServer

TEXTS = (
    "",
    "The market, the goal.",
    "doctor doctor DOCTOR",
    "Don't! 17 goals — the doctor’s café №5 zzz_q",
    "ＭＡＲＫＥＴ ﬁn \ud800 🦄 can't",
    "market goal " * 40,
    "of the and , .",
)


@pytest.mark.parametrize(("channel", "epsilon"), [("counts", "1"), ("counts", "4"), ("accuracy", "1")])
def test_the_same_index_from_the_same_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, channel: str, epsilon: str
) -> None:
    folder = write_index(tmp_path / "bundle")
    encoder, reader = IndexEncoder.load(folder), IndexReader(folder)
    generator = np.random.default_rng(5)
    script: list[int] = []

    def scripted(count: int) -> Any:
        words = generator.integers(0, WORD, count, dtype=np.uint64, endpoint=False)
        words[generator.random(count) < 0.05] = WORD - 1  # rejected for every total that is no power of two
        script.extend(words.tolist())
        return words

    monkeypatch.setattr("textveil.mechanisms.entropy.random_uint64", scripted)
    seen = set()
    for text in TEXTS * 8:
        script.clear()
        release = encoder.encode(text, epsilon=epsilon, channel=channel)
        # The two integers are asked for one after the other: what is rejected of the first comes before the second.
        wanted = reader.index(reader.code(text), channel, epsilon, iter(script))
        assert release.line == f"{wanted}\t{reader.identity[:12]}\t{epsilon}\t{channel}"
        assert len(release.line.encode()) <= 60
        seen.add(wanted)
    assert seen == ({0, 1, 2} if channel == "counts" else {0, 1})


def test_the_same_code_for_every_text(tmp_path: Path) -> None:
    folder = write_index(tmp_path / "bundle")
    encoder, reader = IndexEncoder.load(folder), IndexReader(folder)
    assert [encoder.secret_code(text) for text in TEXTS] == [reader.code(text) for text in TEXTS]
    assert {reader.code(text) for text in TEXTS} == {0, 1, 2}


def test_counts_by_the_document(tmp_path: Path) -> None:
    """``c = P' n`` of whole numbers is solved again by Cramer's rule."""
    folder = write_index(tmp_path / "bundle")
    server, reader = IndexServer(folder), IndexReader(folder)
    lines = [f"{y}\t{reader.identity[:12]}\t4\tcounts" for y, count in enumerate((5, 9, 2)) for _ in range(count)]
    found = server.counts(server.receive(line, 1) for line in lines)
    base, budget = reader.channels["counts.4.base"][0], sum(reader.channels["counts.4.dealt"][:3])
    with localcontext(prec=80):
        factor = math.floor((Decimal(4).exp() - 1) * G)
    total = 3 * G * base + factor * budget
    off, on = G * base / total, (G * base + factor * budget) / total
    for count, (label, arrived) in zip(found, (("business", 5), ("sport", 9), ("health", 2)), strict=True):
        assert count.label == label
        assert count.count == pytest.approx((arrived - 16 * off) / (on - off))
        inverse_on = (1 - off) / (on - off)
        inverse_off = -off / (on - off)
        variance = arrived * inverse_on**2 + (16 - arrived) * inverse_off**2 - count.count
        assert count.standard_error == pytest.approx(math.sqrt(max(0, variance)))
