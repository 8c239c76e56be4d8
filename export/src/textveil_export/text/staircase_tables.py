"""Compute the arrays of the staircase mechanism: nearest words (neighbors) of each word, and base weights.

The staircase mechanism replaces words at random. Some words would mislead in place of another word. The proof
(docs/proofs/staircase.md) allows any choice of stored neighbors, and any base weights that are the same for all inputs.
So the opposites of a word are removed from its neighbors. Alarming words are removed from the neighbors of all other
words, and the base weights of alarming words are divided by ``ALARMING_DIVISOR``. Since all base weights are positive,
any word can still become any other, also its opposite. So the base weights of words with many opposites are slightly
reduced.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textveil_export.errors import ExportError, SourceError
from textveil_export.parallel import BlockRunner, run_blocks
from textveil_export.progress import Progress, ignore_progress
from textveil_export.text.neighbors import COSINE_STEPS, find_nearest_words
from textveil_export.text.quantize import quantize_rows
from textveil_export.text.word_vectors import WordVectors, read_list

#: Divisor of the base weight of alarming words.
ALARMING_DIVISOR = 10
#: Factor of the base weight of words with many opposites, and the number of opposites above which a word has many. In
#: the list english-3-opposites.txt VADER's positive and negative words have 960 or more, all others fewer than 140.
OPPOSED_SHARE, MANY_OPPOSITES = Fraction(17, 20), 500


@dataclass(frozen=True)
class MisleadingWords:
    """Public lists of words that would mislead in place of another word.

    Attributes:
        opposites: Pairs of opposites, such as *good* and *bad*, in both orders.
        alarming: Words such as *abduct*, which are never neighbors of another word.
    """

    opposites: frozenset[tuple[str, str]] = frozenset()
    alarming: frozenset[str] = frozenset()

    @classmethod
    def read_lists(cls, opposites: Path | None, alarming: Path | None) -> "MisleadingWords":
        """Read the lists of opposites and of alarming words; a missing path gives an empty list.

        A line of ``opposites`` has two groups of words, separated by a tab: each word of one group is an opposite of
        each word of the other. A line of ``alarming`` has one word.

        Raises:
            SourceError: A list cannot be read, or a line has another format.
        """
        sides = [[side.split() for side in line.split("\t")] for line in (read_list(opposites) if opposites else ())]
        if not all(len(pair) == 2 and all(pair) for pair in sides):
            raise SourceError("opposites: each line must be words, a tab and their opposites")
        pairs = {pair for one, other in sides for pair in (*product(one, other), *product(other, one))}
        return cls(frozenset(pairs), frozenset(read_list(alarming) if alarming else ()))

    def find_barred_neighbors(self, words: list[str], near: NDArray[Any]) -> NDArray[np.bool_]:
        """Return a boolean for each stored neighbor (similar word): whether it misleads readers in place of the word.

        A neighbor misleads if it is an opposite of the word (*good*, *bad*), or if it is alarming and the word is not.

        Args:
            words: All words by id.
            near: Neighbor ids of each word, shape ``(rows, k)``. Row ``i`` belongs to the word ``i``, which is also in
                its own row and never misleads.

        Returns:
            Booleans of the same shape as ``near``.
        """
        at = {word: index for index, word in enumerate(words)}
        pairs = [at[one] * len(words) + at[other] for one, other in self.opposites if one in at and other in at]
        rows, alarming = np.arange(len(near))[:, None], self.find_alarming(words)
        barred = np.isin(rows * len(words) + near, pairs) | (alarming[near] & ~alarming[:, None])
        return barred & (near != rows)

    def find_alarming(self, words: list[str]) -> NDArray[np.bool_]:
        """Return a boolean for each word: whether it is on the list of alarming words, such as *abduct*."""
        return np.array([word in self.alarming for word in words], dtype=bool)

    def find_opposed(self, words: list[str]) -> NDArray[np.bool_]:
        """Return a boolean for each word: whether it has more than ``MANY_OPPOSITES`` opposites.

        In the English list these are the positive and the negative words, such as *good* and *awful*.
        """
        count = Counter(one for one, _ in self.opposites)
        return np.array([count[word] > MANY_OPPOSITES for word in words], dtype=bool)


#: Approximate sum of the base weights of a vocabulary.
BASE_TOTAL = 1 << 26
_UINT16_SYMBOLS = 1 << 16  # largest number of symbols whose ids fit 16 bits
_MAX_SYMBOLS = 1 << 22  # larger than any vocabulary, and keeps totals far below the limit of the sampler


@dataclass(frozen=True)
class StaircaseSettings:
    """Settings of the neighbors (nearest words) and the base weights of the staircase mechanism.

    Attributes:
        k: Number of stored ids per word, including the word itself; all words if the vocabulary has fewer.
        mu: Share of the base weights that follows word frequencies; the rest is uniform.
        favor: Bonus in the ranking of neighbors for a word with twice the base weight, on the scale of cosines.

    Raises:
        ExportError: A value is out of range.
    """

    k: int = 64
    mu: Fraction = Fraction(9, 10)
    favor: Fraction = Fraction(1, 50)

    def __post_init__(self) -> None:
        if not 0 <= self.mu < 1:
            raise ExportError("mu (--replacement) must be at least 0 and below 1")
        if self.k < 1 or self.favor < 0:
            raise ExportError(
                "the number of stored ids (k) must be at least 1, and the bonus of frequent words (favor) at least 0"
            )


def make_staircase_arrays(
    source: WordVectors,
    per_billion: Mapping[str, int] | None = None,
    settings: StaircaseSettings | None = None,
    progress: Progress = ignore_progress,
    run: BlockRunner = run_blocks,
    misleading: MisleadingWords | None = None,
) -> dict[str, NDArray[Any]]:
    """Compute the arrays of ``staircase.safetensors``: neighbors and base weights of the staircase mechanism.

    The result is the same on each machine: vectors are rounded to int8, their products are exact, and equally near
    words are ordered by id.

    Args:
        source: Vocabulary in order of frequency with its vectors.
        per_billion: Public frequency of each word (``read_frequencies``); missing words count 0. ``None`` estimates
            frequencies from ranks (``estimate_frequencies``).
        settings: ``k``, ``mu`` and the bonus of frequency; defaults if ``None``.
        progress: Called with the number of processed rows.
        run: Function that applies another function to blocks of rows, such as in parallel processes.
        misleading: Lists of words that would mislead in place of other words. They are removed from the neighbors of
            these words, and alarming words get smaller base weights. ``None`` for no lists.

    Returns:
        Two arrays by name. ``neighbors``, uint16 (uint32 for more than 65,536 symbols), shape ``(symbols, k)``:
        distinct ids, the word itself first, then its nearest words. ``base``, uint32, shape ``(symbols,)``: base
        weights, at least 1.

    Raises:
        ExportError: The vocabulary is too large, contains no word, or no word has a frequency.
    """
    settings = settings or StaircaseSettings()
    if len(source.words) > _MAX_SYMBOLS:
        raise ExportError(f"the staircase mechanism supports at most {_MAX_SYMBOLS:,} words: lower --max-words")
    frequencies = estimate_frequencies(source.words) if per_billion is None else per_billion
    base = compute_base_weights([frequencies.get(word, 0) for word in source.words], settings.mu)
    rows, _ = quantize_rows(source.vectors)
    words = np.flatnonzero([is_wordlike(word) for word in source.words])
    favor = compute_favors(base[words], settings.favor)
    wide, misleading = (4 * settings.k, misleading) if misleading else (settings.k, MisleadingWords())
    alarming = misleading.find_alarming(source.words)
    base[alarming] = np.maximum(1, base[alarming] // ALARMING_DIVISOR)
    opposed = misleading.find_opposed(source.words)
    less = base[opposed].astype(np.int64) * OPPOSED_SHARE.numerator // OPPOSED_SHARE.denominator
    base[opposed] = np.maximum(1, less)
    while True:
        near = find_nearest_words(rows, words, wide := max(1, min(wide, len(words))), favor, progress, run)
        barred = misleading.find_barred_neighbors(source.words, near)
        k = min(settings.k, int((~barred).sum(axis=1).min()))
        if k == settings.k or wide == len(words):
            break
        wide *= 4
    near = np.take_along_axis(near, np.argsort(barred, axis=1, kind="stable")[:, :k], axis=1)
    return {"neighbors": near.astype(np.uint16 if len(near) <= _UINT16_SYMBOLS else np.uint32), "base": base}


def compute_base_weights(frequencies: Sequence[int], mu: Fraction) -> NDArray[np.uint32]:
    """Compute the base weight ``1 + floor((mu p(y) + (1 - mu) / n) 2^26)`` of each word ``y``, exactly.

    Here ``p(y)`` is the relative frequency of the word, ``n`` the number of words, and ``mu`` the share of the weight
    that depends on frequency.

    Args:
        frequencies: Frequency of each word, in any unit.
        mu: Share of the weights that follows frequencies, at least 0 and below 1.

    Returns:
        Base weights, shape ``(symbols,)``.

    Raises:
        ExportError: All frequencies are 0, or one is negative.
    """
    total = sum(frequencies)
    if total < 1 or min(frequencies) < 0:
        raise ExportError("no word of the vocabulary has a frequency above 0: check --word-frequencies")
    even = (1 - mu) / len(frequencies)
    weights = [1 + int((mu * Fraction(count, total) + even) * BASE_TOTAL) for count in frequencies]
    return np.array(weights, dtype=np.uint32)


def compute_favors(base: NDArray[np.uint32], worth: Fraction) -> NDArray[np.int64]:
    """Compute the bonus ``worth log2(b(y))`` of each candidate neighbor ``y``, where ``b(y)`` is its base weight.

    Decimal arithmetic gives equal results on all machines.

    Args:
        base: Base weights.
        worth: Bonus for a doubled base weight, as a cosine.

    Returns:
        Integers, in units of ``1 / COSINE_STEPS`` of a cosine.
    """
    with localcontext(prec=30):
        step = COSINE_STEPS * Decimal(worth.numerator) / worth.denominator / Decimal(2).ln()
        return np.array([round(Decimal(weight).ln() * step) for weight in base.tolist()], dtype=np.int64)


def is_wordlike(entry: str) -> bool:
    """Return whether an entry of the vocabulary contains a letter; only such entries may be neighbors."""
    return any(character.isalpha() for character in entry)


def estimate_frequencies(words: Sequence[str]) -> dict[str, int]:
    """Estimate frequencies from ranks: ``10^9 / (rank + 3)`` (Zipf, Mandelbrot).

    Args:
        words: Words in order of frequency.
    """
    return {word: 10**9 // (rank + 3) for rank, word in enumerate(words)}


def read_frequencies(path: Path) -> dict[str, int]:
    """Read public word frequencies from a file. Each line has a word in lower case, a tab and a count.

    The function ignores lines that start with ``"# "``.

    Raises:
        SourceError: The file cannot be read, a line has another format, or a word occurs twice.
    """
    frequencies: dict[str, int] = {}
    for number, line in enumerate(read_list(path), 1):
        word, _, count = line.partition("\t")
        if not (word and count.isascii() and count.isdigit() and len(count) <= 18):
            raise SourceError(f"{path.name}: entry {number} must be a word, a tab and a count")
        if word in frequencies:
            raise SourceError(f"{path.name}: entry {number} repeats a word: remove one of the lines")
        frequencies[word] = int(count)
    return frequencies
