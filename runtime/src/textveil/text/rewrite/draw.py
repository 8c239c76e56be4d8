"""Sampling of outputs: by the mechanism for randomized tokens, uniformly for replaced ones.

A replaced token becomes a surrogate of its type, independently of the token.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from textveil.mechanisms import entropy
from textveil.mechanisms.integer_sampling import Integers, draw_uniform_below
from textveil.text.rewrite.cut import RANDOMIZED, REPLACED
from textveil.text.rewrite.read import TokenArrays
from textveil.text.segmentation import LOWER


class DrawSlots(NamedTuple):
    """Slots of the new draws of a reading, as ``textveil.mechanisms.protocol.Slots``.

    Attributes:
        tokens: The reading.
        randomized: Indices of the new draws that the mechanism makes.
        all_lower: For each new draw whether all of its slots are in lower case.
    """

    tokens: TokenArrays
    randomized: NDArray[np.intp]
    all_lower: NDArray[np.bool_]

    @property
    def is_lower(self) -> NDArray[np.bool_]:
        """Whether each slot is in lower case: a function of the template and of equalities."""
        return self.all_lower[self.randomized]

    @property
    def is_whole(self) -> NDArray[np.bool_]:
        """Whether each token is a word in one piece (``Slots.is_whole``)."""
        return self.tokens.whole[self.tokens.draws.first[self.randomized]]


def sample_outputs(tokens: TokenArrays, lower: NDArray[np.bool_] | None = None) -> Integers:
    """Return the output of every token, sampled with the operating system's entropy.

    Args:
        tokens: The tokens.
        lower: For each new draw whether all of its slots are in lower case, where ``tokens`` contains only a part of
            them.

    Returns:
        Indices of the plan's words, shape ``(tokens,)``.

    Raises:
        DocumentTooLong: Outputs are consistent, and a document has more words, names and numbers than the cap.

    Privacy:
        This is the release.
    """
    plan, draws = tokens.plan, tokens.draws
    if lower is None:
        lower = find_lower_case_draws(tokens.cases[draws.tokens], draws.copies)
    role, index = tokens.roles[draws.first], tokens.indices[draws.first]
    randomized, replaced = np.flatnonzero(role == RANDOMIZED), np.flatnonzero(role == REPLACED)
    samples = np.zeros(len(role), dtype=np.int64)
    samples[randomized] = plan.mechanism.draw_symbols(
        index[randomized], DrawSlots(tokens, randomized, lower), entropy.random_uint64
    )
    type_indices = index[replaced]
    samples[replaced] = plan.words.starts[type_indices] + draw_uniform_below(
        plan.words.counts[type_indices], entropy.random_uint64
    )
    outputs = np.zeros(len(tokens.roles), dtype=np.int64)
    outputs[draws.tokens] = np.concatenate([draws.earlier_values, samples])[draws.copies]
    return outputs


def find_lower_case_draws(cases: Integers, copies: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Return for each draw whether all of its slots are in lower case, shape ``(draws,)``.

    The result is a function of the template: of the cases of mentions and of their equality, never of a word.

    Args:
        cases: Case of the output of every mention, shape ``(n,)``.
        copies: Draw of each mention, numbered from 0 without gaps, shape ``(n,)``.
    """
    capitals = np.bincount(copies, weights=cases != LOWER)
    return capitals == 0
