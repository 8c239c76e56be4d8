"""Codebooks without labels, learned from texts of the stream itself, and how a server decodes them.

    code(x) = argmax over k of <c_k, v(x) - m>

by spherical k-means (Dhillon, Modha 2001). Three kinds:

- ``static``: what ``textveil-train encoder --codes`` makes, int8 and all. ``v`` is the mean public row of the words.
- ``minilm``: the main directions of MiniLM's vectors.
- ``taught``: mean rows again, under the linear map that comes nearest to MiniLM's directions on the same texts (ridge
  regression). A linear map of a mean row is a mean row: on a device it is a table of words, as for ``static``.
"""

from collections.abc import Callable

import numpy as np
from extractors import Extractors, silent, static_codes
from numpy.typing import NDArray
from releases import Codes
from textveil_export.index import static_parts
from textveil_training.encoder.codebook import DIMENSION, MIN_CODE_TEXTS, MIN_TEXTS, learn_codebook
from textveil_training.encoder.grouped_split import fold
from textveil_training.encoder.static import StaticSettings, public_words
from textveil_training.encoder.task import Part, Task

Floats, Ids = NDArray[np.float64], NDArray[np.int64]
KINDS = ("static", "taught", "minilm")
DIRECTIONS, DECAY = 32, 1.0
RESTARTS, STEPS = 16, 25


def texts_needed(codes: int) -> int:
    """Returns how many texts a codebook is learned from: what a bundle demands."""
    return max(MIN_TEXTS, MIN_CODE_TEXTS * codes)


def measure(extractors: Extractors, kind: str, codes: int, seed: int) -> Codes | None:
    """Learns a codebook and counts texts by class and code; None where there are too few texts.

    Args:
        extractors: The vectors.
        kind: One of ``KINDS``.
        codes: How many codes.
        seed: Seed of the division, of the texts and of k-means.
    """
    task = extractors.task(seed)
    different = list({fold(text): text for text in reversed(task.train.texts)}.values())[::-1]
    if len(different) < texts_needed(codes):
        return None
    chosen = np.random.default_rng(seed).choice(len(different), texts_needed(codes), replace=False)
    seen = [different[at] for at in chosen]
    code = shipped(seen, codes, seed) if kind == "static" else learned(extractors, kind, seen, codes, seed)
    known, test = code(task.train.texts), code(task.test.texts)
    count = 1 + int(max(known.max(), test.max()))
    return counted(extractors, task, (known, task.train), (test, task.test), count)


def counted(extractors: Extractors, task: Task, known: tuple[Ids, Part], test: tuple[Ids, Part], codes: int) -> Codes:
    """Counts texts by class and code, and by attribute and code where there are attributes.

    Args:
        extractors: Where the attributes are.
        task: The task.
        known: Codes of the texts that a server and an attacker learn from, and these texts.
        test: The same of the test texts.
        codes: How many codes.
    """

    def counts(names: Ids, at: Ids, rows: int) -> Floats:
        return np.bincount(names * codes + at, minlength=rows * codes).reshape(rows, codes).astype(float)

    found = [counts(part.classes, at, len(task.labels)) for at, part in (known, test)]
    if not extractors.corpus.attributes:
        return Codes(*found)
    of = extractors.corpus.attributes_of
    present = [np.stack([counts(bits.astype(int), at, 2) for bits in of(part).T], axis=1) for at, part in (known, test)]
    return Codes(*found, *present)


def shipped(seen: list[str], codes: int, seed: int) -> Callable[[tuple[str, ...]], Ids]:
    """Learns a codebook as a bundle has it. It may have fewer codes: each has 20 texts at least."""
    settings = StaticSettings(dimension=DIMENSION, pairs=0, seed=seed)
    words = public_words(settings)
    weights = learn_codebook(seen, codes, words, settings, silent).weights
    parts = static_parts(words.words, weights.word_rows, weights.pair_rows, settings.max_characters)
    return lambda texts: static_codes(texts, parts, weights.weight, weights.bias)


def learned(
    extractors: Extractors, kind: str, seen: list[str], codes: int, seed: int
) -> Callable[[tuple[str, ...]], Ids]:
    """Learns a codebook over the directions of some texts."""
    directions = Directions(extractors, kind, seen)
    centers = k_means(directions(seen), codes, seed)
    return lambda texts: (directions(texts) @ centers.T).argmax(axis=1)


class Directions:
    """Maps texts to unit vectors of ``DIRECTIONS`` numbers; learned from some texts without labels.

    Args:
        extractors: The vectors.
        kind: One of ``KINDS``.
        seen: The texts.
    """

    def __init__(self, extractors: Extractors, kind: str, seen: list[str]) -> None:
        self._extractors = extractors
        self._source = "minilm" if kind == "minilm" else "static"
        vectors = self._vectors(seen)
        self._mean = vectors.mean(axis=0)
        if kind == "taught":
            wished = extractors.vectors("minilm", seen).astype(np.float64)
            wished = unit(wished - wished.mean(axis=0))
            wished = unit(wished @ principal(wished))
            centered = vectors - self._mean
            decay = DECAY * len(seen) * centered.var()
            gram = centered.T @ centered + decay * np.eye(centered.shape[1])
            self._map = np.linalg.solve(gram, centered.T @ wished)
        else:
            self._map = principal(unit(vectors - self._mean))

    def _vectors(self, texts: tuple[str, ...] | list[str]) -> Floats:
        return self._extractors.vectors(self._source, texts).astype(np.float64)

    def __call__(self, texts: tuple[str, ...] | list[str]) -> Floats:
        """Returns unit vectors, shape ``(texts, DIRECTIONS)``."""
        return unit((self._vectors(texts) - self._mean) @ self._map)


def principal(vectors: Floats) -> Floats:
    """Returns the main directions of some vectors, shape ``(numbers, DIRECTIONS)``."""
    _, directions = np.linalg.eigh(np.cov(vectors.T))
    return directions[:, ::-1][:, :DIRECTIONS]


def k_means(directions: Floats, codes: int, seed: int) -> Floats:
    """Returns the centers of the best of some runs: that whose texts are nearest to their centers."""
    found = [_one_run(directions, codes, [seed, restart]) for restart in range(RESTARTS)]
    return max(found, key=lambda centers: float((directions @ centers.T).max(axis=1).sum()))


def _one_run(directions: Floats, codes: int, seed: list[int]) -> Floats:
    generator = np.random.default_rng(seed)
    centers = directions[generator.choice(len(directions), codes, replace=False)]
    for _ in range(STEPS):
        assigned = (directions @ centers.T).argmax(axis=1)
        sums = np.zeros_like(centers)
        np.add.at(sums, assigned, directions)
        empty = ~sums.any(axis=1)
        sums[empty] = directions[generator.choice(len(directions), int(empty.sum()))]
        centers = unit(sums)
    return centers


def unit(vectors: Floats) -> Floats:
    """Returns vectors of length 1."""
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
