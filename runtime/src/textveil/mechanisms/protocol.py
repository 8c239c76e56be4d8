"""Every mechanism draws one symbol for every input. It stands behind one protocol, and knows nothing of text.

| name | mechanism | module |
|---|---|---|
| ``staircase`` | two-valued pure LDP over a base and stored neighbors | ``staircase.slots`` |
| ``santext`` | exponential mechanism over word distances (Yue et al. 2021, Eq. 1) | ``baselines.santext`` |
| ``santext+`` | the same; common words are kept with probability ``1 - p`` (Algorithm 2) | ``baselines.santext_plus`` |
| ``krr`` | k-ary randomized response | ``baselines.randomized_response`` |
| ``random`` | uniform over the outputs | ``baselines.randomized_response`` |
| ``fbdd`` | noise on the vector, then the nearest word (Feyisetan et al. 2020) | ``baselines.fbdd`` |

All but ``fbdd`` are integer weights over the outputs: their output distribution is a ``Channel``.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from textveil.errors import OptionError
from textveil.mechanisms.entropy import RandomUint64
from textveil.mechanisms.integer_sampling import Integers

if TYPE_CHECKING:
    from textveil.mechanisms.channel import Channel


class Slots(Protocol):
    """The places of some draws: all that a mechanism may look at beside the inputs."""

    @property
    def lower(self) -> NDArray[np.bool_]:
        """Which outputs are written in lower case alone, shape ``(draws,)``."""
        ...

    @property
    def whole(self) -> NDArray[np.bool_]:
        """Which inputs are words in one piece, shape ``(draws,)``."""
        ...


@dataclass(frozen=True)
class Alone:
    """Slots of words that stand alone.

    Attributes:
        lower: As ``Slots.lower``.
        whole: As ``Slots.whole``.
    """

    lower: NDArray[np.bool_]
    whole: NDArray[np.bool_]

    @classmethod
    def of(cls, count: int, *, lower: bool = False, whole: bool = True) -> "Alone":
        """Returns so many slots that are all alike."""
        return cls(np.full(count, lower), np.full(count, whole))


class Mechanism(Protocol):
    """Draws a random symbol for every input (a symbol id, or the number of symbols for ``<unk>``)."""

    def draw(self, inputs: Integers, slots: Slots, random_uint64: RandomUint64) -> Integers:
        """Draws one symbol for each input, shape ``(n,)``.

        Args:
            inputs: Input ids, shape ``(n,)``.
            slots: Where they stand.
            random_uint64: Gives uniform words.

        Privacy:
            The release itself. What is drawn for a slot is a function of its input, of its slot and fresh randomness.
        """
        ...

    def channel_at(self, *, lower: bool = False, whole: bool = True) -> "Channel":
        """Returns the output distribution of a slot.

        Raises:
            OptionError: It has no integer weights (``fbdd``).
        """
        ...


class PerInput(Protocol):
    """Draws for inputs, wherever they stand."""

    def draw(self, inputs: Integers, random_uint64: RandomUint64) -> Integers:
        """Draws one output for each input, independently, shape ``(n,)``."""
        ...


@dataclass(frozen=True, eq=False)
class Everywhere:
    """A mechanism that draws by the input alone.

    Attributes:
        law: Draws for inputs.
        channel: Gives its output distribution; ``None`` where there are no integer weights.
    """

    law: PerInput
    channel: "Callable[[], Channel] | None"

    def draw(self, inputs: Integers, slots: Slots, random_uint64: RandomUint64) -> Integers:
        """Implements ``Mechanism.draw``; the slots do not matter."""
        return self.law.draw(inputs, random_uint64)

    def channel_at(self, *, lower: bool = False, whole: bool = True) -> "Channel":
        """Implements ``Mechanism.channel_at``: the same everywhere."""
        if self.channel is None:
            raise OptionError("fbdd has no table of weights: its distribution is known from draws only")
        return self.channel()
