"""Version 2 of docs/encoder-format.md, from the text to the index, in plain Python."""

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

G, WORD = 2**20, 2**64
TYPES = {"I8": "b", "F32": "f", "I64": "q"}


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


class IndexReader:
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
