"""Learn events (sets of outputs) that distinguish the outputs of two inputs, and guess inputs from outputs.

An event is the set of outputs whose score is at least, or below, a threshold. A bound is computed only from the counts
of the event in fresh samples, which were not used to learn the event. So the bound
holds for any event, however it was learned.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.stats import norm
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from textveil_training.audit.statistics import Floats, bound_pair_epsilon

#: Smallest difference in frequency of a feature that counts, in standard errors; with many features it is larger.
_STANDARD_ERRORS = 3.0
#: Number of thresholds to try for a score.
_THRESHOLDS = 500
#: Number of intervals into which the naive Bayes score divides each number.
_BINS = 20
#: Number of outputs whose similarities to all inputs are in memory at a time.
_ROWS = 500
#: Weak regularization, since inputs may differ only in small differences between large coordinates.
_INVERSE_PENALTY = 1000.0

Outputs = list[str] | Floats
"""Outputs of many draws: texts, or vectors of shape ``(draws, dimension)``."""
Score = Callable[[Outputs], Floats]


@dataclass(frozen=True, kw_only=True)
class Event:
    """A set of outputs: those whose score is at least a threshold, or those whose score is below it.

    Attributes:
        name: Name of the features on which the score depends, for the report.
        score: Function that computes the scores of outputs.
        threshold: The threshold.
        of_first: If true, the event contains the outputs with a score of at least the threshold; they are likelier for
            the first of two compared inputs. If false, it contains the others, which are likelier for the second.
    """

    name: str
    score: Score
    threshold: float
    of_first: bool

    def contains(self, outputs: Outputs) -> NDArray[np.bool_]:
        """Return a boolean for each output: whether the event contains it."""
        found = self.score(outputs) >= self.threshold
        return found if self.of_first else ~found

    def bound_epsilon(self, first: Outputs, second: Outputs, alpha: float, delta: float) -> float:
        """Compute a lower bound on epsilon from the counts of this event in outputs of two inputs.

        Args:
            first: Outputs of the first input, which were not used to learn the event.
            second: Outputs of the second input, in the same number.
            alpha: Probability that the bound exceeds the true epsilon.
            delta: Delta of the audited claim.
        """
        of_first, of_second = self.contains(first).sum(), self.contains(second).sum()
        counts = (of_first, of_second) if self.of_first else (of_second, of_first)
        return float(bound_pair_epsilon(*counts, len(first), alpha, delta))


def learn_event(first: Outputs, second: Outputs, inputs: tuple[Any, Any], alpha: float, delta: float = 0.0) -> Event:
    """Learn the event (set of outputs) that distinguishes the outputs of two inputs best.

    The event contains the outputs with a high, or with a low, value of a score, which is a function of an output. Half
    of the draws fit several scores, and the other half selects the best one. Then all draws fit this score and choose
    its threshold.

    Args:
        first: Outputs of the first input, in random order.
        second: Outputs of the second input, in the same number.
        inputs: The two inputs.
        alpha: Error probability of the later bound.
        delta: Delta of the audited claim.

    Example:
        >>> event = learn_event(["a"] * 90 + ["b"] * 10, ["b"] * 90 + ["a"] * 10, ("a", "b"), alpha=0.01)
        >>> event.contains(["a", "b", "a"]).tolist() in ([True, False, True], [False, True, False])
        True
    """
    half = max(1, len(first) // 2)
    learners = _list_vector_learners(first) if isinstance(first, np.ndarray) else dict(_TEXT_LEARNERS)
    names = list(learners)
    if len(names) > 1:
        bounds = []
        for name in names:
            score = learners[name](first[:half], second[:half], inputs)
            bounds.append(choose_threshold(name, score, first[half:], second[half:], alpha, delta)[1])
        names = [names[int(np.argmax(bounds))]]
    score = learners[names[0]](first, second, inputs)
    return choose_threshold(names[0], score, first, second, alpha, delta)[0]


def choose_threshold(
    name: str, score: Score, first: Outputs, second: Outputs, alpha: float, delta: float
) -> tuple[Event, float]:
    """Choose the event (scores above or below a threshold) with the largest bound on epsilon in given outputs.

    Args:
        name: Name of the score.
        score: Function that computes the scores of outputs.
        first: Outputs of the first input.
        second: Outputs of the second input, in the same number.
        alpha: Error probability of the bound.
        delta: Delta of the audited claim.

    Returns:
        The event, and its bound.
    """
    scores = score(first), score(second)
    values = np.unique(np.concatenate(scores))
    if len(values) > _THRESHOLDS:  # quantiles, and all of the extreme values
        inner = values[np.linspace(0, len(values) - 1, _THRESHOLDS).astype(int)]
        values = np.unique(np.concatenate([inner, values[:50], values[-50:]]))
    draws = len(scores[0])
    above = [draws - np.searchsorted(np.sort(one), values) for one in scores]
    of_first = bound_pair_epsilon(above[0], above[1], draws, alpha, delta)
    of_second = bound_pair_epsilon(draws - above[1], draws - above[0], draws, alpha, delta)
    best = int(of_first.argmax()), int(of_second.argmax())
    if of_first[best[0]] >= of_second[best[1]]:
        return Event(name=name, score=score, threshold=float(values[best[0]]), of_first=True), float(of_first[best[0]])
    return Event(name=name, score=score, threshold=float(values[best[1]]), of_first=False), float(of_second[best[1]])


_GROUPS = ("its words", "its words and their places")


def list_features(text: str, group: str) -> set[str]:
    """Return the features of a text, such as its words, by which an attacker distinguishes outputs.

    Args:
        text: The text.
        group: ``its words`` (and their number), ``its words and their places`` (each word with its position), or
            ``the whole output``.
    """
    if group == "the whole output":
        return {text}
    words = text.split()
    named = words if group == "its words" else [f"{place} {word}" for place, word in enumerate(words)]
    return {f"\n{len(words)}", *named}  # no word has a line break


def _learn_naive_bayes(group: str) -> Callable[[Outputs, Outputs, tuple[Any, Any]], Score]:
    """Return a function that learns a naive Bayes score of outputs, from the features in a ``group``.

    ``list_features`` describes the groups.
    """

    def learn(first: Outputs, second: Outputs, inputs: tuple[Any, Any]) -> Score:
        draws = len(first)
        counts = [
            Counter(one for text in texts for one in list_features(str(text), group)) for texts in (first, second)
        ]
        names = list(counts[0].keys() | counts[1].keys())
        of_first, of_second = (np.array([one[name] for name in names], np.float64) for one in counts)
        weights = _weigh(of_first, of_second, draws)
        kept = {names[place]: float(weights[place]) for place in np.flatnonzero(weights)}

        def score(outputs: Outputs) -> Floats:
            return np.array([sum(kept.get(one, 0.0) for one in list_features(str(text), group)) for text in outputs])

        return score

    return learn


def _learn_one_feature(first: Outputs, second: Outputs, inputs: tuple[Any, Any]) -> Score:
    """Find the feature that distinguishes two inputs best; return a score: whether an output has the feature.

    Args:
        first: Outputs of the first input.
        second: Outputs of the second input.
        inputs: The two inputs.
    """
    draws = len(first)
    counts = [
        Counter(one for text in texts for group in _GROUPS for one in list_features(str(text), group))
        for texts in (first, second)
    ]
    names = list(counts[0].keys() | counts[1].keys())
    of_first, of_second = (np.array([one[name] for name in names]) for one in counts)
    bounds = [bound_pair_epsilon(*both, draws, 0.001) for both in ((of_first, of_second), (of_second, of_first))]
    best = names[int(np.maximum(*bounds).argmax())]
    sign = 1.0 if counts[0][best] >= counts[1][best] else -1.0
    return lambda outputs: np.array(
        [sign * any(best in list_features(str(text), group) for group in _GROUPS) for text in outputs]
    )


def _weigh(of_first: Floats, of_second: Floats, draws: int) -> Floats:
    """Compute the log-odds weight of each feature; 0 if its frequency in outputs of the two inputs hardly differs.

    The more features there are, the larger the difference must be, so that few features pass by chance.

    Args:
        of_first: Number of the first input's outputs with each feature.
        of_second: Number of the second input's outputs with each feature.
        draws: Number of outputs of each input.
    """
    deviates = max(_STANDARD_ERRORS, float(norm.isf(0.25 / max(1, len(of_first)))))
    p, q = ((count + 0.5) / (draws + 1) for count in (of_first, of_second))
    mean = (p + q) / 2
    differs = np.abs(p - q) > deviates * np.sqrt(mean * (1 - mean) * 2 / draws)
    return np.where(differs, np.log(p / q) - np.log((1 - p) / (1 - q)), 0.0)


def _learn_overlap(first: Outputs, second: Outputs, inputs: tuple[Any, Any]) -> Score:
    """Return a score that needs no learning, from the words that an output shares with each input.

    The score is the number of words shared with the first input only, minus that with the second input only.
    """
    mine, other = (set(str(text).split()) for text in inputs)
    plus, minus = mine - other, other - mine

    def score(outputs: Outputs) -> Floats:
        words = [set(str(text).split()) for text in outputs]
        return np.array([float(len(one & plus) - len(one & minus)) for one in words])

    return score


_TEXT_LEARNERS: dict[str, Callable[[Outputs, Outputs, tuple[Any, Any]], Score]] = {
    "the whole output": _learn_naive_bayes("the whole output"),
    "its words and their places": _learn_naive_bayes("its words and their places"),
    "its words": _learn_naive_bayes("its words"),
    "one word": _learn_one_feature,
    "words of the two inputs": _learn_overlap,
}


def _describe_vectors(vectors: Floats) -> Floats:
    """Return vectors with norms, range and extremes appended as features, if there are two or more coordinates."""
    if vectors.shape[1] == 1:
        return vectors
    sizes = np.abs(vectors)
    low, high = vectors.min(axis=1), vectors.max(axis=1)
    more = [sizes.sum(axis=1), np.sqrt((vectors**2).sum(axis=1)), sizes.max(axis=1), low, high, high - low]
    return np.column_stack([vectors, *more])


def _learn_linear(first: Outputs, second: Outputs, inputs: tuple[Any, Any]) -> Score:
    """Learn a logistic regression that distinguishes the outputs of two inputs, and return it as a score of outputs.

    Args:
        first: Outputs of the first input.
        second: Outputs of the second input.
        inputs: The two inputs.
    """
    rows = _describe_vectors(np.concatenate([np.asarray(first), np.asarray(second)]))
    labels = np.repeat([1, 0], [len(first), len(second)])
    scaler = StandardScaler()
    model = LogisticRegression(C=_INVERSE_PENALTY, max_iter=300, tol=1e-3).fit(scaler.fit_transform(rows), labels)
    return lambda outputs: model.decision_function(scaler.transform(_describe_vectors(np.asarray(outputs))))


def _learn_binned(first: Outputs, second: Outputs, inputs: tuple[Any, Any]) -> Score:
    """Learn a naive Bayes score of vectors from their coordinates and norms, each divided into intervals.

    Args:
        first: Outputs of the first input.
        second: Outputs of the second input.
        inputs: The two inputs.
    """
    ones, others = (_describe_vectors(np.asarray(outputs)) for outputs in (first, second))
    both = np.concatenate([ones, others])
    edges = [np.unique(np.quantile(column, np.linspace(0, 1, _BINS + 1)[1:-1])) for column in both.T]
    weights = []
    for column, cuts in enumerate(edges):
        counts = [
            np.bincount(np.searchsorted(cuts, rows[:, column], "right"), minlength=len(cuts) + 1).astype(np.float64)
            for rows in (ones, others)
        ]
        p, q = ((count + 0.5) / (len(ones) + 1) for count in counts)
        spread = np.sqrt((p + q) / len(ones))
        weights.append(np.where(np.abs(p - q) > _STANDARD_ERRORS * spread, np.log(p / q), 0.0))

    def score(outputs: Outputs) -> Floats:
        rows = _describe_vectors(np.asarray(outputs))
        parts = [
            one[np.searchsorted(cuts, rows[:, column], "right")]
            for column, (cuts, one) in enumerate(zip(edges, weights, strict=True))
        ]
        return np.sum(parts, axis=0)

    return score


def _learn_values(first: Outputs, second: Outputs, inputs: tuple[Any, Any]) -> Score:
    """Learn a naive Bayes score with the whole vector as one feature, for mechanisms with few different outputs.

    Args:
        first: Outputs of the first input.
        second: Outputs of the second input.
        inputs: The two inputs.
    """
    names, rows = np.unique(np.concatenate([np.asarray(first), np.asarray(second)]), axis=0, return_inverse=True)
    rows = rows.ravel()
    of_first, of_second = (
        np.bincount(part, minlength=len(names)).astype(np.float64) for part in (rows[: len(first)], rows[len(first) :])
    )
    weights = _weigh(of_first, of_second, len(first))
    kept = {name.tobytes(): float(weight) for name, weight in zip(names, weights, strict=True) if weight}
    return lambda outputs: np.array([kept.get(row.tobytes(), 0.0) for row in np.ascontiguousarray(outputs)])


def _list_vector_learners(
    vectors: Floats,
) -> dict[str, Callable[[Outputs, Outputs, tuple[Any, Any]], Score]]:
    found = {"a linear score of the vector": _learn_linear, "intervals of its numbers": _learn_binned}
    some = vectors if vectors.shape[1] <= 2 else vectors[:400]
    if len(np.unique(some, axis=0)) <= len(some) // 4:
        return {"the whole output": _learn_values, **found}
    return found


class InputGuesser:
    """Guess from which of several inputs each output comes, by a fixed rule that is not learned.

    For texts the guess is the input that equals the output. If there is none, it is the input with the most similar
    words, where rare words count more and case is ignored, since many mechanisms write lower case. For vectors it is
    the nearest input.

    Args:
        inputs: The inputs: texts, or vectors of shape ``(inputs, dimension)``.

    Example:
        >>> InputGuesser(["a dark room", "a red car"]).guess(["the red bike", "a dark room"]).tolist()
        [1, 0]
    """

    def __init__(self, inputs: Outputs) -> None:
        self.inputs = inputs
        if isinstance(inputs, np.ndarray):
            return
        self._places = {text: place for place, text in enumerate(inputs)}
        self._words: dict[str, int] = {}
        for text in inputs:
            for word in text.casefold().split():
                self._words.setdefault(word, len(self._words))
        of_inputs = self._count_words(inputs)
        shares = np.log(len(inputs) / np.maximum(of_inputs.sum(axis=0), 1.0)) + 1e-3
        # The similarity is the cosine, so that a long input is not the most similar one to every output.
        sizes = np.sqrt(np.maximum(np.asarray((of_inputs * shares).sum(axis=1)), 1e-9))
        self._weights = csr_array((of_inputs * shares).T / sizes)

    def guess(self, outputs: Outputs) -> NDArray[np.intp]:
        """Return the index of the guessed input for each output, shape ``(n,)``."""
        if isinstance(self.inputs, np.ndarray):
            rows = np.asarray(outputs)
            squares = (self.inputs**2).sum(axis=1) / 2
            return np.concatenate([(part @ self.inputs.T - squares).argmax(axis=1) for part in _split(rows)])
        found = np.array([self._places.get(str(text), -1) for text in outputs], np.intp)
        unknown = np.flatnonzero(found < 0)
        for part in _split(unknown):
            shared: Any = self._count_words([str(outputs[place]) for place in part]) @ self._weights
            found[part] = shared.toarray().argmax(axis=1)
        return found

    def _count_words(self, texts: Sequence[str]) -> csr_array:
        """Return a sparse 0/1 matrix ``(texts, words)``: whether each text contains each word.

        The words are those of the inputs.
        """
        columns = [
            [self._words[word] for word in set(text.casefold().split()) if word in self._words] for text in texts
        ]
        ends = np.cumsum([0, *map(len, columns)])
        flat = np.array([one for row in columns for one in row], np.intp)
        return csr_array((np.ones(len(flat)), flat, ends), shape=(len(texts), len(self._words)))


def _split(rows: NDArray[Any]) -> list[NDArray[Any]]:
    return [rows[start : start + _ROWS] for start in range(0, max(1, len(rows)), _ROWS)]
