"""Train fast models: a linear classifier on words and word pairs, and a regression of sentence similarity."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import Ridge
from sklearn.svm import LinearSVC
from textveil_training.attacks.words import MARK, NOTHING, ReadElements

Ints = NDArray[Any]
_PAIR = 1 << 31
STRENGTH = 0.3


def keys(reading: ReadElements, outputs: Ints) -> tuple[Ints, Ints]:
    """Return all words and pairs of adjacent words as numbers, and the document of each."""
    kept = (reading.role != MARK) & (outputs != NOTHING)
    word, document = outputs[kept].astype(np.int64), reading.document[kept]
    inside = document[1:] == document[:-1]
    pairs = (word[:-1][inside] + 1) * _PAIR + word[1:][inside]
    return np.concatenate([word, pairs]), np.concatenate([document, document[1:][inside]])


@dataclass(frozen=True)
class TfIdf:
    """Function object that computes sublinear TF-IDF of words, and of word pairs with two or more occurrences in train.

    Attributes:
        known: Numbers of the words and word pairs that are features, ascending.
        weights: Weights of the features.
    """

    known: Ints
    weights: TfidfTransformer

    @classmethod
    def of(cls, reading: ReadElements, outputs: Ints) -> "TfIdf":
        """Choose the features and fit their weights on documents."""
        found, count = np.unique(keys(reading, outputs)[0], return_counts=True)
        known = found[(count > 1) | (found < _PAIR)]
        empty = cls(known, TfidfTransformer(sublinear_tf=True))
        empty.weights.fit(empty._counts(reading, outputs))
        return empty

    def _counts(self, reading: ReadElements, outputs: Ints) -> Any:
        found, document = keys(reading, outputs)
        place = np.minimum(np.searchsorted(self.known, found), len(self.known) - 1)
        there = self.known[place] == found
        shape = reading.documents, len(self.known)
        ones = np.ones(int(there.sum()))
        return sparse.coo_matrix((ones, (document[there], place[there])), shape=shape).tocsr()

    def __call__(self, reading: ReadElements, outputs: Ints) -> Any:
        """Return the weighted features of documents, sparse, shape (documents, features)."""
        return self.weights.transform(self._counts(reading, outputs))


def accuracy(
    train: ReadElements, train_out: Ints, labels: Ints, test: ReadElements, test_out: Ints, gold: Ints
) -> float:
    """Return the accuracy of a linear classifier, trained and tested on released texts."""
    tfidf = TfIdf.of(train, train_out)
    model = LinearSVC(C=STRENGTH)
    model.fit(tfidf(train, train_out), labels)
    return float(np.mean(model.predict(tfidf(test, test_out)) == gold))


def pearson(
    train: ReadElements, train_out: Ints, scores: Ints, test: ReadElements, test_out: Ints, gold: Ints
) -> float:
    """Return Pearson's correlation of human similarity scores with predictions of a ridge regression."""
    tfidf = TfIdf.of(train, train_out)
    before, after = _pairs(tfidf(train, train_out)), _pairs(tfidf(test, test_out))
    model = Ridge(alpha=1.0).fit(before, scores)
    return float(np.corrcoef(model.predict(after), gold)[0, 1])


def _pairs(rows: Any) -> Any:
    """Return features of sentence pairs: common words, words of only one sentence, similarity of words and length."""
    one, other = rows[0::2], rows[1::2]
    both = one.multiply(other).tocsr()
    alike = np.asarray(both.sum(axis=1))
    apart = abs(one - other)
    lengths = np.abs(np.diff(one.indptr) - np.diff(other.indptr))[:, None] / 10
    dense = sparse.csr_matrix(np.hstack([3 * alike, alike**2, np.sqrt(alike), lengths]))
    return sparse.hstack([dense, both, 0.5 * apart]).tocsr()
