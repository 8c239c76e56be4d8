"""The interface of all mechanisms that randomize words: sample one symbol for every input.

A mechanism never sees text. Its inputs and outputs are *symbols*: the words or WordPieces of a vocabulary, as integer
ids. An input may also be ``<unk>``.

| name | mechanism | module |
|---|---|---|
| ``staircase`` | two-valued pure LDP over a base and stored neighbors | ``staircase.slots`` |
| ``santext`` | exponential mechanism over word distances (Yue et al. 2021, Eq. 1) | ``baselines.santext`` |
| ``santext+`` | the same; common words are kept with probability ``1 - p`` (Algorithm 2) | ``baselines.santext_plus`` |
| ``krr`` | k-ary randomized response | ``baselines.randomized_response`` |
| ``random`` | uniform over the outputs | ``baselines.randomized_response`` |
| ``fbdd`` | noise on the vector, then the nearest word (Feyisetan et al. 2020) | ``baselines.fbdd`` |

Every mechanism except ``fbdd`` has exact integer weights for its outputs, so a ``Randomizer`` can describe its output
distribution.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from textveil.errors import OptionError
from textveil.mechanisms.arrays import Integers
from textveil.mechanisms.entropy import RandomUint64

if TYPE_CHECKING:
    from textveil.mechanisms.randomizer import Randomizer


class Slots(Protocol):
    """The places in texts that receive the outputs of some samples: one *slot* for each sample.

    They are all that a mechanism receives besides the inputs.

    Example:
        >>> slots: Slots = IsolatedSlots.make_equal(2)
        >>> slots.is_whole.tolist()
        [True, True]
    """

    @property
    def is_lower(self) -> NDArray[np.bool_]:
        """For each sample, whether its output is always written in lower case, shape ``(draws,)``."""
        ...

    @property
    def is_whole(self) -> NDArray[np.bool_]:
        """For each sample, whether its input is a whole word, not a part of one, shape ``(draws,)``."""
        ...


@dataclass(frozen=True)
class IsolatedSlots:
    """Slots of words that are sampled without a text.

    Attributes:
        is_lower: As ``Slots.is_lower``.
        is_whole: As ``Slots.is_whole``.

    Example:
        >>> IsolatedSlots.make_equal(2, lower=True).is_lower.tolist()
        [True, True]
    """

    is_lower: NDArray[np.bool_]
    is_whole: NDArray[np.bool_]

    @classmethod
    def make_equal(cls, count: int, *, lower: bool = False, whole: bool = True) -> "IsolatedSlots":
        """Create ``count`` equal slots."""
        return cls(np.full(count, lower), np.full(count, whole))


class Mechanism(Protocol):
    """Samples a symbol for every input: a symbol id, or the number of symbols for ``<unk>``.

    Example:
        >>> from textveil.mechanisms import random_uint64
        >>> from textveil.mechanisms.baselines import RandomizedResponse
        >>> mechanism: Mechanism = SlotlessMechanism(RandomizedResponse(np.array([1, 0]), tail=1, excess=0), None)
        >>> mechanism.draw_symbols(np.array([0, 1]), IsolatedSlots.make_equal(2), random_uint64).tolist()
        [0, 0]
    """

    def draw_symbols(self, inputs: Integers, slots: Slots, random_uint64: RandomUint64) -> Integers:
        """Sample one symbol for each input, shape ``(n,)``.

        Args:
            inputs: Input ids, shape ``(n,)``.
            slots: Where the outputs are written.
            random_uint64: Returns a given number of independent uniform 64-bit words.

        Privacy:
            This is the release. Each output depends only on its input, its slot and fresh randomness.
        """
        ...

    def get_randomizer(self, *, lower: bool = False, whole: bool = True) -> "Randomizer":
        """Return the output distribution of all inputs, for one kind of slot.

        Args:
            lower: Whether the output is always written in lower case.
            whole: Whether the input is a whole word, not a part of one.

        Raises:
            OptionError: The mechanism has no integer weights (``fbdd``).
        """
        ...


class InputSampler(Protocol):
    """A mechanism whose samples do not depend on slots, only on inputs."""

    def draw_symbols(self, inputs: Integers, random_uint64: RandomUint64) -> Integers:
        """Sample one output for each input, independently, shape ``(n,)``."""
        ...


@dataclass(frozen=True, eq=False)
class SlotlessMechanism:
    """Makes a ``Mechanism`` from a sampler that does not use slots.

    Attributes:
        sampler: Samples outputs for inputs.
        make_randomizer: Returns the output distribution of the sampler; ``None`` if it has no integer weights.

    Example:
        >>> from textveil.mechanisms import random_uint64
        >>> from textveil.mechanisms.baselines import RandomizedResponse
        >>> sampler = RandomizedResponse(np.array([1, 0]), tail=1, excess=0)  # only symbol 0 is an output
        >>> mechanism = SlotlessMechanism(sampler, lambda: sampler.randomizer)
        >>> mechanism.draw_symbols(np.array([0, 1]), IsolatedSlots.make_equal(2), random_uint64).tolist()
        [0, 0]
    """

    sampler: InputSampler
    make_randomizer: "Callable[[], Randomizer] | None"

    def draw_symbols(self, inputs: Integers, slots: Slots, random_uint64: RandomUint64) -> Integers:
        """Sample as ``Mechanism.draw_symbols``; ``slots`` is ignored."""
        return self.sampler.draw_symbols(inputs, random_uint64)

    def get_randomizer(self, *, lower: bool = False, whole: bool = True) -> "Randomizer":
        """Return the distribution as ``Mechanism.get_randomizer``; it is the same for every slot."""
        if self.make_randomizer is None:
            raise OptionError("fbdd has no table of probabilities: estimate its output distribution from samples")
        return self.make_randomizer()
