"""Every mechanism draws one output for every input.

| name | mechanism | module |
|---|---|---|
| ``santext`` | exponential mechanism over word distances (Yue et al. 2021, Eq. 1) | ``santext`` |
| ``santext+`` | the same, and common words are kept with probability ``1 - p`` (Algorithm 2) | ``santext_plus`` |
| ``krr`` | k-ary randomized response | ``randomized_response`` |
| ``random`` | uniform over the outputs | ``randomized_response`` |
| ``fbdd`` | noise on the vector, then the nearest word (Feyisetan et al. 2020) | ``fbdd`` |

All but ``fbdd`` are integer weights over the outputs: their output distribution is a ``Channel``.
"""

from typing import Protocol, runtime_checkable

from textveil.mechanisms.channel import Channel
from textveil.mechanisms.entropy import RandomUint64
from textveil.mechanisms.integer_sampling import Integers

MECHANISMS = ("santext", "santext+", "random", "krr", "fbdd")


class Mechanism(Protocol):
    """A random output for every input (a symbol id, or the number of symbols for ``<unk>``)."""

    def draw(self, inputs: Integers, random_uint64: RandomUint64) -> Integers:
        """Draws one output for each input, independently, shape ``(n,)``."""
        ...


@runtime_checkable
class WeightedMechanism(Mechanism, Protocol):
    """A mechanism with integer weights, whose output distribution can be computed as well as drawn from."""

    @property
    def channel(self) -> Channel:
        """The output distribution of every input."""
        ...
