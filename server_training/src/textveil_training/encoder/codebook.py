"""Learns a codebook without labels: spherical k-means over the vectors of a user's own texts.

    code(x) = argmax over k of <c_k, v(x) - m>,    |c_k| = 1

with ``v`` the mean rows of a text's words and pairs (``word_rows``) and ``m`` its mean. It is linear in ``v``, and so
the same map to a code as that of classes.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from textveil_training.encoder.grouped_split import fold
from textveil_training.encoder.k_means import k_means, sums_of, unit
from textveil_training.encoder.static import StaticWeights
from textveil_training.encoder.word_rows import WordRows
from textveil_training.errors import ClassError

Report = Callable[[str, int, int], None]
#: Different texts that a codebook needs, and that each of its codes needs.
MIN_TEXTS, MIN_CODE_TEXTS = 1000, 20
MIN_CODES, MAX_CODES = 8, 256


@dataclass(frozen=True, slots=True)
class Codebook:
    """A codebook.

    Attributes:
        weights: The extractor, and the map from vector to code.
        sizes: Different training texts of each code, at least ``MIN_CODE_TEXTS``.
    """

    weights: StaticWeights
    sizes: tuple[int, ...]


def texts_needed(codes: int) -> int:
    """Returns how many different texts so many codes are learned from, at least."""
    return max(MIN_TEXTS, MIN_CODE_TEXTS * codes)


def different_texts(texts: Sequence[str], codes: int) -> list[str]:
    """Returns the texts that a codebook is learned from: of copies one.

    Args:
        texts: Training texts.
        codes: How many codes are wanted, from 8 to 256.

    Raises:
        ClassError: There are fewer than 1,000 different texts, or fewer than 20 for each code.
    """
    if not MIN_CODES <= codes <= MAX_CODES:
        raise ClassError(f"a codebook has from {MIN_CODES} to {MAX_CODES} codes")
    different = list({fold(text): text for text in reversed(texts)}.values())[::-1]
    if len(different) < (needed := texts_needed(codes)):
        raise ClassError(f"{codes} codes are learned from {needed} different texts: there are {len(different)}")
    return different


def learn_codebook(ids: Sequence[NDArray[np.int64]], rows: WordRows, codes: int, seed: int, report: Report) -> Codebook:
    """Finds at most so many codes. One with fewer than 20 texts is dropped, and its texts go elsewhere.

    Args:
        ids: Rows of the words of different texts.
        rows: The tables of the extractor.
        codes: How many codes are wanted.
        seed: Seed of k-means.
        report: Told the stage, the runs done and the runs in all.

    Raises:
        ClassError: The texts are too much alike.
    """
    vectors = rows.vectors(ids)
    center = vectors.mean(axis=0)
    directions = unit(vectors - center)
    centers = k_means(directions, codes, seed, report)
    assigned = (directions @ centers.T).argmax(axis=1)
    while (sizes := np.bincount(assigned, minlength=len(centers))).min() < MIN_CODE_TEXTS:
        centers = np.delete(centers, sizes.argmin(), axis=0)
        assigned = (directions @ centers.T).argmax(axis=1)
    if len(centers) < 2:
        raise ClassError("the texts are too much alike for a codebook: none but one code has 20 of them")
    # A center is a mean of its own texts only, and of 20 at least: after the last assignment it is computed anew.
    centers = unit(sums_of(directions, assigned, len(centers)))
    weights = StaticWeights(
        rows.words.astype(np.float32),
        rows.pairs.astype(np.float32),
        centers.astype(np.float32),
        (-centers @ center).astype(np.float32),
    )
    return Codebook(weights, tuple(sizes.tolist()))
