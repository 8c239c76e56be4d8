"""From indices that arrived to how many texts had each code, and how many have each label.

With ``N`` the texts of each label, ``M`` how often the model takes each code for a text of a label, ``P`` the channel
and ``c`` how often each index arrived, the mean of ``c`` is ``N M P``. For a ``W`` with ``(M P) W = I`` the estimate is
``c W``. Its error is, without any approximation,

    c W - N = (c - N M' P) W  +  N (M' - M) P W,

where ``M'`` is what the model truly does and ``M`` what the held-out texts said of it. The first part is the draw, of
the noise and of the model's mistakes; the second is the calibration (docs/proofs/index-staircase.md, "Texts of a
label"). Codes are counted in the same way, with ``M = I``, which is exact.
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
#: The indices that one mechanism released: how often each arrived, int64, shape ``(indices,)``.
Arrived = tuple[IndexStaircase, NDArray[np.int64]]

#: Beyond this condition number corrected counts would be rounding errors.
LARGEST_CONDITION = 1e9
#: Texts that the variance of a row has more than were held out, spread evenly: without them a label of a few texts,
#: all decided alike, would have no error.
_ADDED_TEXTS = 2.0
#: Standard errors on each side of an interval.
_ERRORS = 2.0
_NOT_HELD_OUT = "the bundle does not say what its model decided on held-out texts"


@dataclass(frozen=True, kw_only=True)
class Count:
    """How many texts have a code or a label: an estimate.

    Attributes:
        label: The name.
        count: Unbiased; may be negative or more than all texts, and is not a whole number.
        standard_error: Of that estimate, for these very texts.
        texts: All texts that were counted.
    """

    label: str
    count: float
    standard_error: float
    texts: int

    @property
    def interval(self) -> tuple[float, float] | None:
        """Two standard errors on each side, cut to 0 and all texts; None if it is wider than that, or outside.

        What lies outside speaks against what the estimate stands on: that texts of a label are like the held-out ones.
        """
        reach = _ERRORS * self.standard_error
        if 2 * reach > self.texts or self.count + reach < 0 or self.count - reach > self.texts:
            return None
        low, high = (min(max(end, 0.0), float(self.texts)) for end in (self.count - reach, self.count + reach))
        return low, high

    def to_dict(self) -> dict[str, Any]:
        """Returns plain values for JSON."""
        interval = self.interval
        return {
            "count": self.count,
            "standard_error": self.standard_error,
            "interval": None if interval is None else list(interval),
        }


@dataclass(frozen=True)
class Estimate:
    """Counts by name, or why there are none.

    Attributes:
        counts: One for each name; empty if there are none.
        refused: Why there are none, or None.
    """

    counts: tuple[Count, ...]
    refused: str | None = None


@dataclass(frozen=True)
class Counts:
    """What indices say of all texts together.

    Attributes:
        texts: How many were counted.
        decided: How many texts the model on the device put into each code. The error is that of the noise.
        of_labels: How many texts have each label. The error is that of noise, model and held-out texts, for texts of a
            label that are like the held-out ones of that label. Their share may be another.
    """

    texts: int
    decided: Estimate
    of_labels: Estimate


def count_codes(names: Sequence[str], arrived: Sequence[Arrived]) -> Estimate:
    """Computes how many texts had each code: an estimate.

    Args:
        names: Name of every code.
        arrived: What arrived of each mechanism, each once.
    """
    try:
        weights = [correction(staircase) for staircase, _ in arrived]
    except ReleaseError as error:
        return Estimate((), str(error))
    found, variances = _drawn(weights, arrived)
    return _estimate(names, np.sum(found, axis=0), variances, arrived)


def count_labels(held_out: HeldOut | None, arrived: Sequence[Arrived]) -> Estimate:
    """Computes how many texts have each label: an estimate.

    Args:
        held_out: Decisions on texts that the model never saw, or None if the bundle has none.
        arrived: What arrived of each mechanism, each once.
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
    # One table of held-out texts is wrong for all mechanisms alike: their errors add up before they are squared.
    back = [staircase.matrix @ weight for (staircase, _), weight in zip(arrived, weights, strict=True)]
    for label, size in enumerate(sizes):
        reach = sum(max(0.0, float(texts[label])) * part for texts, part in zip(found, back, strict=True))
        variances += (smoothed[label] @ reach**2 - (smoothed[label] @ reach) ** 2) / size
    return _estimate(held_out.labels, np.sum(found, axis=0), variances, arrived)


def right_inverse(rows: Floats) -> Floats | None:
    """Returns ``W`` with ``R W = I``, or None if there is none that is more than rounding errors.

    With more columns than rows it is that of weighted least squares, each column weighted by its mean: estimates then
    add up to the number of texts, as those of a square matrix do.

    Args:
        rows: ``R``, distributions, shape ``(n, indices)``.

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
    """Returns ``W`` with ``P W = I``, shape ``(indices, codes)``.

    Raises:
        ReleaseError: The rank of the channel's matrix is smaller than the number of codes, or nearly so.
    """
    inverse = right_inverse(staircase.matrix)
    if inverse is None:
        raise ReleaseError(
            f"{_named(staircase)} cannot tell all codes from each other: counts need a channel of full rank "
            "(counts has it)"
        )
    return inverse


def condition(staircase: IndexStaircase) -> float:
    """Returns the condition number of the channel's matrix; infinite without full rank."""
    found = float(np.linalg.cond(staircase.matrix))
    return found if np.isfinite(found) and found < 1e15 else float("inf")


def _drawn(weights: Sequence[Floats], arrived: Sequence[Arrived]) -> tuple[list[Floats], Floats]:
    """The estimate of each mechanism, and the variance that the draws give to their sum, estimated without bias."""
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
