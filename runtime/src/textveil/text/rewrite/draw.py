"""Draws what the skeleton does not show: drawn tokens by the mechanism, replaced ones from the lists of their kinds."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from textveil.mechanisms import entropy
from textveil.mechanisms.integer_sampling import Integers, uniform_below
from textveil.text.rewrite.cut import DRAWN, REPLACED
from textveil.text.rewrite.read import Reading
from textveil.text.segmentation import LOWER


class Places(NamedTuple):
    """Where the new draws of a reading stand: ``textveil.mechanisms.protocol.Slots``.

    Attributes:
        read: The reading.
        drawn: Which of its new draws are made by the mechanism.
        all_lower: Which new draws stand in slots of lower case alone.
    """

    read: Reading
    drawn: NDArray[np.intp]
    all_lower: NDArray[np.bool_]

    @property
    def lower(self) -> NDArray[np.bool_]:
        """Implements ``Slots.lower``: a function of the skeleton, and of which tokens are equal."""
        return self.all_lower[self.drawn]

    @property
    def whole(self) -> NDArray[np.bool_]:
        """Implements ``Slots.whole``."""
        return self.read.whole[self.read.draws.first[self.drawn]]


def draw(read: Reading, lower: NDArray[np.bool_] | None = None) -> Integers:
    """Returns the word that every token becomes, an index of the plan's words, with the operating system's entropy.

    Args:
        read: The tokens.
        lower: Which new draws stand in slots of lower case alone, where not all of those slots are read.

    Raises:
        DocumentTooLong: Draws are consistent, and a document has more words, names and numbers than the cap.

    Privacy:
        The release itself.
    """
    plan, draws = read.plan, read.draws
    if lower is None:
        lower = lower_alone(read.cases[draws.tokens], draws.copies)
    role, index = read.roles[draws.first], read.indices[draws.first]
    drawn, replaced = np.flatnonzero(role == DRAWN), np.flatnonzero(role == REPLACED)
    new = np.zeros(len(role), dtype=np.int64)
    new[drawn] = plan.mechanism.draw(index[drawn], Places(read, drawn, lower), entropy.random_uint64)
    kinds = index[replaced]
    new[replaced] = plan.words.starts[kinds] + uniform_below(plan.words.counts[kinds], entropy.random_uint64)
    outputs = np.zeros(len(read.roles), dtype=np.int64)
    outputs[draws.tokens] = np.concatenate([draws.made, new])[draws.copies]
    return outputs


def lower_alone(cases: Integers, copies: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Tells which draws stand in slots of lower case alone, shape ``(draws,)``.

    A function of the skeleton: of the cases of mentions and of which are equal, never of a word.

    Args:
        cases: Case that the output is written in, of every mention, shape ``(n,)``.
        copies: The draw of each mention, from 0 on without a gap, shape ``(n,)``.
    """
    capitals = np.bincount(copies, weights=cases != LOWER)
    return capitals == 0
