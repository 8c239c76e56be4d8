"""Learns a codebook without labels: spherical k-means over the vectors of a user's own texts.

    code(x) = argmax over k of <c_k, v(x) - m>,    |c_k| = 1

with ``v`` the vector of a text, by rows of words (``word_rows``) or by MiniLM, and ``m`` its mean. Of MiniLM's vectors
the main directions ``P`` alone are looked at: then ``c_k`` is ``P`` times a center among them. The nearest of centers
of one length is the one with the largest product: it is linear in ``v``, and so the same map as that to classes.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from textveil_training.data.grouped_split import fold
from textveil_training.encoder.k_means import k_means, main_directions, sums_of, unit
from textveil_training.errors import ClassError
from textveil_training.progress import Report

Floats = NDArray[np.float64]
#: Different texts that a codebook needs, and that each of its codes needs.
MIN_TEXTS, MIN_CODE_TEXTS = 1000, 20
MIN_CODES, MAX_CODES = 8, 256


@dataclass(frozen=True, slots=True)
class Codebook:
    """A codebook: the linear map from the vector of a text to scores of the codes.

    Attributes:
        weight: Float32, shape ``(codes, dimension)``.
        bias: Added to the scores, float32, shape ``(codes,)``.
        sizes: Different training texts of each code, at least ``MIN_CODE_TEXTS``.
    """

    weight: NDArray[np.float32]
    bias: NDArray[np.float32]
    sizes: tuple[int, ...]


def texts_needed(codes: int) -> int:
    """Returns how many different texts so many codes are learned from, at least."""
    return max(MIN_TEXTS, MIN_CODE_TEXTS * codes)


def texts_once(texts: Sequence[str], codes: int) -> list[str]:
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


def main_space(vectors: Floats, numbers: int) -> tuple[Floats, Floats]:
    """Returns the mean of vectors, and the directions in which they differ most as seen from it.

    Args:
        vectors: Shape ``(texts, dimension)``.
        numbers: How many directions are wanted; there are no more than the dimension.

    Returns:
        The mean, shape ``(dimension,)``, and the directions, shape ``(dimension, numbers)``.
    """
    center = vectors.mean(axis=0)
    return center, main_directions(unit(vectors - center), numbers)


def learn_codebook(
    vectors: Floats, codes: int, seed: int, report: Report, *, directions: int | None = None
) -> Codebook:
    """Finds at most so many codes. One with fewer than 20 texts is dropped, and its texts go elsewhere.

    Args:
        vectors: Vectors of different texts, shape ``(texts, dimension)``.
        codes: How many codes are wanted.
        seed: Seed of k-means.
        report: Told the stage, the runs done and the runs in all.
        directions: How many main directions are looked at; all if None.

    Raises:
        ClassError: The texts are too much alike.
    """
    center, main = (vectors.mean(axis=0), None) if directions is None else main_space(vectors, directions)
    seen = unit(vectors - center if main is None else (vectors - center) @ main)
    centers = k_means(seen, codes, seed, report)
    assigned = (seen @ centers.T).argmax(axis=1)
    while (sizes := np.bincount(assigned, minlength=len(centers))).min() < MIN_CODE_TEXTS:
        centers = np.delete(centers, sizes.argmin(), axis=0)
        assigned = (seen @ centers.T).argmax(axis=1)
    if len(centers) < 2:
        raise ClassError("the texts are too much alike for a codebook: none but one code has 20 of them")
    # A center is a mean of its own texts only, and of 20 at least: after the last assignment it is computed anew.
    centers = unit(sums_of(seen, assigned, len(centers)))
    weight = centers if main is None else centers @ main.T
    return Codebook(weight.astype(np.float32), (-weight @ center).astype(np.float32), tuple(sizes.tolist()))
