"""The interface of all mechanisms that replace words at random. A mechanism samples one word for every input.

A mechanism never sees text. Its inputs and outputs are *symbols*: the words or WordPieces of a vocabulary, as integer
ids. An input may also be ``<unk>``.

| name | mechanism | module |
|---|---|---|
| ``staircase`` | two-valued pure LDP over a base and stored neighbors | ``staircase.slots`` |
| ``santext`` | exponential mechanism over word distances (Yue et al. 2021, Eq. 1) | ``baselines.santext`` |
| ``santext+`` | the same; common words stay with probability ``1 - p`` (Algorithm 2) | ``baselines.santext_plus`` |
| ``krr`` | k-ary randomized response | ``baselines.randomized_response`` |
| ``random`` | uniform over the outputs | ``baselines.randomized_response`` |
| ``fbdd`` | noise on the vector, then the nearest word (Feyisetan et al. 2020) | ``baselines.fbdd`` |

Every mechanism except ``fbdd`` has exact integer weights for its outputs. A ``Randomizer`` describes the output
distribution of such a mechanism.
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
    """Properties of the places in a text that receive the output words of a mechanism.

    A *slot* is the set of all places that receive the same sampled word. If equal words are replaced consistently, a
    slot has several places.

    A mechanism receives no other information besides the inputs.

    Example:
        >>> slots: Slots = IsolatedSlots.make_equal(2)
        >>> slots.is_whole.tolist()
        [True, True]
    """

    @property
    def is_lower(self) -> NDArray[np.bool_]:
        """For each sampled word, whether it is in lower case at all its places in the text; shape ``(draws,)``."""
        ...

    @property
    def is_whole(self) -> NDArray[np.bool_]:
        """For each sampled word, whether its input is a whole word, not a part of a word; shape ``(draws,)``."""
        ...


@dataclass(frozen=True)
class IsolatedSlots:
    """Properties of places (``Slots``) for sampling words that belong to no text.

    Attributes:
        is_lower: For each sample, whether to treat its output as a word in lower case, as if all its places in a text
            were in lower case.
        is_whole: For each sample, whether the input is a whole word instead of a part of a word.

    Example:
        >>> IsolatedSlots.make_equal(2, lower=True).is_lower.tolist()
        [True, True]
    """

    is_lower: NDArray[np.bool_]
    is_whole: NDArray[np.bool_]

    @classmethod
    def make_equal(cls, count: int, *, lower: bool = False, whole: bool = True) -> "IsolatedSlots":
        """Create the properties of ``count`` sampled words that belong to no text. All words get the same properties.

        Args:
            count: Number of words.
            lower: Whether to treat outputs as words in lower case (``is_lower``).
            whole: Whether inputs are whole words.
        """
        return cls(np.full(count, lower), np.full(count, whole))


class Mechanism(Protocol):
    """Interface of a mechanism, which samples a random output word for every input word.

    Inputs are ids of words of the vocabulary (*symbols*). The number of symbols is the id of ``<unk>``, which stands
    for all unknown words.

    Example:
        >>> from textveil.mechanisms import random_uint64
        >>> from textveil.mechanisms.baselines import RandomizedResponse
        >>> mechanism: Mechanism = SlotlessMechanism(RandomizedResponse(np.array([1, 0]), tail=1, excess=0), None)
        >>> mechanism.draw_symbols(np.array([0, 1]), IsolatedSlots.make_equal(2), random_uint64).tolist()
        [0, 0]
    """

    def draw_symbols(self, inputs: Integers, slots: Slots, random_uint64: RandomUint64) -> Integers:
        """Sample one output word for each input word.

        Args:
            inputs: Input ids, shape ``(n,)``.
            slots: Properties of the places in texts that receive the outputs.
            random_uint64: Function that returns a given number of independent uniform 64-bit words.

        Returns:
            Ids of words of the vocabulary, shape ``(n,)``.

        Privacy:
            Each output depends only on its input, its entry of ``slots`` and fresh randomness.
        """
        ...

    def get_randomizer(self, *, lower: bool = False, whole: bool = True) -> "Randomizer":
        """Return the output distribution of all inputs, if words are at places with the given properties.

        Args:
            lower: Whether the output is in lower case wherever it appears in the text.
            whole: Whether the input is a whole word instead of a part of a word.

        Raises:
            OptionError: The mechanism has no integer weights (``fbdd``).
        """
        ...


class InputSampler(Protocol):
    """Interface of a sampler of output words that depend only on the input words, not on their places in a text."""

    def draw_symbols(self, inputs: Integers, random_uint64: RandomUint64) -> Integers:
        """Sample one output for each input independently.

        Args:
            inputs: Input ids, shape ``(n,)``.
            random_uint64: Function that returns a given number of independent uniform 64-bit words.

        Returns:
            Ids of words of the vocabulary, shape ``(n,)``.
        """
        ...


@dataclass(frozen=True, eq=False)
class SlotlessMechanism:
    """Adapter that makes a ``Mechanism`` of a sampler whose outputs do not depend on the places in a text.

    Attributes:
        sampler: The sampler.
        make_randomizer: Function that returns the output distribution of the sampler; ``None`` if the sampler has no
            integer weights.

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
        """Sample one output word for each input word (``Mechanism.draw_symbols``). ``slots`` is ignored."""
        return self.sampler.draw_symbols(inputs, random_uint64)

    def get_randomizer(self, *, lower: bool = False, whole: bool = True) -> "Randomizer":
        """Return the output distribution of all inputs (``Mechanism.get_randomizer``).

        The arguments have no effect, because outputs do not depend on the places of words in a text.
        """
        if self.make_randomizer is None:
            raise OptionError("fbdd has no table of probabilities: estimate its output distribution from samples")
        return self.make_randomizer()
