"""Estimate trigram probabilities by interpolated modified Kneser-Ney smoothing (Chen, Goodman 1999).

The probability of a trigram is ``P(w | u v) = (c(u v w) - D(c(u v w))) / c(u v) + g(u v) P(w | v)``. ``P(w | v)`` and
``P(w)`` have the same form. For ``P(w)`` the uniform probability ``1 / words`` takes the place of the probability of
the shorter n-gram. Here ``c`` is the count of a trigram; for a shorter n-gram it is the number of different words that
precede the n-gram. ``D`` is the discount for a count, and ``g(u v)`` the probability that the discounts remove from the
trigrams that begin with ``u v``. Each order has three discounts, for counts of 1, of 2, and of more. The tables are
sorted arrays.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textveil_training.attacks.words.word_release import ReadElements

Ints = NDArray[Any]
Floats = NDArray[np.float64]
#: Discount for an order with too few n-grams to estimate one.
_DISCOUNT = 0.75
_ORDER = 3


@dataclass(frozen=True, kw_only=True)
class NgramShares:
    """Smoothed probabilities of all n-grams (sequences of n words) for one n.

    Attributes:
        keys: N-grams as integers, ascending, shape ``(n,)``.
        shares: Discounted probability of each n-gram given its context (all words but the last), shape ``(n,)``.
        contexts: Contexts as integers, ascending, shape ``(m,)``.
        left: Probability that each context leaves to shorter n-grams, shape ``(m,)``.
    """

    keys: Ints
    shares: Floats
    contexts: Ints
    left: Floats

    @classmethod
    def from_counts(cls, keys: Ints, counts: Ints, words: int) -> "NgramShares":
        """Compute n-gram probabilities from discounted counts, so that unseen n-grams get a probability above 0.

        Args:
            keys: N-grams as integers, ascending. The key of an n-gram is the key of its context times ``words``, plus
                the id of its last word.
            counts: Count of each n-gram.
            words: Number of words.
        """
        taken = np.minimum(np.concatenate([[0], estimate_discounts(counts)])[np.minimum(counts, _ORDER)], counts)
        contexts, row = np.unique(keys // words, return_inverse=True)
        total = np.bincount(row, counts)
        return cls(
            keys=keys, shares=(counts - taken) / total[row], contexts=contexts, left=np.bincount(row, taken) / total
        )

    def get_shares(self, keys: Ints) -> Floats:
        """Return the probability of the last word of each n-gram given the words before it; 0 for an unseen n-gram."""
        place = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return np.where(self.keys[place] == keys, self.shares[place], 0.0)

    def get_backoff_shares(self, contexts: Ints) -> tuple[Floats, NDArray[np.bool_]]:
        """Return the probability that each context leaves to shorter n-grams; 1 for an unseen context.

        Returns:
            The probabilities, and a boolean for each context: whether it was seen.
        """
        place = np.minimum(np.searchsorted(self.contexts, contexts), len(self.contexts) - 1)
        seen = self.contexts[place] == contexts
        return np.where(seen, self.left[place], 1.0), seen


def estimate_discounts(counts: Ints) -> Floats:
    """Estimate the discounts of Kneser-Ney smoothing: what to subtract from counts of 1, of 2, and of more.

    The discounts follow from the numbers of n-grams with a count of 1 to 4.

    Args:
        counts: Count of each n-gram.
    """
    of = np.bincount(np.minimum(counts, 5), minlength=6).astype(float)
    if not of[1:5].all():
        return np.full(_ORDER, _DISCOUNT)
    first = of[1] / (of[1] + 2 * of[2])
    found = np.array([k - (k + 1) * first * of[k + 1] / of[k] for k in range(1, _ORDER + 1)])
    return np.where(found > 0, found, _DISCOUNT)


class TrigramModel:
    """Model of the probability of an element (word or punctuation mark) after two others.

    Args:
        texts: Raw texts as word ids. The model adds two edge markers before each text, and one after it.
        size: Number of known words. Ids from ``size`` on, and words that occur in no text, count as one unknown word.
    """

    def __init__(self, texts: ReadElements, size: int) -> None:
        known = np.unique(texts.word)
        self.words = len(known) + 2
        self._row = np.full(size + 2, len(known) + 1)
        self._row[known] = np.arange(len(known))
        self._row[size] = self.edge = len(known)
        self._size = size
        starts = np.flatnonzero(np.diff(texts.document, prepend=-1))
        sequence = np.insert(self._row[texts.word], np.repeat(starts, 2), self.edge)
        sequence = np.concatenate([sequence, [self.edge, self.edge]])
        first, second, third = sequence[:-2], sequence[1:-1], sequence[2:]
        # Do not count trigrams that span two texts.
        inside = ~((second == self.edge) & (first != self.edge))
        keys, counts = np.unique(((first * self.words + second) * self.words + third)[inside], return_counts=True)
        pairs, before = np.unique(keys % self.words**2, return_counts=True)
        single, ways = np.unique(pairs % self.words, return_counts=True)
        self._three = NgramShares.from_counts(keys, counts, self.words)
        self._two = NgramShares.from_counts(pairs, before, self.words)
        one = NgramShares.from_counts(single, ways, self.words)
        self._one = np.full(self.words, one.left[0] / self.words)
        self._one[single] += one.shares

    def map_words(self, words: Ints) -> Ints:
        """Convert word ids to the ids that this model uses. An id below 0 means the start or the end of a text."""
        return self._row[np.where(words < 0, self._size, np.where(words < self._size, words, self._size + 1))]

    def predict_after_one(self, first: Ints, second: Ints) -> Floats:
        """Return the probability of each word of ``second`` directly after each word of ``first``.

        The words are the model's ids; the result has the shape ``(len(first), len(second))``.
        """
        left, _ = self._two.get_backoff_shares(first)
        return self._two.get_shares(first[:, None] * self.words + second) + left[:, None] * self._one[second]

    def predict_after_two(self, first: Ints, second: Ints, third: Ints) -> tuple[Floats, Ints, Ints, Floats]:
        """Return the parts of ``P(c | a b)``, the probability of a word ``c`` after the words ``a`` and ``b``.

        The words are the model's ids. For all combinations of words of the three arguments,

            P(c | a b) = g(a, b) P(c | b) + share(a, b, c).

        ``g(a, b)`` is the probability that smoothing leaves to the shorter context ``b``. ``share(a, b, c)`` is the
        discounted probability of the trigram. It is 0 for each pair ``(a, b)`` that the texts do not contain. These are
        most pairs, so the arrays need less memory than all probabilities.

        Args:
            first: Words ``a``.
            second: Words ``b``.
            third: Words ``c``.

        Returns:
            Four arrays: ``g``, shape ``(len(first), len(second))``; for each of the ``n`` pairs in the texts, its index
            in ``first``, and its index in ``second``, shape ``(n,)``; and ``share`` of these pairs with each word of
            ``third``, shape ``(n, len(third))``.
        """
        pairs = first[:, None] * self.words + second
        left, seen = self._three.get_backoff_shares(pairs)
        a, b = np.nonzero(seen)
        return left, a, b, self._three.get_shares(pairs[a, b][:, None] * self.words + third)
