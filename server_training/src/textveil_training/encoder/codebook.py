"""Learns a codebook without labels: spherical k-means over the mean public rows of a user's own texts.

    code(x) = argmax over k of <c_k, v(x) - m>,    |c_k| = 1

with ``v`` the mean row of a text's words, weighted by how rare they are among the texts, and ``m`` its mean (Dhillon,
Modha 2001). It is linear in ``v``, and so the same map to a code as that of classes.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from textveil.vector import words_of

from textveil_training.encoder.grouped_split import fold
from textveil_training.encoder.static import PublicWords, StaticSettings, StaticWeights
from textveil_training.errors import ClassError

Report = Callable[[str, int, int], None]
Floats = NDArray[np.float64]
#: Different texts that a codebook needs, and that each of its codes needs.
MIN_TEXTS, MIN_CODE_TEXTS = 1000, 20
MIN_CODES, MAX_CODES = 8, 256
#: Numbers in a row: there are no pairs, so there is room for more than a decision has.
DIMENSION = 180
_RESTARTS, _STEPS = 4, 25


@dataclass(frozen=True, slots=True)
class Codebook:
    """A codebook.

    Attributes:
        weights: The extractor, and the map from vector to code.
        sizes: Different training texts of each code, at least ``MIN_CODE_TEXTS``.
    """

    weights: StaticWeights
    sizes: tuple[int, ...]


def learn_codebook(
    texts: Sequence[str], codes: int, public: PublicWords, settings: StaticSettings, report: Report
) -> Codebook:
    """Finds at most so many codes. One with fewer than 20 different texts is dropped, and its texts go elsewhere.

    Args:
        texts: Training texts; of copies one is used.
        codes: How many codes are wanted, from 8 to 256.
        public: Words and rows.
        settings: ``max_characters``, ``min_texts`` and ``seed`` of these.
        report: Told the stage, the steps done and the steps in all.

    Raises:
        ClassError: There are fewer than 1,000 different texts, or fewer than 20 for each code.
    """
    if not MIN_CODES <= codes <= MAX_CODES:
        raise ClassError(f"a codebook has from {MIN_CODES} to {MAX_CODES} codes")
    different = list({fold(text): text for text in reversed(texts)}.values())[::-1]
    needed = max(MIN_TEXTS, MIN_CODE_TEXTS * codes)
    if len(different) < needed:
        raise ClassError(f"{codes} codes are learned from {needed} different texts: there are {len(different)}")
    rows = public.rows * _rarity(different, public, settings)[:, None]
    ids = [words_of(text[: settings.max_characters], public.words) for text in different]
    vectors = np.stack([rows[one].mean(axis=0) if len(one) else np.zeros(rows.shape[1]) for one in ids])
    center = vectors.mean(axis=0)
    directions = _unit(vectors - center)
    found = [_k_means(directions, codes, settings.seed + restart, report, restart) for restart in range(_RESTARTS)]
    centers = max(found, key=lambda one: float((directions @ one.T).max(axis=1).sum()))
    assigned = (directions @ centers.T).argmax(axis=1)
    while (sizes := np.bincount(assigned, minlength=len(centers))).min() < MIN_CODE_TEXTS:
        centers = np.delete(centers, sizes.argmin(), axis=0)
        assigned = (directions @ centers.T).argmax(axis=1)
    if len(centers) < 2:
        raise ClassError("the texts are too much alike for a codebook: none but one code has 20 of them")
    # A center is a mean of its own texts only, and of 20 at least: after the last assignment it is computed anew.
    centers = _unit(np.stack([directions[assigned == code].sum(axis=0) for code in range(len(centers))]))
    weights = StaticWeights(
        rows.astype(np.float32),
        np.zeros((0, rows.shape[1]), dtype=np.float32),
        centers.astype(np.float32),
        (-centers @ center).astype(np.float32),
    )
    return Codebook(weights, tuple(sizes.tolist()))


def _rarity(texts: Sequence[str], public: PublicWords, settings: StaticSettings) -> Floats:
    """``ln(n / d)`` of a word in ``d`` of ``n`` texts; a word of too few is as rare as the rarest that counts."""
    counts = np.zeros(len(public.rows))
    for text in texts:
        counts[np.unique(words_of(text[: settings.max_characters], public.words))] += 1
    return np.log(len(texts) / np.maximum(counts, settings.min_texts))


def _k_means(directions: Floats, codes: int, seed: int, report: Report, restart: int) -> Floats:
    generator = np.random.default_rng(seed)
    centers = directions[generator.choice(len(directions), codes, replace=False)]
    for step in range(_STEPS):
        assigned = (directions @ centers.T).argmax(axis=1)
        sums = np.zeros_like(centers)
        np.add.at(sums, assigned, directions)
        empty = ~sums.any(axis=1)
        sums[empty] = directions[generator.choice(len(directions), int(empty.sum()))]
        centers = _unit(sums)
        report("codes", restart * _STEPS + step + 1, _RESTARTS * _STEPS)
    return centers


def _unit(vectors: Floats) -> Floats:
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
