"""The staircase mechanism as a ``Mechanism``: one staircase for each slot.

A surrogate that is a name only with a capital (Hope, Group) is an ordinary word in lower case, so slots in lower case
have their own set of outputs. The case of a slot is in the template, which the two texts of the guarantee have in
common, or is the same for all slots. With consistent sampling they also have in common the slots of one sample. So one
staircase samples a slot for both texts, and its theorem holds (docs/proofs/staircase.md, "Slots").
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
    """The staircases of one level: equal epsilon and shares, each with the base of its outputs.

    Attributes:
        strict: Its outputs are valid in any case.
        lower: Its outputs are valid in lower case; the same object as ``strict`` if case makes no difference.
    """

    strict: Staircase
    lower: Staircase

    @property
    def near(self) -> float:
        """The larger ``p_near`` of the two staircases."""
        return max(self.strict.near, self.lower.near)

    @property
    def guess_gain(self) -> float:
        """The larger ``C`` of the two staircases."""
        return max(self.strict.guess_gain, self.lower.guess_gain)

    def draw(self, inputs: Integers, slots: "Slots", random_uint64: RandomUint64) -> Integers:
        """Implement ``Mechanism.draw``: sample each slot by the staircase of its case.

        Privacy:
            As ``Staircase.draw``. The grouping of the samples depends on ``slots.lower`` alone.
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
        """Implement ``Mechanism.channel_at``."""
        from textveil.mechanisms.staircase.channel import staircase_channel

        return staircase_channel(self.lower if lower else self.strict)
