"""Train a linear text classifier, which averages class scores over the words and word pairs of a text.

    scores = mean over words w of E[w] + mean over neighbors (w, w') of D[hash(w, w')] + c,    E[w] = A[w] + U r(w)

This is the linear bag of words of Joulin, Grave, Bojanowski, Mikolov (2017), fitted as a logistic regression with a
Gaussian prior:

    minimize over A, D, U, c:  sum over texts of cross entropy(sqrt(n) scores) + (|A|^2 + |D|^2 + |U|^2 + |c|^2) / 2C

``A`` has a row for each word, and ``D`` for each hash value of a word pair. ``U`` is a matrix, ``c`` a vector, and
``C`` the setting ``strength``. ``r(w)`` is the public vector of a word, and ``n`` is the number of words of a text. The
factor ``sqrt(n)`` makes long texts more certain than short ones, but not in proportion to their length. The score of a
word that is in no training text depends on its public vector alone. The problem is convex, so the result needs no seed.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.sparse import csr_array
from scipy.special import logsumexp
from textveil.vector import compute_pair_buckets

from textveil_training.encoder.word_embeddings import PublicWords, compute_word_shares, count_texts, find_word_ids
from textveil_training.progress import ProgressCallback

Ids = NDArray[np.int64]
Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class StaticSettings:
    """Settings for training a static extractor, a linear classifier that computes the vector of a text from its words.

    The extractor has a table with a row (vector) for each word, and for each bucket (hash value) of pairs of
    neighboring words. It classifies texts into the classes of the training texts. If these have no classes, clusters
    (groups of similar texts) take their place.

    Attributes:
        dimension: Largest number of coordinates of a row. In training with classes, a row has one coordinate for each
            class. With more classes than ``dimension``, rows are projected onto their first principal components.
        pairs: Number of buckets for pairs of neighboring words: a power of two, or 0 for no pairs.
        min_texts: Smallest number of training texts with a word or a bucket. The row of a rarer word is its public
            vector alone, without a trained part; a rarer bucket is ignored. So no row depends on a single text.
        strength: Inverse weight ``C`` of the penalty on large rows: larger values fit the texts more closely.
        max_iterations: Largest number of steps of the optimizer.
        max_characters: Number of characters to which longer texts are cut.
        seed: Seed of k-means, which finds the clusters. Texts with classes do not need it.
    """

    dimension: int = 64
    pairs: int = 1 << 15
    min_texts: int = 3
    strength: float = 3.0
    max_iterations: int = 300
    max_characters: int = 20_000
    seed: int = 0

    def describe(self) -> dict[str, Any]:
        """Return the settings for the model card of an extractor that was trained on texts with classes.

        The result has the value of each attribute by its name, without ``seed``: with classes nothing depends on it.
        """
        return {name: value for name, value in asdict(self).items() if name != "seed"}


@dataclass(frozen=True, slots=True, kw_only=True)
class StaticWeights:
    """A trained static extractor (linear text classifier), in floating point.

    Attributes:
        word_rows: Vector of each word, shape ``(words + 2, width)``; the last two rows are for words that are numerals
            and for unknown words.
        pair_rows: Vector of each hash bucket of word pairs, shape ``(pairs, width)``.
        weight: Linear map from a text's vector to scores of classes, shape ``(classes, width)``; the identity matrix
            if the vectors already contain one score for each class.
        bias: Constants that are added to the scores, shape ``(classes,)``.
    """

    word_rows: Floats
    pair_rows: Floats
    weight: Floats
    bias: Floats


class _StaticObjective:
    """The objective of ``train_static`` and its gradient, as functions of all weights in one flat vector.

    Args:
        words: For each text and word, the share of the word in the text times ``sqrt(n)``, with n the number of words
            in the text; shape ``(texts, words + 2)``. The last two columns are for numbers and unknown words.
        used_words: Ids of words with trained rows, ascending.
        pairs: The same for each hash bucket of word pairs, shape ``(texts, buckets)``.
        used_pairs: Ids of buckets with trained rows, ascending.
        roots: ``sqrt(n)`` of each text, shape ``(texts, 1)``.
        public: Word vectors of the public model, shape ``(words + 2, dimension)``. The row of each word is a trained
            linear map of its public vector, plus a trained row of its own if it has one.
        classes: Class id of each text.
        class_count: Number of classes.
        strength: Inverse weight of the penalty (``StaticSettings.strength``).
    """

    def __init__(
        self,
        words: csr_array,
        used_words: Ids,
        pairs: csr_array,
        used_pairs: Ids,
        roots: Doubles,
        public: Doubles,
        classes: Ids,
        class_count: int,
        strength: float,
    ) -> None:
        self._words, self._used, self._pairs = words, used_words, pairs[:, used_pairs]
        self._roots, self._public = roots, public
        self._classes, self._strength = classes, strength
        self._at = np.arange(len(classes))
        counts = [len(used_words), len(used_pairs), public.shape[1], 1]
        self.shape = (sum(counts), class_count)
        self._ends = np.cumsum(counts)[:-1]

    def unpack_weights(self, flat: Doubles) -> tuple[Doubles, Doubles, Doubles]:
        """Split the flat vector of all weights into three arrays: word rows, rows of pair buckets, and bias."""
        own, pairs, through, bias = np.split(flat.reshape(self.shape), self._ends)
        words = self._public @ through
        words[self._used] += own
        return words, pairs, bias[0]

    def __call__(self, flat: Doubles) -> tuple[float, Doubles]:
        words, pairs, bias = self.unpack_weights(flat)
        scores = self._words @ words + self._pairs @ pairs + self._roots * bias
        logs = scores - logsumexp(scores, axis=1, keepdims=True)
        loss = -logs[self._at, self._classes].sum() + (flat @ flat) / (2 * self._strength)
        wrong = np.exp(logs)
        wrong[self._at, self._classes] -= 1
        of_words = self._words.T @ wrong
        parts = [of_words[self._used], self._pairs.T @ wrong, self._public.T @ of_words, self._roots.T @ wrong]
        return float(loss), np.concatenate(parts).ravel() + flat / self._strength


def train_static(
    texts: Sequence[str],
    classes: Sequence[int],
    class_count: int,
    public: PublicWords,
    settings: StaticSettings,
    report: ProgressCallback,
) -> StaticWeights:
    """Train a static extractor (linear text classifier) on labeled texts.

    On one machine and one thread, equal texts and settings give equal weights.

    Args:
        texts: Training texts.
        classes: Class id of each text.
        class_count: Number of classes.
        public: Public words and their vectors.
        settings: Settings of the training.
        report: Called with the stage, the finished steps and the largest possible number of steps.
    """
    words = find_word_ids(texts, public, settings.max_characters)
    roots = np.sqrt([max(1, len(ids)) for ids in words])[:, None]
    of_words = (compute_word_shares(words, len(public.rows)) * roots).tocsr()
    buckets = [compute_pair_buckets(ids, settings.pairs) if settings.pairs else ids[:0] for ids in words]
    of_pairs = (compute_word_shares(buckets, settings.pairs) * roots).tocsr()
    used_words, used_pairs = (
        np.flatnonzero(count_texts(found, found.shape[1]) >= settings.min_texts) for found in (of_words, of_pairs)
    )
    sums = _StaticObjective(
        of_words,
        used_words,
        of_pairs,
        used_pairs,
        roots,
        public.rows.astype(np.float64) / np.sqrt(public.rows.shape[1]),
        np.array(classes, dtype=np.int64),
        class_count,
        settings.strength,
    )
    done = 0

    def count_iteration(_: object) -> None:
        nonlocal done
        done += 1
        report("training", done, settings.max_iterations)

    start = np.zeros(sums.shape).ravel()
    options = {"maxiter": settings.max_iterations, "maxfun": 2 * settings.max_iterations}
    found = minimize(sums, start, jac=True, method="L-BFGS-B", callback=count_iteration, options=options)
    report("training", settings.max_iterations, settings.max_iterations)
    word_rows, pairs, bias = sums.unpack_weights(found.x)
    pair_rows = np.zeros((settings.pairs, class_count))
    pair_rows[used_pairs] = pairs
    return _reduce_dimension(word_rows, pair_rows, bias, settings.dimension)


def _reduce_dimension(word_rows: Doubles, pair_rows: Doubles, bias: Doubles, dimension: int) -> StaticWeights:
    """Reduce the number of coordinates of rows if there are more classes than dimensions.

    Args:
        word_rows: Class scores of each word, shape ``(words + 2, classes)``.
        pair_rows: Class scores of each bucket of word pairs, shape ``(pairs, classes)``.
        bias: Constant score of each class, shape ``(classes,)``.
        dimension: Largest number of coordinates of a row.
    """
    weight = np.eye(len(bias))
    if len(bias) > dimension:
        _, directions = np.linalg.eigh(word_rows.T @ word_rows + pair_rows.T @ pair_rows)  # ascending
        weight = directions[:, -dimension:]
    rows = [part.astype(np.float32) for part in (word_rows @ weight, pair_rows @ weight, weight, bias)]
    return StaticWeights(word_rows=rows[0], pair_rows=rows[1], weight=rows[2], bias=rows[3])
