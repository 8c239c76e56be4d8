"""Divide an attacker's raw texts for counting, tuning and training; similar texts stay together."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from textveil.text import is_gap

Ints = NDArray[Any]
SegmentedTexts = Sequence[list[str]]
"""Texts, each as a list of segments (tokens and gaps)."""
#: Number of words in a row that two texts share if they are near each other.
_NEAR = 5
_START = 3


def choose_held_out_rows(cut: SegmentedTexts, count: int, seed: int = 1) -> Ints:
    """Choose random texts to hold out among the longer half of the texts; equal seeds give equal rows.

    Args:
        cut: Texts, each as a list of segments (tokens and gaps).
        count: Largest number of rows to choose.
        seed: Seed of the choice.
    """
    lengths = np.array([len(segments_) for segments_ in cut])
    long = np.flatnonzero(lengths >= np.quantile(lengths, 0.5))
    rows = np.random.default_rng(seed).choice(long, min(count, len(long) // 2), replace=False)
    return np.sort(rows)


def find_near_texts(cut: SegmentedTexts, others: SegmentedTexts) -> NDArray[np.bool_]:
    """Find the texts that share five consecutive words with one of ``others``, or are contained in one of them.

    Args:
        cut: Texts to check, each as a list of segments (tokens and gaps).
        others: The other texts.

    Returns:
        A boolean for each text of ``cut``; false for a text of one or two words.
    """
    seen: set[tuple[str, ...]] = set()
    for text in map(_fold_text, others):
        for size in range(1, _NEAR + 1):
            seen.update(tuple(text[at : at + size]) for at in range(len(text) - size + 1))
    found = np.zeros(len(cut), dtype=bool)
    for number, text in enumerate(map(_fold_text, cut)):
        size = min(_NEAR, len(text))
        # A phrase of one or two words occurs in many texts, so it does not make texts similar.
        found[number] = size > 2 and any(tuple(text[at : at + size]) in seen for at in range(len(text) - size + 1))
    return found


def exclude_near_texts(cut: SegmentedTexts, attacked: SegmentedTexts) -> tuple[SegmentedTexts, dict[str, int]]:
    """Remove texts that share five consecutive words with an attacked text, or are contained in one.

    Args:
        cut: Texts, each as a list of segments (tokens and gaps).
        attacked: The attacked texts.

    Returns:
        The remaining texts; and the numbers of remaining texts, of their words, and of removed texts.
    """
    close = find_near_texts(cut, attacked)
    kept = [text for text, is_close in zip(cut, close.tolist(), strict=True) if not is_close]
    return kept, {"texts": len(kept), "words": sum(map(len, map(_fold_text, kept))), "left_out": int(close.sum())}


def _fold_text(text: list[str]) -> list[str]:
    """Return the words of a text in lower case, without punctuation and spacing."""
    return [segment.lower() for segment in text if not is_gap(segment)]


def drop_contained_rows(cut: SegmentedTexts, rows: Ints) -> Ints:
    """Select the rows whose text is not contained in the text of another row of ``rows``.

    So the words of a contained text are not counted twice.

    Args:
        cut: Texts, each as a list of segments (tokens and gaps).
        rows: Indices of texts.
    """
    words = {row: [part.lower() for part in cut[row] if not part.isspace()] for row in rows.tolist()}
    seen: dict[tuple[str, ...], list[str]] = {}
    kept: list[int] = []
    for row in sorted(words, key=lambda row: -len(words[row])):
        of, text = words[row], f" {' '.join(words[row])} "
        if any(text in other for other in seen.get(tuple(of[:_START]), ())):
            continue
        kept.append(row)
        # Index all first words that a phrase of this row can have; short phrases have fewer than _START words.
        starts = {tuple(of[at : at + size]) for size in range(1, _START + 1) for at in range(len(of) - size + 1)}
        for start in starts:
            found = seen.setdefault(start, [])
            if len(start) == _START or not found:
                found.append(text)
    return np.sort(np.array(kept, dtype=int))
