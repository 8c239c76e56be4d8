"""An inversion by counts: it sees what came out here and beside, and was trained on sanitized copies of known texts.

Counts over ten sanitized copies of the train texts say how often a word stood between given outputs and visible words.
A conditional logit weighs these counts, the prior, the exact probabilities of the mechanism and the forward-backward
posterior; its weights are learned on texts that the counts have not seen. A second pass adds counts over raw texts
between the words that the first pass named.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from textveil_training.attacks.words.candidates import Candidates
from textveil_training.attacks.words.release import DRAWN, KIND, MARK, Reading

Ints = NDArray[Any]
Floats = NDArray[Any]
COPIES = 10
_SMOOTHING = 3.0
_MIX = np.uint64(0x9E3779B97F4A7C15)


def _mixed(values: Ints) -> Ints:
    """Numbers that look random: equal for equal ones."""
    x = values.astype(np.uint64) * _MIX
    x ^= x >> np.uint64(29)
    x *= np.uint64(0xBF58476D1CE4E5B9)
    return x ^ (x >> np.uint64(32))


def contexts(reading: Reading, outputs: Ints, *, raw: bool) -> list[Ints]:
    """Returns what stands around each element, one number per element and way to look.

    Args:
        reading: Roles and documents.
        outputs: What came out, or in a second pass the words that are believed to stand there.
        raw: Whether a word stands for itself; else what was drawn is told from what is visible.
    """
    hidden = (reading.role == DRAWN) | (reading.role == KIND)
    sign = outputs.astype(np.int64) + 2 if raw else 2 * (outputs.astype(np.int64) + 2) + hidden
    beside = {distance: _shifted(sign, reading.document, distance) for distance in (-2, -1, 1, 2)}
    left, right = _mixed(beside[-1]), _mixed(beside[1] + (1 << 40))
    far_left, far_right = _mixed(beside[-2] + (2 << 40)), _mixed(beside[2] + (3 << 40))
    found = [left, right, left ^ far_left, right ^ far_right, left ^ right, far_left, far_right]
    if raw:
        return found
    here = _mixed(sign + (4 << 40))
    shown = _mixed(_nearest_shown(reading, sign, -1) + (5 << 40)), _mixed(_nearest_shown(reading, sign, 1) + (6 << 40))
    return [*found, *shown, here ^ left, here ^ right]


def _shifted(sign: Ints, document: Ints, distance: int) -> Ints:
    result = np.zeros_like(sign)
    inside, other = (slice(-distance, None), slice(None, distance))
    if distance > 0:
        inside, other = (slice(None, -distance), slice(distance, None))
    same = document[inside] == document[other]
    result[inside] = np.where(same, sign[other], 0)
    return result


def _nearest_shown(reading: Reading, sign: Ints, direction: int) -> Ints:
    """The nearest visible word on one side that is not next to the element."""
    order = slice(None, None, -direction)
    shown = (~np.isin(reading.role, (DRAWN, KIND, MARK)))[order]
    signs, document = sign[order], reading.document[order]
    last = np.maximum.accumulate(np.where(shown, np.arange(len(shown)), -1))
    before = np.concatenate([[-1], last[:-1]])
    there = (before >= 0) & (document[np.maximum(before, 0)] == document)
    return np.where(there, signs[np.maximum(before, 0)], 0)[order]


@dataclass(frozen=True)
class Counts:
    """How often a word stood in a context, and how often the context was there."""

    joint: Ints
    joint_counts: Ints
    alone: Ints
    alone_counts: Ints

    @classmethod
    def of(cls, context: Ints, words: Ints) -> "Counts":
        """Counts words in contexts."""
        joint = np.unique(context ^ _mixed(words + (7 << 40)), return_counts=True)
        return cls(*joint, *np.unique(context, return_counts=True))

    def features(self, context: Ints, words: Ints, prior: Floats) -> list[Floats]:
        """Returns the logarithm of how much more probable the context makes each word, and that times our trust."""
        both = _look_up(self.joint, self.joint_counts, context[:, None] ^ _mixed(words + (7 << 40)))
        alone = _look_up(self.alone, self.alone_counts, context)[:, None]
        expected = np.exp(np.maximum(prior, -30))
        lift = np.log((both + _SMOOTHING * expected) / ((alone + _SMOOTHING) * expected))
        return [lift, lift * (alone / (alone + 20))]


def _look_up(known: Ints, counts: Ints, asked: Ints) -> Floats:
    place = np.minimum(np.searchsorted(known, asked), len(known) - 1)
    return np.where(known[place] == asked, counts[place], 0).astype(np.float32)


class Inversion:
    """The attack, for one release.

    Args:
        train: Raw texts for the counts.
        draw: Releases them once.
    """

    def __init__(self, train: Reading, draw: Callable[[Reading], Ints]) -> None:
        hidden = (train.role == DRAWN) | (train.role == KIND)
        seen: list[list[Ints]] = []
        for _ in range(COPIES):
            seen.append([context[hidden] for context in contexts(train, draw(train), raw=False)])
        words = np.tile(train.word[hidden], COPIES)
        self._sanitized = [Counts.of(np.concatenate(parts), words) for parts in zip(*seen, strict=True)]
        raw = contexts(train, train.word, raw=True)
        self._raw = [Counts.of(context[hidden], train.word[hidden]) for context in raw]
        self._first: Floats | None = None
        self._second: Floats | None = None

    def learn(self, reading: Reading, outputs: Ints, found: Candidates, chained: Floats) -> None:
        """Fits the weights on texts that are not among those that were counted."""
        truth = reading.word[found.places]
        first = self._features(reading, outputs, found, chained)
        self._first = _fit(first, found.words == truth[:, None])
        score = self._scores(first, self._first, found)
        named = found.words[np.arange(len(score)), score.argmax(axis=1)]
        second = first + self._second_pass(reading, named, found)
        self._second = _fit(second, found.words == truth[:, None])

    def scores(self, reading: Reading, outputs: Ints, found: Candidates, chained: Floats) -> Floats:
        """Returns log-probabilities of the candidates of each hidden element, -inf for none, shape ``(n, COUNT)``."""
        assert self._first is not None
        assert self._second is not None
        first = self._features(reading, outputs, found, chained)
        score = self._scores(first, self._first, found)
        for _ in range(2):
            named = found.words[np.arange(len(score)), score.argmax(axis=1)]
            score = self._scores(first + self._second_pass(reading, named, found), self._second, found)
        score = score - score.max(axis=1, keepdims=True)
        return score - np.log(np.exp(score).sum(axis=1, keepdims=True))

    def _features(self, reading: Reading, outputs: Ints, found: Candidates, chained: Floats) -> list[Floats]:
        prior = np.maximum(found.prior, -30)
        features = [prior, np.maximum(found.likelihood, -40), np.maximum(chained, -40)]
        features.append((found.words == outputs[found.places][:, None]).astype(np.float32))
        for context, counts in zip(contexts(reading, outputs, raw=False), self._sanitized, strict=True):
            features += counts.features(context[found.places], found.words, prior)
        return [feature.astype(np.float32) for feature in features]

    def _second_pass(self, reading: Reading, named: Ints, found: Candidates) -> list[Floats]:
        words = reading.word.copy()
        words[found.places] = named
        features: list[Floats] = []
        for context, counts in zip(contexts(reading, words, raw=True), self._raw, strict=True):
            features += counts.features(context[found.places], found.words, found.prior)
        return [feature.astype(np.float32) for feature in features]

    @staticmethod
    def _scores(features: Sequence[Floats], weights: Floats, found: Candidates) -> Floats:
        score = sum(weight * feature for weight, feature in zip(weights.tolist(), features, strict=True))
        return np.where(found.words >= 0, score, -np.inf)


def _fit(features: Sequence[Floats], right: Ints) -> Floats:
    """Returns the weights of a conditional logit: the most probable word is the one that stood there."""
    usable = right.any(axis=1)
    stack = torch.from_numpy(np.stack([feature[usable] for feature in features], axis=-1))
    truth = torch.from_numpy(right[usable].argmax(axis=1))
    weights = torch.zeros(stack.shape[-1])
    weights[2] = 1.0
    weights.requires_grad_()
    optimizer = torch.optim.LBFGS([weights], max_iter=40, line_search_fn="strong_wolfe")

    def loss() -> torch.Tensor:
        optimizer.zero_grad()
        value = torch.nn.functional.cross_entropy(stack @ weights, truth) + 1e-4 * (weights**2).sum()
        value.backward()
        return value

    optimizer.step(loss)
    return weights.detach().numpy()
