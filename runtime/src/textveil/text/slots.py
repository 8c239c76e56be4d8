"""Which staircase draws a slot: the outputs may depend on the case that they are written in.

A word that is a member of a kind only with a capital (Hope, Group) may come out in lower case, where it is an ordinary
word. The case of a slot is in the skeleton, which two texts have in common, or is the same everywhere. Where draws are
consistent, so are the slots that one draw stands in. So the two texts draw a slot by one staircase, and its theorem
holds (docs/proofs/staircase.md, "Slots").
"""

from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from textveil.mechanisms.entropy import RandomUint64
from textveil.mechanisms.integer_sampling import Integers
from textveil.mechanisms.staircase.fluent import FluentStaircase
from textveil.mechanisms.staircase.staircase import Staircase
from textveil.text.segmentation import LOWER

Law = TypeVar("Law", Staircase, FluentStaircase)


@dataclass(frozen=True, eq=False)
class Slots(Generic[Law]):
    """The staircases of one level: equal epsilon and shares, each with the base of its own outputs.

    Attributes:
        strict: Its outputs may be written in any case.
        lower: Its outputs may be written in lower case; ``strict`` itself where case decides nothing.
    """

    strict: Law
    lower: Law

    def of(self, case: int) -> Law:
        """Returns the staircase of a draw that stands in slots of one case.

        Args:
            case: The case that the output is written in.
        """
        return self.lower if case == LOWER else self.strict

    def draw(self, lower: NDArray[np.bool_], random_uint64: RandomUint64, *each: Integers) -> Integers:
        """Draws outputs independently, shape ``(n,)``.

        Args:
            lower: Which of them are written in lower case alone, shape ``(n,)``.
            random_uint64: Gives uniform words.
            each: What a staircase draws each by: input ids, ``<unk>`` last, shape ``(n,)``; and contexts, shape
                ``(n, 4)``, where the base follows the text.

        Privacy:
            As ``Staircase.draw``. Which outputs are drawn together depends on ``lower`` alone.
        """
        if self.lower is self.strict:
            return self.strict.draw(*each, random_uint64=random_uint64)
        outputs = np.empty(len(lower), dtype=np.int64)
        for staircase, chosen in ((self.strict, ~lower), (self.lower, lower)):
            places = np.flatnonzero(chosen)
            if len(places):
                outputs[places] = staircase.draw(*(of[places] for of in each), random_uint64=random_uint64)
        return outputs

    @property
    def near(self) -> float:
        """``p_near`` of the slots where it is larger."""
        return max(self.strict.near, self.lower.near)

    @property
    def guess_gain(self) -> float:
        """``C`` of the slots where it is larger."""
        return max(self.strict.guess_gain, self.lower.guess_gain)


def lower_alone(cases: Integers, copies: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Tells which draws stand in slots of lower case alone, shape ``(draws,)``.

    A function of the skeleton: of the cases of mentions and of which are equal, never of a word.

    Args:
        cases: Case that the output is written in, of every mention, shape ``(n,)``.
        copies: The draw of each mention, from 0 on without a gap, shape ``(n,)``.
    """
    capitals = np.bincount(copies, weights=cases != LOWER)
    return capitals == 0
