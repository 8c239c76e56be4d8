"""Events of outputs, learned from draws of two inputs, and guesses of the input from an output.

An event is a score of the output and a threshold. It is learned from draws that are used for nothing else, so it may be
any function: only its counts in fresh draws enter a bound.
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

#: Features count only if their frequencies differ by this many standard errors, or more if there are many.
_STANDARD_ERRORS = 3.0
#: Candidate thresholds of a score.
_THRESHOLDS = 500
#: Intervals into which the naive Bayes score divides each number.
_BINS = 20
#: Outputs whose similarity to all inputs is in memory at a time.
_ROWS = 500
#: Weak regularization: a shared scalar is only visible in small differences of large coordinates.
_INVERSE_PENALTY = 1000.0

Outputs = list[str] | Floats
"""Outputs of many draws: texts, or vectors of shape ``(draws, dimension)``."""
Score = Callable[[Outputs], Floats]


@dataclass(frozen=True, kw_only=True)
class Event:
    """An event of an output: its score is at least, or below, a threshold.

    Attributes:
        name: Name of the features that the score reads, for the report.
        score: The score of outputs.
        threshold: The threshold.
        of_first: Whether the event is likelier for the first input: a score of at least the threshold.
    """

    name: str
    score: Score
    threshold: float
    of_first: bool

    def contains(self, outputs: Outputs) -> NDArray[np.bool_]:
        """Return which outputs are in the event, shape ``(n,)``."""
        found = self.score(outputs) >= self.threshold
        return found if self.of_first else ~found

    def bound_epsilon(self, first: Outputs, second: Outputs, alpha: float, delta: float) -> float:
        """Bound epsilon from below by the counts of this event in fresh draws of both inputs."""
        of_first, of_second = self.contains(first).sum(), self.contains(second).sum()
        counts = (of_first, of_second) if self.of_first else (of_second, of_first)
        return float(bound_pair_epsilon(*counts, len(first), alpha, delta))


def learn_event(first: Outputs, second: Outputs, inputs: tuple[Any, Any], alpha: float, delta: float = 0.0) -> Event:
    """Learn the event that distinguishes two inputs best.

    Half of the draws fit the scores, the others choose one of them; then all draws fit it and choose its threshold.

    Args:
        first: Outputs of the first input, in random order.
        second: Outputs of the second input, as many.
        inputs: The two inputs.
        alpha: Error probability of the later bound.
        delta: Claimed delta.

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
    """Choose the threshold and the direction with the largest bound on these draws; return the event and that bound."""
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
    """List the features of a text: its words, its words with their places, or the whole; with its length."""
    if group == "the whole output":
        return {text}
    words = text.split()
    named = words if group == "its words" else [f"{place} {word}" for place, word in enumerate(words)]
    return {f"\n{len(words)}", *named}  # no word has a line break


def _learn_naive_bayes(group: str) -> Callable[[Outputs, Outputs, tuple[Any, Any]], Score]:
    """Return a learner of a naive Bayes score with the features of a group, present or absent."""

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
    """Return whether a text has the one feature with the largest bound on epsilon."""
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
    """Return log-odds of presence over absence; 0 for features whose frequencies hardly differ.

    The more features there are, the more they must differ, so that few of them do by chance.
    """
    deviates = max(_STANDARD_ERRORS, float(norm.isf(0.25 / max(1, len(of_first)))))
    p, q = ((count + 0.5) / (draws + 1) for count in (of_first, of_second))
    mean = (p + q) / 2
    differs = np.abs(p - q) > deviates * np.sqrt(mean * (1 - mean) * 2 / draws)
    return np.where(differs, np.log(p / q) - np.log((1 - p) / (1 - q)), 0.0)


def _learn_overlap(first: Outputs, second: Outputs, inputs: tuple[Any, Any]) -> Score:
    """Return a score with nothing to learn: shared words with the first input, less those with the second."""
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
    """Append norms, the range and the extremes to vectors of two or more coordinates."""
    if vectors.shape[1] == 1:
        return vectors
    sizes = np.abs(vectors)
    low, high = vectors.min(axis=1), vectors.max(axis=1)
    more = [sizes.sum(axis=1), np.sqrt((vectors**2).sum(axis=1)), sizes.max(axis=1), low, high, high - low]
    return np.column_stack([vectors, *more])


def _learn_linear(first: Outputs, second: Outputs, inputs: tuple[Any, Any]) -> Score:
    """Return the score of a logistic regression on coordinates and norms."""
    rows = _describe_vectors(np.concatenate([np.asarray(first), np.asarray(second)]))
    labels = np.repeat([1, 0], [len(first), len(second)])
    scaler = StandardScaler()
    model = LogisticRegression(C=_INVERSE_PENALTY, max_iter=300, tol=1e-3).fit(scaler.fit_transform(rows), labels)
    return lambda outputs: model.decision_function(scaler.transform(_describe_vectors(np.asarray(outputs))))


def _learn_binned(first: Outputs, second: Outputs, inputs: tuple[Any, Any]) -> Score:
    """Return the naive Bayes score of coordinates and norms, each divided into intervals."""
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
    """Return the naive Bayes score of the whole vector, for mechanisms with few different outputs."""
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
    """Guess which of the inputs an output came from, by a fixed rule that learns from no draw.

    Texts: the input that equals the output, or else the nearest input by its words, rare words
    counting more, without regard to case: many rewriters write lowercase. Vectors: the nearest input.

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
        # The cosine: a long input is not the nearest to everything.
        sizes = np.sqrt(np.maximum(np.asarray((of_inputs * shares).sum(axis=1)), 1e-9))
        self._weights = csr_array((of_inputs * shares).T / sizes)

    def guess(self, outputs: Outputs) -> NDArray[np.intp]:
        """Return the number of the guessed input of each output, shape ``(n,)``."""
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
        """Return which words of the inputs each text has, shape ``(texts, words)``."""
        columns = [
            [self._words[word] for word in set(text.casefold().split()) if word in self._words] for text in texts
        ]
        ends = np.cumsum([0, *map(len, columns)])
        flat = np.array([one for row in columns for one in row], np.intp)
        return csr_array((np.ones(len(flat)), flat, ends), shape=(len(texts), len(self._words)))


def _split(rows: NDArray[Any]) -> list[NDArray[Any]]:
    return [rows[start : start + _ROWS] for start in range(0, max(1, len(rows)), _ROWS)]
