"""Compute accuracy by subgroup, with and without each private attribute, and test each gap against chance.

Tables 6 and 7 of Lyu, He and Li 2020 ("Differentially Private Representation for NLP") give such accuracies without
errors. Here every figure has one, and a gap counts as a difference only if an interval that allows for the number of
attributes excludes 0. All functions are pure.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import norm
from textveil.errors import TextveilError

Floats = NDArray[np.float64]
Bits = NDArray[np.bool_]

MINIMUM = 30
"""Least number of texts with and without an attribute for which figures are computed."""

CONFIDENCE = 0.95
"""Joint confidence of all intervals in a table."""


class SubgroupError(TextveilError):
    """Report that subgroups cannot be measured: no attributes, too few texts, or models and data do not match."""

    code = "subgroup"


@dataclass(frozen=True, slots=True)
class Group:
    """Figures of the texts with an attribute, or of those without it.

    Attributes:
        examples: Number of texts.
        accuracy: Mean over the texts, or None if one of the two groups is too small.
        standard_error: Standard error of the accuracy: ``sqrt(s^2 / n)``, ``s^2`` the variance between texts.
    """

    examples: int
    accuracy: float | None = None
    standard_error: float | None = None


@dataclass(frozen=True, slots=True)
class Gap:
    """Difference of the means of two independent groups: texts with the attribute minus texts without it.

    Attributes:
        value: The difference.
        standard_error: ``sqrt(s_1^2 / n_1 + s_0^2 / n_0)``.
        interval: Interval of the difference. All intervals of the table are right together, with the table's
            confidence.
    """

    value: float
    standard_error: float
    interval: tuple[float, float]

    @property
    def differs(self) -> bool:
        """Return whether the interval excludes 0: the groups differ by more than chance."""
        return self.interval[0] > 0 or self.interval[1] < 0

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            "gap": round(self.value, 5),
            "gap_standard_error": round(self.standard_error, 5),
            "interval": [round(end, 5) for end in self.interval],
            "differs": self.differs,
        }


@dataclass(frozen=True, slots=True)
class WithinClasses:
    """Gap between texts of the same class, averaged over classes, so that both groups have equal shares of classes.

    Attributes:
        gap: Mean over classes, weighted by their frequency, of the gap inside the class (direct standardization).
        share: Share of the texts in classes with enough texts of both groups; the others are left out.
    """

    gap: Gap
    share: float

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return self.gap.to_dict() | {"share": round(self.share, 5)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Attribute:
    """Figures of one attribute; they are None if one of the two groups has fewer texts than the minimum.

    Attributes:
        name: Name of the attribute.
        having: The texts with it.
        lacking: The texts without it.
        gap: Difference in accuracy between the two, or None.
        within_classes: The gap inside classes, or None if no class has enough texts of both groups.
        change: This gap minus the gap of another model on the same texts; None without another model.
    """

    name: str
    having: Group
    lacking: Group
    gap: Gap | None = None
    within_classes: WithinClasses | None = None
    change: Gap | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON; ``gap`` and its error and interval are null without figures."""
        nothing = {"gap": None, "gap_standard_error": None, "interval": None, "differs": None}
        return {
            "name": self.name,
            "with": _round_accuracy(self.having),
            "without": _round_accuracy(self.lacking),
            **(nothing if self.gap is None else self.gap.to_dict()),
            "within_classes": None if self.within_classes is None else self.within_classes.to_dict(),
            "change_from_clean": None if self.change is None else self.change.to_dict(),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Subgroups:
    """Accuracy of one model by subgroup, as a table.

    Attributes:
        examples: Number of texts.
        accuracy: Mean over all of them.
        standard_error: Standard error of the accuracy, over texts.
        attributes: Figures of every attribute, in the order of the columns.
        comparisons: Number of distinct divisions of the texts into two groups; the intervals are corrected for this
            number.
        confidence: Probability that all intervals of one kind (gap, within classes, change) hold together.
        minimum: Smallest number of texts in a subgroup.
    """

    examples: int
    accuracy: float
    standard_error: float
    attributes: tuple[Attribute, ...]
    comparisons: int
    confidence: float
    minimum: int

    @property
    def largest(self) -> Attribute:
        """Return the attribute with the largest gap, in either direction."""
        return max((one for one in self.attributes if one.gap), key=lambda one: abs(one.gap.value if one.gap else 0))

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        largest = self.largest
        return {
            "examples": self.examples,
            "accuracy": round(self.accuracy, 5),
            "standard_error": round(self.standard_error, 5),
            "attributes": [one.to_dict() for one in self.attributes],
            "largest_gap": {"name": largest.name, **(largest.gap.to_dict() if largest.gap else {})},
            "comparisons": self.comparisons,
            "confidence": self.confidence,
            "minimum": self.minimum,
        }


def subgroups(
    correct: ArrayLike,
    attributes: ArrayLike,
    names: Sequence[str],
    *,
    classes: ArrayLike | None = None,
    other: ArrayLike | None = None,
    minimum: int = MINIMUM,
    confidence: float = CONFIDENCE,
) -> Subgroups:
    """Compute accuracy by subgroup.

    A text that was released several times counts once, with the mean over its releases: releases of one text are not
    independent. The variance between these means includes the variance of the choice of texts and the remaining
    variance of the noise.

    The interval of a gap adds ``z^2 / 4`` texts that are always right and as many that are always wrong to each group,
    and then extends ``z`` standard errors to both sides (Agresti and Caffo 2000, "Simple and effective confidence
    intervals for proportions and differences of proportions"). At 95 % for one attribute this adds one text of each
    kind. Without the added texts, a small group without wrong decisions would have an interval of width 0. ``z`` is the
    normal quantile of ``confidence`` divided among the ``comparisons`` (Bonferroni).

    Args:
        correct: Shape ``(texts,)`` or ``(draws, texts)``, from 0 (wrong) to 1 (right).
        attributes: Shape ``(texts, attributes)``, 1 where a text has the attribute, else 0. Columns may overlap or be
            one-hot; each is compared with the rest. A column and its complement are one comparison.
        names: Names of the columns.
        classes: True class of each text, for the gaps within classes; None to omit these gaps.
        other: The same as ``correct``, of another model on the same texts, for the change of each gap: the difference
            per text is compared between the groups, so that what is hard for both models cancels.
        minimum: Smallest number of texts on each side of a subgroup, also within a class; at least 2.
        confidence: Probability that all intervals of a kind hold together, between 0 and 1.

    Raises:
        SubgroupError: Shapes do not fit, a value is out of range, or no attribute has enough texts on both sides.
    """
    present, values = np.asarray(attributes), _per_text(correct)
    if present.ndim != 2 or present.shape != (len(values), len(names)):
        raise SubgroupError("every text needs a row of attributes, and every attribute a name")
    if not np.isin(present, (0, 1)).all():
        raise SubgroupError("attributes must be 0 or 1")
    if minimum < 2 or not 0 < confidence < 1:
        raise SubgroupError("the minimum must be at least 2, and the confidence between 0 and 1")
    bits = present.astype(np.bool_)
    enough = [min(int(column.sum()), int((~column).sum())) >= minimum for column in bits.T]
    if not any(enough):
        raise SubgroupError(f"no attribute has {minimum} texts with it and {minimum} without it")
    comparisons = _divisions(bits[:, enough])
    z = float(norm.ppf(1 - (1 - confidence) / (2 * comparisons)))
    of_class = None if classes is None else np.asarray(classes)
    others = None if other is None else _per_text(other)
    if any(part is not None and part.shape != values.shape for part in (of_class, others)):
        raise SubgroupError("the classes or the other model belong to other texts")
    differences = None if others is None else values - others
    found = []
    for name, having, figures in zip(names, bits.T, enough, strict=True):
        if not figures:
            found.append(Attribute(name=name, having=Group(int(having.sum())), lacking=Group(int((~having).sum()))))
            continue
        found.append(
            Attribute(
                name=name,
                having=_group(values[having]),
                lacking=_group(values[~having]),
                gap=_gap([(values, having, 1.0)], z, 0.0),
                within_classes=None if of_class is None else _within(values, having, of_class, z, minimum),
                change=None if differences is None else _gap([(differences, having, 1.0)], z, -1.0),
            )
        )
    return Subgroups(
        examples=len(values),
        accuracy=float(values.mean()),
        standard_error=_error(values),
        attributes=tuple(found),
        comparisons=comparisons,
        confidence=confidence,
        minimum=minimum,
    )


def _per_text(correct: ArrayLike) -> Floats:
    values = np.asarray(correct, dtype=np.float64)
    if values.ndim not in (1, 2) or not values.size or not ((values >= 0) & (values <= 1)).all():
        raise SubgroupError("correctness must be numbers from 0 to 1, one for every text or for every draw of a text")
    return values.mean(axis=0) if values.ndim == 2 else values


def _divisions(bits: Bits) -> int:
    """Return the number of distinct divisions of the texts into two groups; a column equals its complement."""
    return len({(column ^ column[0]).tobytes() for column in bits.T})


def _group(values: Floats) -> Group:
    return Group(len(values), float(values.mean()), _error(values))


def _error(values: Floats) -> float:
    return math.sqrt(float(values.var(ddof=1)) / len(values))


def _gap(strata: Sequence[tuple[Floats, Bits, float]], z: float, low: float) -> Gap:
    """Compute the weighted sum over strata of the difference of means; values lie between ``low`` and 1."""
    value = variance = center = widened = 0.0
    for values, having, weight in strata:
        for sign, group in ((1, values[having]), (-1, values[~having])):
            value += sign * weight * float(group.mean())
            variance += weight**2 * float(group.var(ddof=1)) / len(group)
            added = z**2 / 4  # of texts at either end of the range
            size = len(group) + 2 * added
            mean = (float(group.sum()) + added * (low + 1)) / size
            square = (float((group**2).sum()) + added * (low**2 + 1)) / size
            center += sign * weight * mean
            widened += weight**2 * (square - mean**2) / size
    reach, limit = z * math.sqrt(widened), 1 - low
    return Gap(value, math.sqrt(variance), (max(center - reach, -limit), min(center + reach, limit)))


def _within(values: Floats, having: Bits, classes: NDArray[Any], z: float, minimum: int) -> WithinClasses | None:
    rows = [classes == kind for kind in np.unique(classes)]
    rows = [row for row in rows if min(int((row & having).sum()), int((row & ~having).sum())) >= minimum]
    counted = sum(int(row.sum()) for row in rows)
    if not rows:
        return None
    strata = [(values[row], having[row], int(row.sum()) / counted) for row in rows]
    return WithinClasses(_gap(strata, z, 0.0), counted / len(values))


def _round_accuracy(group: Group) -> dict[str, Any]:
    figures = {"accuracy": group.accuracy, "standard_error": group.standard_error}
    shown = {name: None if figure is None else round(figure, 5) for name, figure in figures.items()}
    return {"examples": group.examples, **shown}
