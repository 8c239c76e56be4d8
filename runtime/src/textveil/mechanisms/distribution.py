"""The exact probabilities of all words that a mechanism may return for one input word (``OutputDistribution``)."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from textveil.mechanisms.randomizer import Randomizer

UNKNOWN_SYMBOL = "<unk>"


@dataclass(frozen=True)
class OutputDistribution:
    """All possible outputs for one input word, with the exact integer weight of each output.

    Attributes:
        words: The ``n`` outputs with a positive weight, in the order of the vocabulary.
        weights: Weights of these ``n`` outputs, as exact integers of any size.
        symbol: The input word; ``<unk>`` for a word outside the vocabulary.

    Example:
        >>> distribution = OutputDistribution(("ill", "sick"), (3, 1), symbol="ill")
        >>> distribution.compute_probability("ill")
        Fraction(3, 4)
        >>> distribution.list_likeliest(1)
        [('ill', 0.75)]
    """

    words: tuple[str, ...]
    weights: tuple[int, ...]
    symbol: str

    @classmethod
    def from_randomizer(cls, vocabulary: Sequence[str], randomizer: Randomizer, token: int) -> "OutputDistribution":
        """Create the exact output distribution of one input word of a mechanism.

        Args:
            vocabulary: The words of the mechanism, in the order of their ids.
            randomizer: Output distributions of all inputs of the mechanism.
            token: Id of the input; ``len(vocabulary)`` is the id of ``<unk>``.
        """
        row = randomizer.compute_exact_row(token)
        ids = [y for y, weight in enumerate(row) if weight]
        symbol = vocabulary[token] if token < len(vocabulary) else UNKNOWN_SYMBOL
        return cls(tuple(vocabulary[y] for y in ids), tuple(row[y] for y in ids), symbol)

    @property
    def total(self) -> int:
        """Sum of the weights of all outputs. The probability of an output is its weight divided by this sum."""
        return sum(self.weights)

    def compute_probability(self, word: str) -> Fraction:
        """Return the exact probability of the output ``word``. It is 0 for a word that is never an output."""
        if word not in self.words:
            return Fraction(0)
        return Fraction(self.weights[self.words.index(word)], self.total)

    def list_likeliest(self, count: int = 10) -> list[tuple[str, float]]:
        """Return the ``count`` likeliest outputs with their probabilities, likeliest first."""
        total = self.total
        order = sorted(range(len(self.words)), key=lambda i: (-self.weights[i], i))[:count]
        return [(self.words[i], self.weights[i] / total) for i in order]
