"""Estimated numbers of texts per class label, from released indices.

With ``N`` the number of texts of each label, ``M`` the probability with which the model assigns each code to a text of
a label, ``P`` the matrix of the randomizer and ``c`` the number of received releases of each index, the mean of ``c``
is ``N M P``. For a ``W`` with ``(M P) W = I`` the estimate is ``c W``. Its error is, without any approximation,

    c W - N  =  (c - N M' P) W  +  N (M' - M) P W,

where ``M'`` is the model's true decision matrix and ``M`` its estimate from the held-out texts. The first term is the
sampling error of the noise and of the model's mistakes; the second is the calibration error
(docs/proofs/index-staircase.md, "Texts of a label"). Counts of codes use the same formula with ``M = I``, which is
exact.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray
from textveil.bundle import HeldOut
from textveil.errors import ReleaseError
from textveil.mechanisms.staircase import IndexStaircase

Floats = NDArray[np.float64]
#: One mechanism and its histogram: how often each index arrived, int64, shape ``(indices,)``.
Arrived = tuple[IndexStaircase, NDArray[np.int64]]

#: Above this condition number, rounding errors dominate the corrected counts.
LARGEST_CONDITION = 1e9
#: Pseudo-counts that smooth each row of held-out decisions, spread evenly. Without them a label with few texts, all
#: decided alike, would have an error of zero.
_ADDED_TEXTS = 2.0
#: Half width of an interval, in standard errors.
_ERRORS = 2.0
_NOT_HELD_OUT = "the bundle does not say what its model decided on held-out texts"


@dataclass(frozen=True, kw_only=True)
class Count:
    """Estimated number of texts with a code or a label.

    Attributes:
        label: Name of the code or label.
        count: Unbiased estimate; it may be negative or above ``texts``, and is not a whole number.
        standard_error: Standard error of the estimate, for these very texts.
        texts: Number of all texts in the count.
    """

    label: str
    count: float
    standard_error: float
    texts: int

    @property
    def interval(self) -> tuple[float, float] | None:
        """Return ``count`` plus or minus two standard errors, clipped to ``[0, texts]``.

        Return ``None`` if the interval is wider than ``texts`` or lies outside ``[0, texts]``. An interval outside is
        evidence against the assumption of the estimate: that texts of a label resemble the held-out texts of that
        label.
        """
        reach = _ERRORS * self.standard_error
        if 2 * reach > self.texts or self.count + reach < 0 or self.count - reach > self.texts:
            return None
        low, high = (min(max(end, 0.0), float(self.texts)) for end in (self.count - reach, self.count + reach))
        return low, high

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        interval = self.interval
        return {
            "count": self.count,
            "standard_error": self.standard_error,
            "interval": None if interval is None else list(interval),
        }


@dataclass(frozen=True)
class Estimate:
    """Counts by name, or the reason why no count is possible.

    Attributes:
        counts: One count for each name; empty if none is possible.
        refused: The reason, or ``None``.
    """

    counts: tuple[Count, ...]
    refused: str | None = None


@dataclass(frozen=True)
class Counts:
    """Counts over all received texts together.

    Attributes:
        texts: Number of texts in the count.
        decided: Number of texts that the model on the devices assigned to each code. The standard error is that of the
            noise.
        of_labels: Number of texts with each label. The standard error covers the noise, the model and the held-out
            texts, provided that texts of a label resemble the held-out texts of that label. The shares of the labels
            may differ.
    """

    texts: int
    decided: Estimate
    of_labels: Estimate


def count_codes(names: Sequence[str], arrived: Sequence[Arrived]) -> Estimate:
    """Estimate how many texts the model assigned to each code.

    Args:
        names: Name of every code.
        arrived: Histogram of each mechanism, each mechanism once.
    """
    try:
        weights = [correction(staircase) for staircase, _ in arrived]
    except ReleaseError as error:
        return Estimate((), str(error))
    found, variances = _drawn(weights, arrived)
    return _estimate(names, np.sum(found, axis=0), variances, arrived)


def count_labels(held_out: HeldOut | None, arrived: Sequence[Arrived]) -> Estimate:
    """Estimate how many texts have each label.

    Args:
        held_out: Decisions on texts that the model never saw, or ``None`` if the bundle has none.
        arrived: Histogram of each mechanism, each mechanism once.
    """
    if held_out is None:
        return Estimate((), _NOT_HELD_OUT)
    sizes = held_out.decisions.sum(axis=1)
    if not sizes.all():
        return Estimate((), "a label has no held-out text, so nothing is known of its texts: hold out more")
    rows = held_out.decisions / sizes[:, None]
    weights = []
    for staircase, _ in arrived:
        inverse = right_inverse(rows @ staircase.matrix)
        if inverse is None:
            return Estimate((), f"the decisions on held-out texts cannot be inverted for {_named(staircase)}")
        weights.append(inverse)
    found, variances = _drawn(weights, arrived)
    smoothed = held_out.decisions + _ADDED_TEXTS / held_out.decisions.shape[1]
    smoothed /= smoothed.sum(axis=1, keepdims=True)
    # All mechanisms share one table of held-out decisions, so its errors are correlated: add them before squaring.
    back = [staircase.matrix @ weight for (staircase, _), weight in zip(arrived, weights, strict=True)]
    for label, size in enumerate(sizes):
        reach = sum(max(0.0, float(texts[label])) * part for texts, part in zip(found, back, strict=True))
        variances += (smoothed[label] @ reach**2 - (smoothed[label] @ reach) ** 2) / size
    return _estimate(held_out.labels, np.sum(found, axis=0), variances, arrived)


def right_inverse(rows: Floats) -> Floats | None:
    """Return ``W`` with ``R W = I``, or ``None`` if rounding errors would dominate every ``W``.

    With more columns than rows, ``W`` is the solution of weighted least squares, each column weighted by its mean: the
    estimates then sum to the number of texts, as with a square matrix.

    Args:
        rows: ``R``, one distribution a row, shape ``(n, indices)``.

    Returns:
        Shape ``(indices, n)``.
    """
    root = np.sqrt(rows.mean(axis=0))
    used = root > 0
    scaled = rows[:, used] / root[used]
    if scaled.shape[0] > scaled.shape[1] or not np.linalg.cond(scaled) <= LARGEST_CONDITION:
        return None
    weights = np.zeros(rows.T.shape)
    weights[used] = np.linalg.pinv(scaled) / root[used, None]
    return weights


def correction(staircase: IndexStaircase) -> Floats:
    """Return ``W`` with ``P W = I``, shape ``(indices, codes)``.

    Raises:
        ReleaseError: The rank of the randomizer's matrix ``P`` is smaller than the number of codes, or nearly so.
    """
    inverse = right_inverse(staircase.matrix)
    if inverse is None:
        raise ReleaseError(
            f"{_named(staircase)} cannot tell all codes from each other: counts need a channel of full rank "
            "(counts has it)"
        )
    return inverse


def condition(staircase: IndexStaircase) -> float:
    """Return the condition number of the randomizer's matrix; infinite without full rank."""
    found = float(np.linalg.cond(staircase.matrix))
    return found if np.isfinite(found) and found < 1e15 else float("inf")


def _drawn(weights: Sequence[Floats], arrived: Sequence[Arrived]) -> tuple[list[Floats], Floats]:
    """Return the estimates of each mechanism and the noise variance of their sum.

    The variance is itself an unbiased estimate, clipped to at least 0 for each mechanism.
    """
    found, variances = [], np.zeros(weights[0].shape[1])
    for weight, (_, histogram) in zip(weights, arrived, strict=True):
        found.append(weight.T @ histogram)
        variances += np.maximum(0, (weight**2).T @ histogram - found[-1])
    return found, variances


def _estimate(names: Sequence[str], counts: Floats, variances: Floats, arrived: Sequence[Arrived]) -> Estimate:
    texts = sum(int(histogram.sum()) for _, histogram in arrived)
    return Estimate(
        tuple(
            Count(label=name, count=float(count), standard_error=sqrt(max(0.0, float(variance))), texts=texts)
            for name, count, variance in zip(names, counts, variances, strict=True)
        )
    )


def _named(staircase: IndexStaircase) -> str:
    return f"channel {staircase.level.name} at epsilon {staircase.level.epsilon:f}"
