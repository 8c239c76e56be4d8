"""Construct randomizers of class labels: the most accurate one, and one for unbiased counts of labels.

``Q(y|x)`` is the probability that the device sends the label ``y`` if the model decided on the class ``x``.

**accuracy.** The solution of the following linear program, where ``C[x, y]`` is the share of texts with the decision
``x`` and the true class ``y`` in a calibration split:

    max sum_{x,y} C[x, y] Q(y|x)    with  lo(y) <= Q(y|x) <= exp(epsilon) lo(y),  sum_y Q(y|x) = 1.

Here ``lo(y)`` is an unknown too: a lower bound on the probability of the label ``y`` for every class ``x``.

At a small epsilon this randomizer never returns rare classes, so a server cannot estimate the numbers of texts from its
outputs.

**counts.** k-ary randomized response (Kairouz, Bonawitz, Ramage 2016): every class is a possible output, and the matrix
has full rank. On balanced classes it is the most accurate randomizer too.
"""

from math import exp, inf, isfinite

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linprog
from scipy.sparse import coo_array

from textveil_training.errors import InvalidRandomizer

Floats = NDArray[np.float64]


def fit_accuracy_randomizer(confusion: ArrayLike, epsilon: float) -> Floats:
    """Compute the most accurate randomizer of class labels at an epsilon (``accuracy``) by linear programming.

    Let ``Q(y|x)`` be the probability of the label ``y`` in place of ``x``, for ``n`` labels. The linear program has one
    further variable ``lo(y)`` per output, and requires ``lo(y) <= Q(y|x) <= exp(epsilon) lo(y)`` for each input. This
    needs ``2 n^2`` constraints instead of ``n^3`` for all pairs of inputs, and has the same optimum. The result is
    private up to the solver's tolerance.

    Args:
        confusion: Counts or shares by true class (row) and decision without noise (column), shape ``(n, n)``.
        epsilon: Epsilon per text, above 0.

    Returns:
        ``Q(y|x)``, the probability of each randomized label (column) for each decision (row), shape ``(n, n)``.

    Raises:
        InvalidRandomizer: The matrix is not a confusion matrix, or the solver finds no solution.
    """
    gains = compute_joint_shares(confusion)
    n = len(gains)
    ratio = exp(-epsilon)
    cells = n * n
    x, y = np.divmod(np.arange(cells), n)
    row = np.arange(cells)
    # lo(y) - Q(y|x) <= 0, and exp(-epsilon) Q(y|x) - lo(y) <= 0
    entries = [(row, cells + y, 1.0), (row, row, -1.0), (cells + row, row, ratio), (cells + row, cells + y, -1.0)]
    rows, columns = (np.concatenate([entry[part] for entry in entries]) for part in (0, 1))
    values = np.repeat([entry[2] for entry in entries], cells)
    solved = linprog(
        np.concatenate([-gains.ravel(), np.zeros(n)]),
        A_ub=coo_array((values, (rows, columns)), shape=(2 * cells, cells + n)),
        b_ub=np.zeros(2 * cells),
        A_eq=coo_array((np.ones(cells), (x, row)), shape=(n, cells + n)),
        b_eq=np.ones(n),
        bounds=(0, None),
        method="highs",
    )
    if not solved.success:
        raise InvalidRandomizer("the linear program of a randomizer has no solution: use another epsilon")
    return np.clip(solved.x[:cells].reshape(n, n), 0, None)


def make_counts_randomizer(classes: int, epsilon: float) -> Floats:
    """Return the probabilities of k-ary randomized response for each input (row) and output (column).

    Args:
        classes: Number of classes.
        epsilon: Epsilon per text, at least 0.

    Raises:
        InvalidRandomizer: Epsilon is negative or not a number.
    """
    ratio = exp(-check_epsilon(epsilon))
    return (ratio + (1 - ratio) * np.eye(classes)) / (1 + (classes - 1) * ratio)


def compute_recalls(confusion: ArrayLike, randomizer: ArrayLike) -> Floats:
    """Compute for each class the exact probability that one of its texts gets this class as output.

    Args:
        confusion: Counts by true class (row) and decision without noise (column), shape ``(n, n)``.
        randomizer: Probability of each output (column) for each decision (row), shape ``(n, n)``.

    Returns:
        Probabilities, shape ``(n,)``; NaN for a class without texts.
    """
    counts = np.asarray(confusion, dtype=np.float64)
    with np.errstate(invalid="ignore"):
        return np.diagonal(counts @ np.asarray(randomizer)) / counts.sum(axis=1)


def compute_label_probabilities(confusion: ArrayLike, randomizer: ArrayLike) -> Floats:
    """Estimate the probability of each true label given a randomized label, from a calibration split.

    The function adds one text of each class and decision to the counts, so that no probability is 0.

    Args:
        confusion: Counts by true class (row) and decision without noise (column), shape ``(n, n)``.
        randomizer: Probability of each output (column) for each decision (row), shape ``(n, n)``.

    Returns:
        Probabilities, shape ``(randomized labels, true labels)``; rows sum to 1. For a label that is never an output,
        the row contains the shares of the true labels.
    """
    counts = np.asarray(confusion, dtype=np.float64) + 1 / len(np.asarray(confusion))
    joint = (counts @ np.asarray(randomizer)).T
    joint[joint.sum(axis=1) == 0] = counts.sum(axis=1)
    return joint / joint.sum(axis=1, keepdims=True)


def compute_joint_shares(confusion: ArrayLike) -> Floats:
    """Convert a confusion matrix to joint shares of decision (row) and true class (column).

    The given matrix has a row for each true class. The result is its transpose, scaled to the sum 1.

    Raises:
        InvalidRandomizer: The matrix is not square, has a negative number, or has no positive number.
    """
    counts = np.asarray(confusion, dtype=np.float64)
    if counts.ndim != 2 or counts.shape[0] != counts.shape[1]:
        raise InvalidRandomizer("a confusion matrix must have one row and one column for each class")
    return normalize_counts(counts).T


def normalize_counts(counts: Floats) -> Floats:
    """Divide counts by their sum.

    Raises:
        InvalidRandomizer: A count is negative or not finite, or all are zero.
    """
    total = counts.sum()
    if not (np.isfinite(counts).all() and (counts >= 0).all() and total > 0):
        raise InvalidRandomizer("counts of classes must be finite, not negative, and not all zero")
    return counts / total


def check_epsilon(epsilon: float, delta: float = 0.0) -> float:
    """Check that ``epsilon`` and ``delta`` are valid parameters of a randomizer, and return ``epsilon``.

    Raises:
        InvalidRandomizer: Epsilon is negative or not a number, or delta is not from 0 to 1.
    """
    if not 0 <= epsilon <= inf or not (isfinite(delta) and 0 <= delta <= 1):
        raise InvalidRandomizer("epsilon must be at least 0, and delta from 0 to 1")
    return epsilon
