"""The staircase as a mechanism: which staircase draws a slot, and in which order slots are drawn.

A word that is a member of a kind only with a capital (Hope, Group) may come out in lower case, where it is an ordinary
word. The case of a slot is in the skeleton, which two texts have in common, or is the same everywhere. Where draws are
consistent, so are the slots that one draw stands in. So the two texts draw a slot by one staircase, and its theorem
holds (docs/proofs/staircase.md, "Slots").
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from textveil.mechanisms.entropy import RandomUint64
from textveil.mechanisms.integer_sampling import Integers
from textveil.mechanisms.protocol import CONTEXT_POSITIONS, Elements, Slots, Unordered
from textveil.mechanisms.staircase.fluent import FluentStaircase
from textveil.mechanisms.staircase.staircase import Staircase

if TYPE_CHECKING:
    from textveil.mechanisms.channel import Channel

Law = TypeVar("Law", Staircase, FluentStaircase)
#: The position of the one element that may be an output.
_BEFORE = CONTEXT_POSITIONS.index(-1)


@dataclass(frozen=True, eq=False)
class _ByCase(Generic[Law]):
    """The staircases of one level: equal epsilon and shares, each with the base of its own outputs.

    Attributes:
        strict: Its outputs may be written in any case.
        lower: Its outputs may be written in lower case; ``strict`` itself where case decides nothing.
    """

    strict: Law
    lower: Law

    @property
    def near(self) -> float:
        """``p_near`` of the slots where it is larger."""
        return max(self.strict.near, self.lower.near)

    @property
    def guess_gain(self) -> float:
        """``C`` of the slots where it is larger."""
        return max(self.strict.guess_gain, self.lower.guess_gain)

    def draw_each(self, lower: NDArray[np.bool_], random_uint64: RandomUint64, *each: Integers) -> Integers:
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


class SlotStaircase(_ByCase[Staircase], Unordered):
    """The staircase: each slot by that of its case."""

    def draw(self, inputs: Integers, slots: Slots, random_uint64: RandomUint64) -> Integers:
        """Implements ``Mechanism.draw``."""
        return self.draw_each(slots.lower, random_uint64, inputs)

    def channel_at(self, *, lower: bool = False, whole: bool = True) -> "Channel":
        """Implements ``Mechanism.channel_at``."""
        from textveil.mechanisms.staircase.channel import staircase_channel

        return staircase_channel(self.lower if lower else self.strict)


class FluentSlots(_ByCase[FluentStaircase]):
    """The same with a base that follows the text: a slot is drawn after the one right before it.

    A context is a function of the skeleton and of what was drawn before in the same document, never of an input.
    """

    @property
    def elements(self) -> Elements:
        """The numbers of what stands around a slot."""
        return self.strict.context.elements

    def draw(self, inputs: Integers, slots: Slots, random_uint64: RandomUint64) -> Integers:
        """Implements ``Mechanism.draw``.

        Privacy:
            Which slots are drawn together, and in how many steps, depends on the skeleton alone.
        """
        contexts, before, made = slots.around(self.elements)
        known, lower = len(made), slots.lower
        outputs = np.concatenate([made, np.full(len(inputs), -1)]).astype(np.int64)
        for ready in _steps(before, known):
            of_step, told = contexts[ready], before[ready] >= 0
            of_step[told, _BEFORE] = outputs[before[ready[told]]]
            outputs[known + ready] = self.draw_each(lower[ready], random_uint64, inputs[ready], of_step)
        return outputs[known:]

    def channel_at(self, *, lower: bool = False, whole: bool = True) -> "Channel":
        """Implements ``Mechanism.channel_at``: with nothing around it."""
        from textveil.mechanisms.staircase.channel import staircase_channel

        return staircase_channel((self.lower if lower else self.strict).alone)


def _steps(before: NDArray[np.intp], known: int) -> Iterator[NDArray[np.intp]]:
    """Yields draws whose draw before is done, until all are; so many are done from the start."""
    done = np.arange(known + len(before)) < known
    waiting = np.arange(len(before))
    while len(waiting):
        free = (before[waiting] < 0) | done[before[waiting]]
        yield waiting[free]
        done[known + waiting[free]] = True
        waiting = waiting[~free]
