"""Section "An index" of docs/encoder-format.md, from the text to the label, in plain Python."""

import hashlib
import itertools
import json
import math
import re
import struct
import unicodedata
from collections.abc import Iterator
from decimal import Decimal, localcontext
from fractions import Fraction
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
        self.release, self.labels = json.loads(content)["release"], json.loads(content)["labels"]
        self.held_out = json.loads((folder / "held-out.json").read_text("utf-8"))
        said = folder / "sentences.txt"
        self.sentences = said.read_text("utf-8").split("\n")[:-1] if said.exists() else []
        self.words = (folder / "words.txt").read_text("utf-8").split("\n")[:-1]
        self.rows, self.codes, self.channels = (
            tensors((folder / f"{name}.safetensors").read_bytes())
            for name in ("rows", "label-classifier", "randomizers")
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
        dealt = self.channels[f"{channel}.{epsilon}.budget"][code * len(base) : (code + 1) * len(base)]
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

    def sentence(self, index: int, entropy: Iterator[int]) -> str:
        """Right after ``index``, of the words that follow."""
        each = len(self.sentences) // len(self.labels)
        return self.sentences[index * each + below(each, entropy)]

    def channel(self, name: str, epsilon: str) -> list[list[Fraction]]:
        """``P``: a row for each code."""
        base, dealt = (self.channels[f"{name}.{epsilon}.{part}"] for part in ("base", "budget"))
        with localcontext(prec=80):
            factor = math.floor((Decimal(epsilon).exp() - 1) * G)
        rows = [dealt[start : start + len(base)] for start in range(0, len(dealt), len(base))]
        total = G * sum(base) + factor * sum(rows[0])
        return [[Fraction(G * b + factor * a, total) for b, a in zip(base, row, strict=True)] for row in rows]

    def of_labels(self, arrived: dict[tuple[str, str], list[int]]) -> list[tuple[str, float, float]]:
        """Label, count and standard error, of how often each index arrived by channel and epsilon."""
        table, labels = self.held_out["decisions"], self.held_out["labels"]
        rows = [[Fraction(count, sum(row)) for count in row] for row in table]
        codes, every = range(len(table[0])), range(len(labels))
        counts, variances = [Fraction(0)] * len(labels), [Fraction(0)] * len(labels)
        reach = [[[Fraction(0)] * len(labels) for _ in codes] for _ in every]
        for (name, epsilon), times in arrived.items():
            channel = self.channel(name, epsilon)
            released = product(rows, channel)
            means = [sum(column, Fraction(0)) / len(column) for column in zip(*released, strict=True)]
            scaled = [[cell / mean for cell, mean in zip(row, means, strict=True)] for row in released]
            weights = transposed(product(inverse(product(scaled, transposed(released))), scaled))
            found = product([[Fraction(time) for time in times]], weights)[0]
            back = product(channel, weights)
            for i in every:
                counts[i] += found[i]
                drawn = sum(time * row[i] ** 2 for time, row in zip(times, weights, strict=True)) - found[i]
                variances[i] += max(Fraction(0), drawn)
                for label in every:
                    for code in codes:
                        reach[label][code][i] += max(Fraction(0), found[label]) * back[code][i]
        for label, row in enumerate(table):
            chances = [Fraction(count + Fraction(2, len(row))) / (sum(row) + 2) for count in row]
            for i in every:
                mean, square = (
                    sum((chance * reach[label][code][i] ** power for code, chance in enumerate(chances)), Fraction(0))
                    for power in (1, 2)
                )
                variances[i] += (square - mean**2) / sum(row)
        return [(label, float(counts[i]), math.sqrt(variances[i])) for i, label in enumerate(labels)]


Matrix = list[list[Fraction]]


def transposed(matrix: Matrix) -> Matrix:
    return [list(column) for column in zip(*matrix, strict=True)]


def product(one: Matrix, other: Matrix) -> Matrix:
    columns = transposed(other)
    return [[sum((a * b for a, b in zip(row, column, strict=True)), Fraction(0)) for column in columns] for row in one]


def inverse(matrix: Matrix) -> Matrix:
    """By Gauss and Jordan, in fractions."""
    size = len(matrix)
    rows = [[*row, *(Fraction(i == j) for j in range(size))] for i, row in enumerate(matrix)]
    for place in range(size):
        pivot = next(i for i in range(place, size) if rows[i][place])
        rows[place], rows[pivot] = rows[pivot], rows[place]
        rows[place] = [cell / rows[place][place] for cell in rows[place]]
        for i in range(size):
            if i != place:
                rows[i] = [a - rows[i][place] * b for a, b in zip(rows[i], rows[place], strict=True)]
    return [row[size:] for row in rows]


def below(total: int, entropy: Iterator[int]) -> int:
    """Uniform below a total, by rejection."""
    while (word := next(entropy)) >= WORD - WORD % total:
        pass
    return word % total
