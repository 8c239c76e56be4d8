"""The staircase mechanism as a ``Mechanism``, with a set of outputs for each kind of slot.

A *slot* is the place in a text that receives an output. A word that is a name only with a capital (Hope, Group) is an
ordinary word in lower case. So slots in lower case have their own, larger set of outputs. Whether a slot is in lower
case follows from the template, which the two texts of the guarantee have in common. With consistent sampling the two
texts also have the same slots for each sample. So one staircase samples a slot for both texts, and its theorem holds
(docs/proofs/staircase.md, "Texts").
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from textveil.mechanisms.arrays import Integers
from textveil.mechanisms.entropy import RandomUint64
from textveil.mechanisms.staircase.staircase import Staircase

if TYPE_CHECKING:
    from textveil.mechanisms.protocol import Slots
    from textveil.mechanisms.randomizer import Randomizer


@dataclass(frozen=True, eq=False)
class SlotStaircases:
    """The two staircases of one level: equal epsilon and shares, but different outputs.

    Attributes:
        any_case: Its outputs may be written in any case.
        lower_case: Its outputs may be written in lower case. The same object as ``any_case`` if case makes no
            difference.

    Example:
        >>> from textveil import Sanitizer
        >>> from textveil.text import make_plan
        >>> slots = make_plan(Sanitizer.load().bundle, epsilon=8).mechanism
        >>> slots.any_case.level.epsilon == slots.lower_case.level.epsilon
        True
    """

    any_case: Staircase
    lower_case: Staircase

    @property
    def near_probability(self) -> float:
        """Larger ``Staircase.near_probability`` of ``any_case`` and ``lower_case``."""
        return max(self.any_case.near_probability, self.lower_case.near_probability)

    @property
    def guess_gain(self) -> float:
        """Larger ``Staircase.guess_gain`` of ``any_case`` and ``lower_case``."""
        return max(self.any_case.guess_gain, self.lower_case.guess_gain)

    def draw_symbols(self, inputs: Integers, slots: "Slots", random_uint64: RandomUint64) -> Integers:
        """Sample each slot by the staircase of its case (``Mechanism.draw_symbols``).

        Privacy:
            As ``Staircase.draw_symbols``. The grouping of the samples depends only on ``slots.is_lower``.
        """
        if self.lower_case is self.any_case:
            return self.any_case.draw_symbols(inputs, random_uint64)
        lower = slots.is_lower
        outputs = np.empty(len(inputs), dtype=np.int64)
        for staircase, chosen in ((self.any_case, ~lower), (self.lower_case, lower)):
            places = np.flatnonzero(chosen)
            if len(places):
                outputs[places] = staircase.draw_symbols(inputs[places], random_uint64)
        return outputs

    def get_randomizer(self, *, lower: bool = False, whole: bool = True) -> "Randomizer":
        """Return the output distribution of one kind of slot (``Mechanism.get_randomizer``)."""
        from textveil.mechanisms.staircase.staircase_randomizer import make_staircase_randomizer

        return make_staircase_randomizer(self.lower_case if lower else self.any_case)
