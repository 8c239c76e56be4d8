"""The staircase as a mechanism: which staircase draws a slot.

A word that is a member of a kind only with a capital (Hope, Group) may come out in lower case, where it is an ordinary
word. The case of a slot is in the skeleton, which two texts have in common, or is the same everywhere. Where draws are
consistent, so are the slots that one draw stands in. So the two texts draw a slot by one staircase, and its theorem
holds (docs/proofs/staircase.md, "Slots").
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from textveil.mechanisms.entropy import RandomUint64
from textveil.mechanisms.integer_sampling import Integers
from textveil.mechanisms.staircase.staircase import Staircase

if TYPE_CHECKING:
    from textveil.mechanisms.channel import Channel
    from textveil.mechanisms.protocol import Slots


@dataclass(frozen=True, eq=False)
class SlotStaircase:
    """The staircases of one level: equal epsilon and shares, each with the base of its own outputs.

    Attributes:
        strict: Its outputs may be written in any case.
        lower: Its outputs may be written in lower case; ``strict`` itself where case decides nothing.
    """

    strict: Staircase
    lower: Staircase

    @property
    def near(self) -> float:
        """``p_near`` of the slots where it is larger."""
        return max(self.strict.near, self.lower.near)

    @property
    def guess_gain(self) -> float:
        """``C`` of the slots where it is larger."""
        return max(self.strict.guess_gain, self.lower.guess_gain)

    def draw(self, inputs: Integers, slots: "Slots", random_uint64: RandomUint64) -> Integers:
        """Implements ``Mechanism.draw``: each slot by the staircase of its case.

        Privacy:
            As ``Staircase.draw``. Which outputs are drawn together depends on ``slots.lower`` alone.
        """
        if self.lower is self.strict:
            return self.strict.draw(inputs, random_uint64)
        lower = slots.lower
        outputs = np.empty(len(inputs), dtype=np.int64)
        for staircase, chosen in ((self.strict, ~lower), (self.lower, lower)):
            places = np.flatnonzero(chosen)
            if len(places):
                outputs[places] = staircase.draw(inputs[places], random_uint64)
        return outputs

    def channel_at(self, *, lower: bool = False, whole: bool = True) -> "Channel":
        """Implements ``Mechanism.channel_at``."""
        from textveil.mechanisms.staircase.channel import staircase_channel

        return staircase_channel(self.lower if lower else self.strict)
