"""Which staircase draws a slot: the outputs may depend on the case that they are written in.

A word that is a member of a kind only with a capital (Hope, Group) may come out in lower case, where it is an ordinary
word. The case of a slot is in the skeleton, which two texts have in common, or is the same everywhere. So the two
texts draw a slot by one staircase, and its theorem holds (docs/proofs/staircase.md, "Slots").
"""

from dataclasses import dataclass

import numpy as np

from textveil.mechanisms.entropy import RandomUint64
from textveil.mechanisms.integer_sampling import Integers
from textveil.mechanisms.staircase import Staircase
from textveil.text.segmentation import LOWER


@dataclass(frozen=True, eq=False)
class Slots:
    """The staircases of one level: equal epsilon and shares, each with the base of its own outputs.

    Attributes:
        strict: Its outputs may be written in any case.
        lower: Its outputs may be written in lower case; ``strict`` itself where case decides nothing.
    """

    strict: Staircase
    lower: Staircase

    def of(self, case: int) -> Staircase:
        """Returns the staircase of a slot.

        Args:
            case: The case that the output is written in.
        """
        return self.lower if case == LOWER else self.strict

    def draw(self, inputs: Integers, cases: Integers, random_uint64: RandomUint64) -> Integers:
        """Draws one output for every slot, independently, shape ``(n,)``.

        Args:
            inputs: Input ids, ``<unk>`` last, shape ``(n,)``.
            cases: Case that each output is written in, shape ``(n,)``.
            random_uint64: Gives uniform words.

        Privacy:
            As ``Staircase.draw``. Which slots are drawn together depends on their cases alone.
        """
        if self.lower is self.strict:
            return self.strict.draw(inputs, random_uint64)
        outputs = np.empty(len(inputs), dtype=np.int64)
        for staircase, chosen in ((self.strict, cases != LOWER), (self.lower, cases == LOWER)):
            places = np.flatnonzero(chosen)
            if len(places):
                outputs[places] = staircase.draw(inputs[places], random_uint64)
        return outputs

    @property
    def near(self) -> float:
        """``p_near`` of the slots where it is larger."""
        return max(self.strict.near, self.lower.near)

    @property
    def guess_gain(self) -> float:
        """``C`` of the slots where it is larger."""
        return max(self.strict.guess_gain, self.lower.guess_gain)
