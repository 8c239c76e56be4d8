"""The words that an extractor knows, and a public row for each: both from the English bundle with vectors."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from textveil.bundle import TextBundle, artifact, open_bundle

#: Numbers of a public row: all that the bundle's vectors have.
PUBLIC_NUMBERS = 384


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicWords:
    """The public list, and a row for each of its words.

    Attributes:
        words: Row by word.
        rows: float32, shape ``(words + 2, dimension)``; the last two, of numbers and unknown words, are 0.
        identity: Identity of the bundle that both are taken from.
        license: Its license.
        attribution: What it says of its sources.
    """

    words: dict[str, int]
    rows: NDArray[np.float32]
    identity: str
    license: str
    attribution: str


@lru_cache(maxsize=2)  # takes a second
def public_words(dimension: int) -> PublicWords:
    """Takes words and rows from ``artifacts/english-santext``: main directions of its vectors, root mean square 1.

    Args:
        dimension: Numbers in a row; beyond those of the vectors, 0.
    """
    bundle = open_bundle(artifact("english-santext"), TextBundle)
    assert bundle.metric is not None
    words = {word: number for number, word in enumerate(bundle.vocabulary)}
    vectors = bundle.metric.rows[: len(words)].astype(np.float64)
    vectors -= vectors.mean(axis=0)
    values, directions = np.linalg.eigh(vectors.T @ vectors)
    directions = directions[:, np.argsort(-values)[:dimension]]
    directions *= np.sign(directions[np.abs(directions).argmax(axis=0), np.arange(directions.shape[1])])
    rows = np.zeros((len(words) + 2, dimension))
    found = vectors @ directions
    rows[: len(words), : found.shape[1]] = found / np.sqrt((found**2).mean())
    manifest = bundle.manifest
    return PublicWords(
        words=words,
        rows=rows.astype(np.float32),
        identity=bundle.identity,
        license=manifest["licence"],
        attribution=manifest["attribution"],
    )
