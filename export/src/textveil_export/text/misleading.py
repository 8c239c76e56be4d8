"""Words that would mislead in the place of another one: its opposites, and alarming words.

Stored lists may be anything, and the base is one vector for all inputs (docs/proofs/staircase.md). An opposite is left
out of a list, an alarming word of the lists of all others, and its base is divided. Any word may become one with many
opposites by its base, also each of these: it is a little smaller.
"""

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textveil_export.errors import SourceError
from textveil_export.text.sources import read_lines

#: What the base of an alarming word is divided by.
ALARMING_DIVISOR = 10
#: What the base of a word with many opposites is multiplied by, and more than how many that is. By the list
#: english-3-opposites.txt these are VADER's good words and bad ones: they have 960 or more, all others fewer than 140.
OPPOSED_SHARE, MANY = Fraction(17, 20), 500


@dataclass(frozen=True)
class Misleading:
    """Public lists: pairs of opposites, in both orders, and words that no other word becomes."""

    opposites: frozenset[tuple[str, str]] = frozenset()
    alarming: frozenset[str] = frozenset()

    @classmethod
    def read(cls, opposites: Path | None, alarming: Path | None) -> "Misleading":
        """Reads both lists: words, a tab and the opposites of each of them per line; an alarming word per line.

        Raises:
            SourceError: A list cannot be read, or a line has another form.
        """
        sides = [[side.split() for side in line.split("\t")] for line in (read_lines(opposites) if opposites else ())]
        if not all(len(pair) == 2 and all(pair) for pair in sides):
            raise SourceError("opposites: a line is not words, a tab and their opposites")
        pairs = {pair for one, other in sides for pair in (*product(one, other), *product(other, one))}
        return cls(frozenset(pairs), frozenset(read_lines(alarming) if alarming else ()))

    def bars(self, words: list[str], near: NDArray[Any]) -> NDArray[np.bool_]:
        """Tells which ids may not stand in the list of their row; the row itself always may. Shape of ``near``."""
        at = {word: index for index, word in enumerate(words)}
        pairs = [at[one] * len(words) + at[other] for one, other in self.opposites if one in at and other in at]
        rows, alarming = np.arange(len(near))[:, None], self.alarms(words)
        barred = np.isin(rows * len(words) + near, pairs) | (alarming[near] & ~alarming[:, None])
        return barred & (near != rows)

    def alarms(self, words: list[str]) -> NDArray[np.bool_]:
        """Tells which words are alarming, shape ``(words,)``."""
        return np.array([word in self.alarming for word in words], dtype=bool)

    def opposed(self, words: list[str]) -> NDArray[np.bool_]:
        """Tells which words have many opposites, shape ``(words,)``."""
        count = Counter(one for one, _ in self.opposites)
        return np.array([count[word] > MANY for word in words], dtype=bool)
