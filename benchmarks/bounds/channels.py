"""Compute how accurate any release can be: two linear programs over channels on classes, and randomized response.

A device releases ``z = M(text)`` and a server decides on a class ``o`` from it. Whatever the mechanism and the
classifier are, the pair of them is a random map from texts to classes; as a function of a private release it is private
at the same level (post-processing). The programs below find the best such map without any assumption about texts, so
their results hold for every representation.

**Ceiling.** Let ``Pr[o | text]`` be ``(epsilon, delta)``-LDP over any two texts and ``T_y`` the distribution of texts
of class ``y``. Average the map over the texts of a class: ``Q(o|y) = E[Pr[o | text] : text ~ T_y]``. For any two
classes and any set ``S`` of decisions ``Q(S|y) <= e^epsilon Q(S|y') + delta``, since the inequality holds for every
pair of texts and averaging the left side over ``T_y`` and the right over ``T_y'`` keeps it. The accuracy is ``sum_y
pi_y Q(y|y)``, which is at most the largest value over all such ``Q``: a linear program with the class prior as its only
input. ``pi`` must be the shares of the classes among the examples on which the accuracy is measured.

**Reference.** The accuracy if the best channel ``Q(o|yhat)`` releases the decision ``yhat`` of the model without noise.
It shows the loss that is due to privacy alone. It is not an upper bound: a representation may contain more than a
decision, such as the certainty of the model, and another extractor may be better.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import exp, nextafter, sqrt
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linprog
from scipy.sparse import coo_array
from textveil_training.errors import InvalidRandomizer
from textveil_training.label_randomizers import (
    check_epsilon,
    compute_joint_shares,
    make_counts_randomizer,
    normalize_counts,
)

Floats = NDArray[np.float64]
#: Bound of a representation's vectors.
Mode = Literal["l1", "l2", "box"]

#: Number of standard errors by which an accuracy must exceed the ceiling to count as a fault.
STANDARD_ERRORS = 4.0
#: Above this ratio ``e^epsilon`` has no visible effect on an accuracy, and the solver loses digits.
_LARGEST_EPSILON = 40.0
#: Probabilities of a channel are integers out of this number: a float64 holds each of them exactly.
_WHOLE = 1 << 53
#: Probabilities below this value are the solver's rounding errors if no input needs the output more often.
_DUST = 1e-9
#: Shares of a constant row to try, smallest first; 1 is a channel whose output reveals nothing.
_SHARES = (0.0, *(2.0**-power for power in range(52, -1, -1)))


@dataclass(frozen=True, slots=True)
class BestChannel:
    """Solution of a linear program.

    Attributes:
        accuracy: The program's value, within the solver's tolerance (about 1e-7).
        channel: ``Q(o|i)``, shape (inputs, classes). The floats, read as exact rational numbers, are a private channel:
            no entry is negative, rows sum to 1, and ``(epsilon, delta)`` holds.
    """

    accuracy: float
    channel: Floats


def ceiling(prior: ArrayLike, epsilon: float, delta: float = 0.0) -> float:
    """Compute the largest accuracy of any ``(epsilon, delta)``-LDP release with any classifier.

    ``max_Q sum_y pi_y Q(y|y)`` over channels on the K classes with, for every ``y, y'``, ``sum_o max(0, Q(o|y) -
    e^epsilon Q(o|y')) <= delta``. The module's docstring explains why this is a bound. It is also exact for ``delta >
    0``, where it is at most ``delta`` above the value for ``delta = 0``.

    Args:
        prior: Share of each class among the examples that are scored, shape (classes,); counts are accepted.
        epsilon: Whole-text epsilon, natural logarithm, at least 0.
        delta: Whole-text delta, from 0 to 1.

    Returns:
        From the largest share (epsilon 0) to 1.

    Raises:
        InvalidRandomizer: The prior has a negative number or no positive one, or epsilon or delta is out of range.
    """
    shares = np.asarray(prior, dtype=np.float64)
    if shares.ndim != 1:
        raise InvalidRandomizer("a prior must have one number for each class")
    return best_channel(np.diag(normalize_counts(shares)), epsilon, delta).accuracy


def reference(confusion: ArrayLike, epsilon: float, delta: float = 0.0) -> float:
    """Compute the accuracy of the best private release of the decision of a model without noise.

    ``max_Q sum_{yhat,o} P(yhat) Q(o|yhat) P(y=o|yhat)`` over ``(epsilon, delta)``-LDP channels from decisions to
    classes. This is not an upper bound for other releases; see the module's docstring.

    Args:
        confusion: Counts or shares by true class (row) and decision without noise (column), shape (classes, classes),
            as scikit-learn's ``confusion_matrix`` gives them.
        epsilon: Whole-text epsilon.
        delta: Whole-text delta.

    Raises:
        InvalidRandomizer: For the reasons of ``ceiling``, or the matrix is not square.
    """
    return best_channel(compute_joint_shares(confusion), epsilon, delta).accuracy


def randomized_response(confusion: ArrayLike, epsilon: float) -> float:
    """Compute the accuracy of releasing the clean model's decision by k-ary randomized response: a baseline.

    The decision is kept with probability ``e^epsilon / (e^epsilon + K - 1)``, else another class is drawn uniformly
    (Kairouz, Oh and Viswanath 2016). The server decides by Bayes: ``sum_o max_y sum_yhat P(yhat, y) Q(o|yhat)``. It is
    epsilon-LDP for whole texts. Unlike a representation, it serves only one task.

    Args:
        confusion: The same as in ``reference``.
        epsilon: Whole-text epsilon.

    Raises:
        InvalidRandomizer: For the reasons of ``reference``.
    """
    gains = compute_joint_shares(confusion)
    return float((gains.T @ make_counts_randomizer(len(gains), epsilon)).max(axis=0).sum())


def best_channel(gains: ArrayLike, epsilon: float, delta: float = 0.0) -> BestChannel:
    """Solve ``max_Q sum_{i,o} gains[i,o] Q(o|i)`` over ``(epsilon, delta)``-LDP channels.

    The set inequality of ``(epsilon, delta)``-LDP is one linear row for each ordered pair of inputs by way of ``t(o) >=
    Q(o|i) - e^epsilon Q(o|i')``, ``t >= 0``, ``sum_o t(o) <= delta``. HiGHS (``scipy``) solves the program, but its
    solution satisfies the rows only up to a tolerance. ``_private`` converts it to a channel that satisfies them
    exactly.

    Args:
        gains: Value of a decision ``o`` (column) for an input ``i`` (row), not negative, shape (inputs, classes).
        epsilon: A number of at least 0.
        delta: A number from 0 to 1.

    Raises:
        InvalidRandomizer: Epsilon or delta is out of range, or the solver finds no solution.
    """
    gains = np.asarray(gains, dtype=np.float64)
    # Written with e^-epsilon: numbers of at most 1 keep the solver's tolerances meaningful at large epsilon.
    ratio = exp(-min(check_epsilon(epsilon, delta), _LARGEST_EPSILON))
    inputs, classes = gains.shape
    pairs = [(i, other) for i in range(inputs) for other in range(inputs) if i != other]
    cells = inputs * classes
    slacks = len(pairs) * classes if delta > 0 else 0
    rows: list[tuple[int, int, float]] = []
    for number, (i, other) in enumerate(pairs):
        for o in range(classes):
            row = number * classes + o
            rows += [(row, i * classes + o, ratio), (row, other * classes + o, -1.0)]
            if slacks:  # t is measured in units of e^epsilon here, so that its coefficient is 1
                rows.append((row, cells + row, -1.0))
    limits = [0.0] * (len(pairs) * classes)
    if slacks:
        rows += [
            (len(limits) + number, cells + number * classes + o, 1.0)
            for number in range(len(pairs))
            for o in range(classes)
        ]
        limits += [delta * ratio] * len(pairs)
    ones = [(i, i * classes + o, 1.0) for i in range(inputs) for o in range(classes)]
    solved = linprog(
        np.concatenate([-gains.ravel(), np.zeros(slacks)]),
        A_ub=_sparse(rows, len(limits), cells + slacks),
        b_ub=limits,
        A_eq=_sparse(ones, inputs, cells + slacks),
        b_eq=np.ones(inputs),
        bounds=(0, None),
        method="highs",
    )
    if not solved.success:
        raise InvalidRandomizer("the linear program of a channel has no solution")
    return BestChannel(float(-solved.fun), _private(gains, solved.x[:cells].reshape(inputs, classes), epsilon, delta))


def standard_error(accuracy: float, decisions: int) -> float:
    """Bound the standard error of the share of correct decisions among ``n`` by ``sqrt(a (1 - a) / n)``.

    For fixed examples, several draws of noise for one text are independent decisions. The ceiling is also for fixed
    examples.
    """
    return sqrt(max(0.0, accuracy * (1 - accuracy)) / decisions)


def exceeds(accuracy: float, decisions: int, bound: float, standard_errors: float = STANDARD_ERRORS) -> bool:
    """Return whether an accuracy exceeds its ceiling significantly, which shows a fault in noise or accounting.

    ``accuracy > bound + standard_errors * sqrt(bound (1 - bound) / n)``. If the true accuracy were the ceiling itself,
    one result in 30,000 would exceed it by four standard errors.

    Args:
        accuracy: Share of correct decisions.
        decisions: Number of independent decisions: examples times draws of noise.
        bound: ``ceiling`` of those examples at the release's whole-text epsilon and delta.
        standard_errors: Number of standard errors by which the accuracy must exceed the ceiling.
    """
    return accuracy > bound + standard_errors * standard_error(bound, decisions)


def _private(gains: Floats, solution: Floats, epsilon: float, delta: float) -> Floats:
    """Return a channel near a solver's solution that is private in exact arithmetic.

    All rows are moved toward one constant row by the smallest share of ``_SHARES`` that makes the channel private, in
    integers out of ``_WHOLE``. The private channels are a convex set that contains every channel with equal rows, so
    the last share (1) always succeeds. The function tries two constant rows: the mean of the rows, which is best at a
    small epsilon, where all rows are similar; and the uniform row, which is best at a larger one, where it raises
    probabilities that the solver rounded to 0.
    """
    rows = np.clip(solution, 0, None)
    rows[:, rows.max(axis=0) < _DUST] = 0
    rows /= rows.sum(axis=1, keepdims=True)
    used = rows.any(axis=0)
    constants = rows.mean(axis=0), used / used.sum()
    found = [_mix_with_constant(rows, constant, epsilon, delta) for constant in constants]
    return max(found, key=lambda channel: float((gains * channel).sum()))


def _mix_with_constant(rows: Floats, constant: Floats, epsilon: float, delta: float) -> Floats:
    """Mix the rows with one constant row, by the smallest share in ``_SHARES`` that makes them private."""
    tried = (np.stack([_integers(row) for row in (1 - share) * rows + share * constant]) for share in _SHARES)
    counts = next(counts for counts in tried if _is_private(counts, epsilon, delta))
    return (counts / _WHOLE).astype(np.float64)


def _integers(row: Floats) -> NDArray[np.object_]:
    """Return Python integers in proportion to a row, with the sum ``_WHOLE``; positive entries stay positive."""
    counts = np.array([max(int(share * _WHOLE), int(share > 0)) for share in row.tolist()], dtype=object)
    counts[int(np.argmax(row))] += _WHOLE - counts.sum()
    return counts


def _is_private(counts: NDArray[np.object_], epsilon: float, delta: float) -> bool:
    """Check in integers that ``sum_o max(0, Q(o|i) - e^epsilon Q(o|i')) <= delta`` for all pairs.

    ``e^epsilon`` is replaced by a rational number that is not above it.
    """
    below = nextafter(nextafter(exp(min(epsilon, _LARGEST_EPSILON)), 0), 0)  # exp errs by less than one unit
    ratio = Fraction(max(1.0, below))
    excess = ratio.denominator * counts[:, None] - ratio.numerator * counts[None]
    return bool((np.maximum(excess, 0).sum(axis=2) <= Fraction(delta) * _WHOLE * ratio.denominator).all())


def _sparse(entries: list[tuple[int, int, float]], rows: int, columns: int) -> coo_array:
    row, column, value = zip(*entries, strict=True) if entries else ((), (), ())
    return coo_array((value, (row, column)), shape=(rows, columns))
