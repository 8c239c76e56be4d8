"""Estimate how many texts belong to each class, from the randomized class labels that devices send.

The estimate uses these quantities:

- ``N``: number of texts of each true label.
- ``M``: matrix with one row per true label: how probably the model assigns each class label to texts of that label.
- ``P``: matrix of the randomizer, one row per class label.
- ``c``: how often the server received each label.

The mean of ``c`` is ``N M P``. For a matrix ``W`` with ``(M P) W = I``, the estimate is ``c W``. Its error is, without
any approximation,

    c W - N  =  (c - N M' P) W  +  N (M' - M) P W.

Here ``M'`` is the model's true decision matrix, and ``M`` its estimate from the held-out texts. The first term is the
sampling error of the noise and of the model's mistakes. The second term is the calibration error
(docs/proofs/index-staircase.md, "Texts of a label"). Counts of class labels use the same formula with ``M = I``, which
is exact.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray
from textveil.bundle import HeldOutCounts
from textveil.mechanisms.staircase import LabelStaircase

from textveil_cli.errors import ReleaseError

Floats = NDArray[np.float64]
#: One mechanism and its histogram: the number of releases of each label, int64, shape ``(labels,)``.
MechanismHistogram = tuple[LabelStaircase, NDArray[np.int64]]

#: Above this condition number, rounding errors dominate the corrected counts.
MAX_CONDITION_NUMBER = 1e9
#: Pseudo-counts that are spread evenly over each row of held-out decisions. Without them, a label with few texts that
#: all have the same decision would have an error of zero.
_PSEUDO_TEXTS = 2.0
#: Half width of an interval, in standard errors.
_INTERVAL_ERRORS = 2.0
_NO_HELD_OUT_MESSAGE = "the bundle has no decisions of its model on held-out texts"


@dataclass(frozen=True, kw_only=True)
class CountEstimate:
    """Estimated number of texts that belong to one class.

    Depending on the call, these are the texts whose true label is ``label``, or the texts that the model on the devices
    assigned to ``label`` before the label was randomized.

    Attributes:
        label: Name of the label.
        count: Unbiased estimate. It is not a whole number, and may be negative or larger than ``texts``.
        standard_error: Standard error of the estimate for the received texts.
        texts: Total number of received labels, one for each text.

    Example:
        >>> estimate = CountEstimate(label="Sports", count=120.5, standard_error=30, texts=500)
        >>> estimate.interval
        (60.5, 180.5)
    """

    label: str
    count: float
    standard_error: float
    texts: int

    @property
    def interval(self) -> tuple[float, float] | None:
        """Return ``count`` plus or minus two standard errors, clipped to ``[0, texts]``.

        The result is ``None`` if the interval is wider than ``texts`` or lies outside ``[0, texts]``. An interval
        outside this range shows that an assumption of the estimate is probably wrong, such as that the texts of a label
        resemble its held-out texts.
        """
        half_width = _INTERVAL_ERRORS * self.standard_error
        if 2 * half_width > self.texts or self.count + half_width < 0 or self.count - half_width > self.texts:
            return None
        low, high = (
            min(max(end, 0.0), float(self.texts)) for end in (self.count - half_width, self.count + half_width)
        )
        return low, high

    def to_dict(self) -> dict[str, Any]:
        """Return ``count``, ``standard_error`` and ``interval`` (``None`` or two numbers) as a dictionary for JSON."""
        interval = self.interval
        return {
            "count": self.count,
            "standard_error": self.standard_error,
            "interval": None if interval is None else list(interval),
        }


@dataclass(frozen=True)
class CountEstimates:
    """Estimated counts of all labels, or the reason why no estimate is possible.

    Attributes:
        counts: One estimate for each label; empty if none is possible.
        refusal: The reason why none is possible; otherwise ``None``.

    Example:
        >>> count_true_labels(None, [])
        CountEstimates(counts=(), refusal='the bundle has no decisions of its model on held-out texts')
    """

    counts: tuple[CountEstimate, ...]
    refusal: str | None = None


@dataclass(frozen=True)
class AggregateCounts:
    r"""Estimated number of texts of each class, over all received labels.

    Attributes:
        texts: Number of received labels, one for each text.
        by_class_label: Number of texts that the model on the devices assigned to each class label. The standard error
            covers the randomization of labels.
        by_true_label: Number of texts with each true label. The standard error covers the randomization of labels, the
            errors of the model and the number of held-out texts. It assumes that the texts of a label resemble the
            held-out texts of that label; the shares of the labels may differ.

    Example:
        >>> from textveil.bundle import find_artifact
        >>> from textveil_cli.aggregation import LabelServer
        >>> server = LabelServer.load(find_artifact("ag-static"))
        >>> line = "\t".join(["2", server.bundle.content_hash[:12], "4", "counts"])  # a device released label 2
        >>> counts = server.count_texts([server.parse_line(line, number) for number in range(1, 4)])
        >>> counts.texts, len(counts.by_true_label.counts)
        (3, 4)
    """

    texts: int
    by_class_label: CountEstimates
    by_true_label: CountEstimates


def count_class_labels(names: Sequence[str], histograms: Sequence[MechanismHistogram]) -> CountEstimates:
    """Estimate how many texts the model on the devices assigned to each class label, before labels were randomized.

    Args:
        names: Name of every class label.
        histograms: Pairs: a randomizer of labels, and an array with the number of received copies of each label that
            this randomizer produced. Each randomizer occurs at most once.

    Example:
        >>> from decimal import Decimal
        >>> budgets = np.array([[3, 0], [0, 3]])
        >>> staircase = LabelStaircase.from_integers("counts", Decimal(2), np.array([3, 3]), budgets, unit=1)
        >>> estimates = count_class_labels(("no", "yes"), [(staircase, np.array([60, 40]))])
        >>> [round(estimate.count, 6) for estimate in estimates.counts]
        [63.333333, 36.666667]
    """
    try:
        weights = [compute_correction(staircase) for staircase, _ in histograms]
    except ReleaseError as error:
        return CountEstimates((), str(error))
    estimates, variances = _estimate_by_mechanism(weights, histograms)
    return _make_estimates(names, np.sum(estimates, axis=0), variances, histograms)


def count_true_labels(held_out: HeldOutCounts | None, histograms: Sequence[MechanismHistogram]) -> CountEstimates:
    """Estimate how many texts have each true label.

    Args:
        held_out: Decisions of the model on texts that it was not trained on; ``None`` if the bundle has none.
        histograms: Pairs: a randomizer of labels, and an array with the number of received copies of each label that
            this randomizer produced. Each randomizer occurs at most once.

    Example:
        >>> from decimal import Decimal
        >>> budgets = np.array([[3, 0], [0, 3]])
        >>> staircase = LabelStaircase.from_integers("counts", Decimal(2), np.array([3, 3]), budgets, unit=1)
        >>> held_out = HeldOutCounts(("no", "yes"), np.array([[90, 10], [10, 90]]))
        >>> estimates = count_true_labels(held_out, [(staircase, np.array([60, 40]))])
        >>> [round(estimate.count, 6) for estimate in estimates.counts]
        [66.666667, 33.333333]
    """
    if held_out is None:
        return CountEstimates((), _NO_HELD_OUT_MESSAGE)
    sizes = held_out.decisions.sum(axis=1)
    if not sizes.all():
        return CountEstimates((), "a label has no held-out text: build the bundle with more held-out texts")
    rows = held_out.decisions / sizes[:, None]
    weights = []
    for staircase, _ in histograms:
        inverse = compute_right_inverse(rows @ staircase.probability_matrix)
        if inverse is None:
            return CountEstimates(
                (), f"the held-out texts do not distinguish the labels enough for {_describe_randomizer(staircase)}"
            )
        weights.append(inverse)
    estimates, variances = _estimate_by_mechanism(weights, histograms)
    smoothed = held_out.decisions + _PSEUDO_TEXTS / held_out.decisions.shape[1]
    smoothed /= smoothed.sum(axis=1, keepdims=True)
    # All mechanisms share one table of held-out decisions, so its errors are correlated: add them before squaring.
    products = [
        staircase.probability_matrix @ weight for (staircase, _), weight in zip(histograms, weights, strict=True)
    ]
    for label, size in enumerate(sizes):
        effects = sum(max(0.0, float(texts[label])) * part for texts, part in zip(estimates, products, strict=True))
        variances += (smoothed[label] @ effects**2 - (smoothed[label] @ effects) ** 2) / size
    return _make_estimates(held_out.labels, np.sum(estimates, axis=0), variances, histograms)


def compute_right_inverse(rows: Floats) -> Floats | None:
    """Compute a matrix ``W`` for which ``R W`` is the identity matrix; ``R`` is the argument.

    The result is ``None`` if rounding errors would dominate its values. If ``R`` has more columns than rows, many such
    matrices exist. The result is then the solution of weighted least squares, in which the weight of a column is the
    mean of the column. With this solution the counts that are estimated with ``W`` add up to the number of texts, as
    for a square matrix.

    Args:
        rows: Matrix ``R`` with one distribution per row, shape ``(n, labels)``.

    Returns:
        Matrix ``W`` of shape ``(labels, n)``.
    """
    root = np.sqrt(rows.mean(axis=0))
    is_used = root > 0
    scaled = rows[:, is_used] / root[is_used]
    if scaled.shape[0] > scaled.shape[1] or not np.linalg.cond(scaled) <= MAX_CONDITION_NUMBER:
        return None
    weights = np.zeros(rows.T.shape)
    weights[is_used] = np.linalg.pinv(scaled) / root[is_used, None]
    return weights


def compute_correction(staircase: LabelStaircase) -> Floats:
    """Compute the matrix ``W`` that corrects label counts for the randomization: ``P W`` is the identity matrix.

    ``P`` is the matrix of the randomizer: the entry in row i and column j is the probability that the device sends
    label j for a text of label i. The shape of ``W`` is ``(sent labels, labels)``.

    Raises:
        ReleaseError: The rank of ``P`` is not clearly the number of class labels.

    Example:
        >>> from decimal import Decimal
        >>> budgets = np.array([[3, 0], [0, 3]])
        >>> staircase = LabelStaircase.from_integers("counts", Decimal(2), np.array([3, 3]), budgets, unit=1)
        >>> bool(np.allclose(staircase.probability_matrix @ compute_correction(staircase), np.eye(2)))
        True
    """
    inverse = compute_right_inverse(staircase.probability_matrix)
    if inverse is None:
        raise ReleaseError(
            f"{_describe_randomizer(staircase)} does not distinguish all class labels: use a randomizer of full rank, "
            "such as counts"
        )
    return inverse


def compute_condition_number(staircase: LabelStaircase) -> float:
    """Compute the condition number of the randomizer's matrix; infinite if the matrix lacks full rank.

    Example:
        >>> from decimal import Decimal
        >>> budgets = np.array([[3, 0], [0, 3]])
        >>> staircase = LabelStaircase.from_integers("counts", Decimal(2), np.array([3, 3]), budgets, unit=1)
        >>> round(compute_condition_number(staircase), 6)
        1.333333
    """
    number = float(np.linalg.cond(staircase.probability_matrix))
    return number if np.isfinite(number) and number < 1e15 else float("inf")


def _estimate_by_mechanism(
    weights: Sequence[Floats], histograms: Sequence[MechanismHistogram]
) -> tuple[list[Floats], Floats]:
    """Compute estimated counts from the labels of each randomizer, and the variance of their sum.

    A randomizer is a rule that replaces labels at random. The variance of each randomizer is an unbiased estimate,
    except that a negative value becomes 0.

    Args:
        weights: For each randomizer the matrix that converts its histogram to estimated counts.
        histograms: For each randomizer the number of received copies of each label.

    Returns:
        A list with one array of counts (one count for each label) for each randomizer; and an array with the variance
        of each label's sum, as far as the randomization causes it.
    """
    estimates, variances = [], np.zeros(weights[0].shape[1])
    for weight, (_, histogram) in zip(weights, histograms, strict=True):
        estimates.append(weight.T @ histogram)
        variances += np.maximum(0, (weight**2).T @ histogram - estimates[-1])
    return estimates, variances


def _make_estimates(
    names: Sequence[str], counts: Floats, variances: Floats, histograms: Sequence[MechanismHistogram]
) -> CountEstimates:
    texts = sum(int(histogram.sum()) for _, histogram in histograms)
    return CountEstimates(
        tuple(
            CountEstimate(label=name, count=float(count), standard_error=sqrt(max(0.0, float(variance))), texts=texts)
            for name, count, variance in zip(names, counts, variances, strict=True)
        )
    )


def _describe_randomizer(staircase: LabelStaircase) -> str:
    return f"randomizer {staircase.level.name} at epsilon {staircase.level.epsilon:f}"
