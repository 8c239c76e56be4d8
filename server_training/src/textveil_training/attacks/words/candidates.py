"""Find the possible originals of each output, and guess words without context by Bayes' rule.

The attacker knows the mechanism, and the rule that decides whether a word is left unchanged, replaced or randomized.
Raw training texts give the prior. For each randomized word the candidates are the most probable originals by
``prior(x) Pr[M(x) = y]``. For a replacement of a name or number, they are the most frequent words of the entity type.
Words that are not in the training texts have a small prior.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from textveil.mechanisms import Randomizer, ScoreRandomizer

from textveil_training.attacks.words.word_release import RANDOMIZED, SURROGATE, ReadElements, WordRelease

Ints = NDArray[Any]
Floats = NDArray[np.float64]
#: Number of candidates for each hidden element.
COUNT = 128
_UNSEEN = 0.3
_BLOCK = 128


@dataclass(frozen=True, kw_only=True)
class Candidates:
    """Possible originals of each hidden element (replaced or randomized word or punctuation mark) of some texts.

    Attributes:
        places: Indices of the hidden elements, shape ``(n,)``.
        words: Candidates of each hidden element as word ids, the most probable first, padded with -1, shape
            ``(n, COUNT)``.
        likelihood: Log probability of the output given the candidate, -inf for padding, shape ``(n, COUNT)``.
        prior: Log probability of the candidate among randomized words, or among replaced words of the same entity type,
            shape ``(n, COUNT)``.
    """

    places: Ints
    words: Ints
    likelihood: Floats
    prior: Floats

    def take_first(self, count: int) -> "Candidates":
        """Return a copy with only the ``count`` most probable originals of each hidden (replaced) word."""
        return Candidates(
            places=self.places,
            words=self.words[:, :count],
            likelihood=self.likelihood[:, :count],
            prior=self.prior[:, :count],
        )

    @property
    def bayes(self) -> Ints:
        """Guess each replaced or randomized word by Bayes' rule, without context.

        Returns:
            Word ids of the guesses, one for each hidden word.
        """
        return self.words[:, 0]


class CandidateFinder:
    """Finder of the words that may have been the originals of a mechanism's outputs.

    Args:
        release: The mechanism.
        train: Raw texts of the attacker as arrays of words, as this mechanism reads them.
    """

    def __init__(self, release: WordRelease, train: ReadElements) -> None:
        self._release, self._lists = release, {}
        self._known: dict[bool, tuple[Ints, ...]] = {}
        drawn = train.role == RANDOMIZED
        words, first, counts = np.unique(train.word[drawn], return_index=True, return_counts=True)
        symbols = train.index[drawn][first]
        if release.randomizers is not None:
            outputs = np.union1d(*map(_list_possible_outputs, release.randomizers))
            more = outputs[~np.isin(release.printed[outputs], words)]
            words = np.concatenate([words, release.printed[more]])
            symbols = np.concatenate([symbols, more])
            counts = np.concatenate([counts, np.zeros(len(more))])
        self._words, self._symbols = words, symbols
        self._prior = (counts + _UNSEEN) / (counts + _UNSEEN).sum()
        self._symbol_of = np.full(len(release.words.spellings), -1)
        self._symbol_of[release.printed] = np.arange(release.symbols)
        members = train.role == SURROGATE
        for kind in np.unique(train.index[members]):
            found, number = np.unique(train.word[members & (train.index == kind)], return_counts=True)
            best = np.argsort(-number, kind="stable")[:COUNT]
            self._lists[int(kind)] = found[best], np.log(number[best] / number.sum())

    def find_candidates(self, reading: ReadElements, outputs: Ints) -> Candidates:
        """Find the possible originals of all hidden (replaced or randomized) elements of some texts.

        Args:
            reading: The texts as arrays of elements (words and punctuation marks).
            outputs: Output of each element.
        """
        places = np.flatnonzero((reading.role == RANDOMIZED) | (reading.role == SURROGATE))
        shape = len(places), COUNT
        words = np.full(shape, -1)
        likelihood, prior = np.full(shape, -np.inf), np.full(shape, -np.inf)
        role, index = reading.role[places], reading.index[places]
        for kind in np.unique(index[role == SURROGATE]).tolist():
            rows = np.flatnonzero((role == SURROGATE) & (index == kind))
            found, logs = self._lists.get(kind, (np.zeros(0, dtype=int), np.zeros(0)))
            words[rows, : len(found)], prior[rows, : len(found)] = found, logs
            likelihood[rows, : len(found)] = 0
        drawn = np.flatnonzero(role == RANDOMIZED)
        lower = self._release.find_lower_case(reading, places[drawn])
        for slot in (False, True):
            rows = drawn[lower == slot]
            known, *table = self._find_by_output(slot, outputs[places[rows]])
            at = np.searchsorted(known, outputs[places[rows]])
            for whole, of_output in zip((words, likelihood, prior), table, strict=True):
                whole[rows, : of_output.shape[1]] = of_output[at]
        return Candidates(places=places, words=words, likelihood=likelihood, prior=prior)

    def _find_by_output(self, lower: bool, outputs: Ints) -> tuple[Ints, ...]:
        """Find the possible originals of outputs, and store them, so that later calls reuse them.

        Args:
            lower: Whether only lower-case words can be outputs.
            outputs: Ids of the outputs.

        Returns:
            All outputs so far, ascending; and for each of them the candidates, their log likelihoods and log priors.
        """
        empty = np.zeros((0, min(COUNT, len(self._words))))
        so_far = self._known.get(lower, (np.zeros(0, dtype=int), empty.astype(int), empty, empty))
        new = np.setdiff1d(outputs, so_far[0])
        randomizer = (self._release.randomizers or (None, None))[lower]
        starts = range(0, len(new), _BLOCK)
        blocks = [(new[at : at + _BLOCK], *self._rank_originals(randomizer, new[at : at + _BLOCK])) for at in starts]
        if blocks:
            joined = [np.concatenate(parts) for parts in zip(so_far, *blocks, strict=True)]
            order = np.argsort(joined[0])
            so_far = self._known[lower] = tuple(array[order] for array in joined)
        return so_far

    def _rank_originals(self, randomizer: Any, outputs: Ints) -> tuple[Ints, Floats, Floats]:
        given = (
            np.ones((len(outputs), 1)) if randomizer is None else randomizer.compute_columns(self._symbol_of[outputs])
        )
        given = (
            np.broadcast_to(given, (len(outputs), len(self._words))) if randomizer is None else given[:, self._symbols]
        )
        joint = given * self._prior
        count = min(COUNT, joint.shape[1])
        best = np.argpartition(-joint, count - 1, axis=1)[:, :count]
        best = np.take_along_axis(best, np.argsort(-np.take_along_axis(joint, best, 1), axis=1, kind="stable"), 1)
        with np.errstate(divide="ignore"):
            return self._words[best], np.log(np.take_along_axis(given, best, 1)), np.log(self._prior[best])

    def compute_closed_form(self, content: NDArray[np.bool_]) -> float:
        """Compute the exact rate at which an attacker without context guesses randomized content words in lower case.

        The attacker guesses for each output ``y`` its most probable original, ``x(y)``. A content word is a word that
        is no function word such as *the*. ``prior(x)`` is the frequency of a word ``x`` in the attacker's texts, and
        ``Pr[y | x]`` the probability that the mechanism replaces ``x`` by ``y``. The result is the sum of
        ``prior(x(y)) Pr[y | x(y)]`` over the outputs whose ``x(y)`` is a content word, divided by the sum of the priors
        of all content words.

        Args:
            content: True for the word ids of content words.
        """
        mask = content[self._words]
        if self._release.randomizers is None:
            best = int(self._prior.argmax())
            return float(self._prior[best] * mask[best] / self._prior[mask].sum())
        _, randomizer = self._release.randomizers
        found = 0.0
        for _, columns in randomizer.iterate_column_blocks(_list_possible_outputs(randomizer), _BLOCK):
            joint = columns[:, self._symbols] * self._prior
            best = joint.argmax(axis=1)
            found += float((joint[np.arange(len(joint)), best] * mask[best]).sum())
        return found / float(self._prior[mask].sum())


def _list_possible_outputs(randomizer: Randomizer) -> Ints:
    """Return the ids of vocabulary entries that can be outputs.

    The ids include the common words that SanText+ leaves unchanged at random. The attacks treat each output also as a
    possible original, even if the attacker's texts do not contain this word. So no output has probability 0 under every
    original, for which the weights of the attack ``sum`` could not be fitted.
    """
    kept = (
        np.flatnonzero(randomizer.keep_probabilities[: randomizer.symbol_count])
        if isinstance(randomizer, ScoreRandomizer)
        else []
    )
    return np.union1d(randomizer.output_ids, kept).astype(np.intp)
