"""The arrays of the staircase: which words stand next to a word, and how often each word is drawn."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textveil_export.errors import ExportError, SourceError
from textveil_export.parallel import Run, here
from textveil_export.progress import Progress, no_progress
from textveil_export.text.misleading import ALARMING_DIVISOR, OPPOSED_SHARE, Misleading
from textveil_export.text.nearest_words import COSINE_STEPS, nearest_words
from textveil_export.text.quantize import quantize_by_row
from textveil_export.text.sources import Source, read_lines

#: What the base weights of a vocabulary add up to, nearly.
BASE_TOTAL = 1 << 26
_MOST_UINT16 = 1 << 16  # symbols whose ids fit 16 bits
_MAX_SYMBOLS = 1 << 22  # more than any vocabulary, and totals stay far below what can be drawn with


@dataclass(frozen=True)
class StaircaseSettings:
    """What decides the arrays besides the source.

    Attributes:
        k: Stored ids per row, the word itself included; all words where there are fewer.
        mu: Share of the base that follows word frequencies; the rest is spread evenly.
        favor: What twice the base is worth in a list, as a cosine.
    """

    k: int = 64
    mu: Fraction = Fraction(9, 10)
    favor: Fraction = Fraction(1, 50)

    def __post_init__(self) -> None:
        if not 0 <= self.mu < 1:
            raise ExportError("mu must be at least 0 and below 1")
        if self.k < 1 or self.favor < 0:
            raise ExportError("k must be at least 1, and what twice the base is worth at least 0")


def staircase_arrays(
    source: Source,
    per_billion: Mapping[str, int] | None = None,
    settings: StaircaseSettings | None = None,
    progress: Progress = no_progress,
    run: Run = here,
    misleading: Misleading | None = None,
) -> dict[str, NDArray[Any]]:
    """Builds the arrays of ``staircase.safetensors``.

    The same source gives the same arrays on every machine: vectors are rounded to int8, their products are exact,
    and ties go to the lower id.

    Args:
        source: Vocabulary in rank order with its vectors.
        per_billion: Public frequency of each word (``read_frequencies``). A word without one counts 0. ``None``
            takes frequencies from the ranks alone (``rank_frequencies``).
        settings: ``k``, ``mu`` and what frequency is worth; the defaults if ``None``.
        progress: Called with rows done.
        run: Does the work of blocks of rows.
        misleading: What must not stand in the place of what.

    Returns:
        ``neighbours``, uint16 or, where there are more than 65,536 symbols, uint32, shape ``(symbols, k)``: the word
        itself first, then its nearest words, distinct; and ``base``, uint32, shape ``(symbols,)``, at least 1.

    Raises:
        ExportError: The vocabulary is too large, has no word, or no word has a frequency.
    """
    settings = settings or StaircaseSettings()
    if len(source.words) > _MAX_SYMBOLS:
        raise ExportError(f"a staircase has at most {_MAX_SYMBOLS:,} symbols")
    frequencies = rank_frequencies(source.words) if per_billion is None else per_billion
    base = base_weights([frequencies.get(word, 0) for word in source.words], settings.mu)
    rows, _ = quantize_by_row(source.vectors)
    words = np.flatnonzero([is_wordlike(word) for word in source.words])
    favor = favors(base[words], settings.favor)
    wide, misleading = (4 * settings.k, misleading) if misleading else (settings.k, Misleading())
    alarming = misleading.alarms(source.words)
    base[alarming] = np.maximum(1, base[alarming] // ALARMING_DIVISOR)
    opposed = misleading.opposed(source.words)
    less = base[opposed].astype(np.int64) * OPPOSED_SHARE.numerator // OPPOSED_SHARE.denominator
    base[opposed] = np.maximum(1, less)
    while True:
        near = nearest_words(rows, words, wide := max(1, min(wide, len(words))), favor, progress, run)
        barred = misleading.bars(source.words, near)
        k = min(settings.k, int((~barred).sum(axis=1).min()))
        if k == settings.k or wide == len(words):
            break
        wide *= 4
    near = np.take_along_axis(near, np.argsort(barred, axis=1, kind="stable")[:, :k], axis=1)
    return {"neighbours": near.astype(np.uint16 if len(near) <= _MOST_UINT16 else np.uint32), "base": base}


def base_weights(frequencies: Sequence[int], mu: Fraction) -> NDArray[np.uint32]:
    """Computes ``b(y) = 1 + floor((mu p(y) + (1 - mu) / n) 2^26)`` in exact arithmetic.

    Args:
        frequencies: Frequency of every symbol, in any unit.
        mu: At least 0 and below 1.

    Raises:
        ExportError: All frequencies are 0, or one is negative.
    """
    total = sum(frequencies)
    if total < 1 or min(frequencies) < 0:
        raise ExportError("no word of the vocabulary has a frequency, or one is negative")
    even = (1 - mu) / len(frequencies)
    weights = [1 + int((mu * Fraction(count, total) + even) * BASE_TOTAL) for count in frequencies]
    return np.array(weights, dtype=np.uint32)


def favors(base: NDArray[np.uint32], worth: Fraction) -> NDArray[np.int64]:
    """Computes ``worth log2(b(y))`` in steps of the cosine, rounded the same on every machine."""
    with localcontext(prec=30):
        step = COSINE_STEPS * Decimal(worth.numerator) / worth.denominator / Decimal(2).ln()
        return np.array([round(Decimal(weight).ln() * step) for weight in base.tolist()], dtype=np.int64)


def is_wordlike(entry: str) -> bool:
    """Tells whether an entry may be a neighbor: it has a letter. Punctuation and digits have none."""
    return any(character.isalpha() for character in entry)


def rank_frequencies(words: Sequence[str]) -> dict[str, int]:
    """Returns frequencies that fall with the rank as words do (Zipf, Mandelbrot): ``10^9 / (rank + 3)``."""
    return {word: 10**9 // (rank + 3) for rank, word in enumerate(words)}


def read_frequencies(path: Path) -> dict[str, int]:
    """Reads public word frequencies, a look-up key, a tab and a count per line, without lines that start with ``"# "``.

    Raises:
        SourceError: The file cannot be read, a line has another form, or a word stands there twice.
    """
    frequencies: dict[str, int] = {}
    for number, line in enumerate(read_lines(path), 1):
        word, _, count = line.partition("\t")
        if not (word and count.isascii() and count.isdigit() and len(count) <= 18):
            raise SourceError(f"{path.name}: entry {number} is not a word, a tab and a count")
        if word in frequencies:
            raise SourceError(f"{path.name}: entry {number} stands there twice")
        frequencies[word] = int(count)
    return frequencies
