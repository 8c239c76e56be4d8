"""The staircase mechanism for texts. Words in lower case have more possible outputs than all other words.

A *slot* is the set of places in a text that receive the output of one sample. Some words, such as Hope and Group, are
names only if they have a capital. In lower case they are ordinary words. Therefore more outputs are possible in slots
in lower case.

These additional outputs do not weaken the privacy guarantee, which compares two texts with the same template (all parts
of the text that are not randomized). Whether a slot is in lower case follows from the template. With consistent
sampling, each sample has the same places in both texts. So in both texts the same mechanism samples the output of a
slot, and its theorem holds (docs/proofs/staircase.md, "Texts").
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


@dataclass(frozen=True, eq=False, repr=False)
class SlotStaircases:
    """The two staircase mechanisms of one epsilon: one for words in lower case, and one for all other words.

    Both have equal parameters, but different possible outputs.

    Attributes:
        any_case: Mechanism for places in a text where the output may have any case.
        lower_case: Mechanism for places where the output is always in lower case. It is the same object as ``any_case``
            if the possible outputs are equal.

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
        """Probability that an output comes from words near its input: the larger value of the two mechanisms.

        See ``Staircase.near_probability``.
        """
        return max(self.any_case.near_probability, self.lower_case.near_probability)

    @property
    def guess_gain(self) -> float:
        """Upper bound of an attacker's advantage (``Staircase.guess_gain``): the larger value of the two mechanisms."""
        return max(self.any_case.guess_gain, self.lower_case.guess_gain)

    def draw_symbols(self, inputs: Integers, slots: "Slots", random_uint64: RandomUint64) -> Integers:
        """Sample one output word for each input word, with the mechanism for the letter case of the output.

        Privacy:
            See ``Staircase.draw_symbols``. Only ``slots.is_lower`` determines which of the two mechanisms samples an
            output.
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
        """Return the output distribution for words in lower case if ``lower`` is true, else that for other words."""
        from textveil.mechanisms.staircase.staircase_randomizer import make_staircase_randomizer

        return make_staircase_randomizer(self.lower_case if lower else self.any_case)
