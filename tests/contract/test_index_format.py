"""A second implementation of version 2 of docs/encoder-format.md, from the text to the index, in plain Python."""

import hashlib
import itertools
import json
import math
import re
import struct
import unicodedata
from collections.abc import Iterator
from decimal import Decimal, localcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from small_index import write_index
from textveil.vector import IndexEncoder, IndexServer

G, WORD = 2**20, 2**64
TYPES = {"I8": "b", "F32": "f", "I64": "q"}
TEXTS = (
    "",
    "The market, the goal.",
    "doctor doctor DOCTOR",
    "Don't! 17 goals — the doctor’s café №5 zzz_q",
    "ＭＡＲＫＥＴ ﬁn \ud800 🦄 can't",
    "market goal " * 40,
    "of the and , .",
)


def tensors(content: bytes) -> dict[str, list[Any]]:
    """Flat lists of numbers by name."""
    size = struct.unpack("<Q", content[:8])[0]
    header = json.loads(content[8 : 8 + size])
    found = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        begin, end = (8 + size + offset for offset in entry["data_offsets"])
        found[name] = [number for (number,) in struct.iter_unpack("<" + TYPES[entry["dtype"]], content[begin:end])]
    return found


class Reader:
    """What the document says, step by step."""

    def __init__(self, folder: Path) -> None:
        content = (folder / "manifest.json").read_bytes()
        self.identity = hashlib.sha256(content).hexdigest()
        self.release = json.loads(content)["release"]
        self.words = (folder / "words.txt").read_text("utf-8").split("\n")[:-1]
        self.rows, self.codes, self.channels = (
            tensors((folder / f"{name}.safetensors").read_bytes()) for name in ("rows", "codes", "channels")
        )

    def ids(self, text: str) -> list[int]:
        text = text[: self.release["extractor"]["max_characters"]]
        if not text.isascii():
            text = unicodedata.normalize("NFKC", text).replace("’", "'")
        found = []
        for token in re.findall(r"[^\W\d_]+(?:'[^\W\d_]+)*|\d+|[^\w\s]|_", text.lower()):
            parts = [token]
            clitic = re.fullmatch(r"(.+?)(n't|'s|'m|'d|'re|'ve|'ll)", token)
            if token not in self.words and clitic and not token[0].isdecimal():
                parts = [clitic[1], clitic[2]]
            for part in parts:
                if part in self.words:
                    found.append(self.words.index(part))
                else:
                    found.append(len(self.words) + (0 if part[0].isdecimal() else 1))
        return found

    def code(self, text: str) -> int:
        dimension, buckets = (self.release["extractor"][key] for key in ("dimension", "pairs"))
        ids = self.ids(text)
        bits = buckets.bit_length() - 1
        pairs = [(2654435761 * i + 2246822519 * j) % 2**32 >> (32 - bits) for i, j in itertools.pairwise(ids)]
        vector = [0.0] * dimension
        for name, found, scale in (("words", ids, 0), ("pairs", pairs, 1)):
            for place in range(dimension):
                total = sum(self.rows[name][one * dimension + place] for one in found)
                vector[place] += total / max(1, len(found)) * self.rows["scales"][scale]
        weight, bias = self.codes["weight"], self.codes["bias"]
        scores = [
            sum(weight[code * dimension + place] * vector[place] for place in range(dimension)) + added
            for code, added in enumerate(bias)
        ]
        return scores.index(max(scores))

    def index(self, code: int, channel: str, epsilon: str, entropy: Iterator[int]) -> int:
        base = self.channels[f"{channel}.{epsilon}.base"]
        dealt = self.channels[f"{channel}.{epsilon}.dealt"][code * len(base) : (code + 1) * len(base)]
        with localcontext(prec=80):
            factor = math.floor((Decimal(epsilon).exp() - 1) * G)
        total, budget = sum(base), sum(dealt)
        u = below(G * total + factor * budget, entropy)
        below(max(1, total - budget), entropy)  # drawn always, and never used
        weights, number = (base, u // G) if u < G * total else (dealt, (u - G * total) // factor)
        for y, weight in enumerate(weights):
            if number < weight:
                return y
            number -= weight
        raise AssertionError("the rows do not have the total that the document says")


def below(total: int, entropy: Iterator[int]) -> int:
    """Uniform below a total, by rejection."""
    while (word := next(entropy)) >= WORD - WORD % total:
        pass
    return word % total


@pytest.mark.parametrize(("channel", "epsilon"), [("counts", "1"), ("counts", "4"), ("accuracy", "1")])
def test_the_same_index_from_the_same_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, channel: str, epsilon: str
) -> None:
    folder = write_index(tmp_path / "bundle")
    encoder, reader = IndexEncoder.load(folder), Reader(folder)
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
    encoder, reader = IndexEncoder.load(folder), Reader(folder)
    assert [encoder.secret_code(text) for text in TEXTS] == [reader.code(text) for text in TEXTS]
    assert {reader.code(text) for text in TEXTS} == {0, 1, 2}


def test_counts_by_the_document(tmp_path: Path) -> None:
    """``c = P' n`` of whole numbers is solved again by Cramer's rule."""
    folder = write_index(tmp_path / "bundle")
    server, reader = IndexServer(folder), Reader(folder)
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
