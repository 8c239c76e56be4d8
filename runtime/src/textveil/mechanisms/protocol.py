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
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from textveil.errors import OptionError
from textveil.mechanisms.entropy import RandomUint64
from textveil.mechanisms.integer_sampling import Integers

if TYPE_CHECKING:
    from textveil.mechanisms.channel import Channel

#: Mechanisms that draw everything. The staircase draws what a skeleton leaves.
MECHANISMS = ("santext", "santext+", "random", "krr", "fbdd")
#: Where the four elements of a context stand, counted from the drawn mention.
CONTEXT_POSITIONS = (-2, -1, 1, 2)
#: What a mark of punctuation is as an element; all others are one more.
CONTEXT_MARKS = ".,;:!?-()'\""


@dataclass(frozen=True)
class Elements:
    """Numbers of what may stand around a mention: symbols first, then these.

    Attributes:
        symbols: Number of symbols of the vocabulary.
        kinds: Number of kinds, drawn marks of punctuation among them.
    """

    symbols: int
    kinds: int

    @property
    def other(self) -> int:
        """A visible word that is not a symbol."""
        return self.symbols

    @property
    def drawn(self) -> int:
        """A drawn mention of which nothing is told but its place."""
        return self.symbols + 1

    @property
    def first_kind(self) -> int:
        """The first kind; the others follow."""
        return self.symbols + 2

    @property
    def first_mark(self) -> int:
        """The first mark of ``CONTEXT_MARKS``; the others follow, then any other mark."""
        return self.first_kind + self.kinds

    def mark(self, character: str) -> int:
        """Returns a mark of punctuation as an element."""
        found = CONTEXT_MARKS.find(character)
        return self.first_mark + (found if found >= 0 else len(CONTEXT_MARKS))

    @property
    def edge(self) -> int:
        """Beyond the start or the end of a document."""
        return self.first_mark + len(CONTEXT_MARKS) + 1

    @property
    def count(self) -> int:
        """How many elements there are."""
        return self.edge + 1


class Surroundings(NamedTuple):
    """What stands around some draws: a function of the skeleton and of what was drawn before.

    Attributes:
        contexts: The elements around each draw as the skeleton shows them, shape ``(draws, 4)``.
        before: The draw that stands right before each one: its place among ``made``, and these draws after them; -1
            where that is none, or is not looked at.
        made: What the draws that were made before became.
    """

    contexts: Integers
    before: NDArray[np.intp]
    made: Integers


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

    def around(self, elements: Elements) -> Surroundings:
        """Returns what stands around the draws, in the numbers of a table of contexts."""
        ...


@dataclass(frozen=True)
class Alone:
    """Slots of words that stand alone, with nothing around them.

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

    def around(self, elements: Elements) -> Surroundings:
        """Implements ``Slots.around``: edges."""
        nothing = np.empty(0, dtype=np.int64)
        return Surroundings(np.full((len(self.lower), 4), elements.edge), np.full(len(self.lower), -1), nothing)


class Mechanism(Protocol):
    """Draws a random symbol for every input (a symbol id, or the number of symbols for ``<unk>``)."""

    @property
    def elements(self) -> Elements | None:
        """The numbers of what it looks at around a slot; ``None`` if it looks at nothing there."""
        ...

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
        """Returns the output distribution in a slot that stands alone.

        Raises:
            OptionError: It has no integer weights (``fbdd``).
        """
        ...


class Unordered:
    """What mechanisms have in common that look at nothing around a slot."""

    @property
    def elements(self) -> None:
        """Implements ``Mechanism.elements``."""
        return


class PerInput(Protocol):
    """Draws for inputs, wherever they stand."""

    def draw(self, inputs: Integers, random_uint64: RandomUint64) -> Integers:
        """Draws one output for each input, independently, shape ``(n,)``."""
        ...


@dataclass(frozen=True, eq=False)
class Everywhere(Unordered):
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
