"""Sampling of outputs: by the mechanism for randomized tokens, uniformly for replaced ones.

A replaced token becomes a surrogate of its type, independently of the token.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from textveil.mechanisms import entropy
from textveil.mechanisms.integer_sampling import Integers, uniform_below
from textveil.text.rewrite.cut import DRAWN, REPLACED
from textveil.text.rewrite.read import Reading
from textveil.text.segmentation import LOWER


class Places(NamedTuple):
    """Slots of the new draws of a reading, as ``textveil.mechanisms.protocol.Slots``.

    Attributes:
        read: The reading.
        drawn: Indices of the new draws that the mechanism makes.
        all_lower: For each new draw whether all of its slots are in lower case.
    """

    read: Reading
    drawn: NDArray[np.intp]
    all_lower: NDArray[np.bool_]

    @property
    def lower(self) -> NDArray[np.bool_]:
        """Whether each slot is in lower case: a function of the template and of equalities."""
        return self.all_lower[self.drawn]

    @property
    def whole(self) -> NDArray[np.bool_]:
        """Whether each token is a word in one piece (``Slots.whole``)."""
        return self.read.whole[self.read.draws.first[self.drawn]]


def draw(read: Reading, lower: NDArray[np.bool_] | None = None) -> Integers:
    """Return the output of every token, sampled with the operating system's entropy.

    Args:
        read: The tokens.
        lower: For each new draw whether all of its slots are in lower case, where ``read`` contains only a part of
        them.

    Returns:
        Indices of the plan's words, shape ``(tokens,)``.

    Raises:
        DocumentTooLong: Outputs are consistent, and a document has more words, names and numbers than the cap.

    Privacy:
        This is the release.
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
    """Return for each draw whether all of its slots are in lower case, shape ``(draws,)``.

    The result is a function of the template: of the cases of mentions and of their equality, never of a word.

    Args:
        cases: Case of the output of every mention, shape ``(n,)``.
        copies: Draw of each mention, numbered from 0 without gaps, shape ``(n,)``.
    """
    capitals = np.bincount(copies, weights=cases != LOWER)
    return capitals == 0
