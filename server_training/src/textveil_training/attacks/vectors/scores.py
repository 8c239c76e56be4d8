"""Measure how well an attacker infers private attributes of texts, and compare attackers.

Results are stored per text, so that two attackers can be compared on the same texts with a standard error.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

Floats = NDArray[np.float64]
Bits = NDArray[np.bool_]

_RESAMPLES = 400


@dataclass(frozen=True, kw_only=True)
class AttributeLeak:
    """Success of one attacker in inferring private attributes, on the texts of the test split.

    ``F`` is ``2 tp / (2 tp + fp + fn)``, with tp true positives, fp false positives and fn false negatives. *Micro* F
    counts these over all attributes together, as in Coavoux, Narayan and Cohen (2018). ``privacy`` is 1 - F with the
    threshold 1/2 for every score, as in their tables and those of Lyu, He and Li (2020). For an attacker who wants the
    largest F, 1/2 is not the best threshold: the *tuned* figures use for each attribute the threshold with the best F
    on the dev split.

    Attributes:
        f_half: Micro F at the threshold 1/2.
        f_tuned: Mean over attributes of F at thresholds tuned on dev.
        auc: Mean over attributes of the area under the ROC curve.
        accuracy: Mean over attributes of the share of right guesses at the threshold 1/2.
        f_tuned_each: Tuned F of each attribute.
        auc_each: Area under the curve of each attribute.
        auc_standard_error: Standard error of ``auc`` over texts (DeLong, DeLong and Clarke-Pearson 1988).
        f_standard_error: Standard error of ``f_tuned`` over texts (bootstrap).
    """

    f_half: float
    f_tuned: float
    auc: float
    accuracy: float
    f_tuned_each: tuple[float, ...]
    auc_each: tuple[float, ...]
    auc_standard_error: float
    f_standard_error: float
    _parts: "_TextContributions" = field(repr=False, compare=False)

    @property
    def privacy(self) -> float:
        """One minus the attacker's micro F at the threshold 1/2: the privacy of Coavoux et al. (2018) for names."""
        return 1 - self.f_half

    @property
    def demographic_privacy(self) -> float:
        """One minus the attacker's accuracy: the privacy of Coavoux et al. (2018) for age and gender."""
        return 1 - self.accuracy

    def to_dict(self) -> dict[str, Any]:
        """Return the figures by name, rounded to five decimals, as values that JSON can store."""
        shown = {name: value for name, value in vars(self).items() if name != "_parts"}
        rounded = {
            name: [round(v, 5) for v in value] if isinstance(value, tuple) else round(value, 5)
            for name, value in shown.items()
        }
        return {"privacy": round(self.privacy, 5), "demographic_privacy": round(self.demographic_privacy, 5), **rounded}

    def compare(self, other: "AttributeLeak") -> "AttackAdvantage":
        """Compute how much better this attacker is than another one on the same texts, with standard errors."""
        auc, auc_error = self._parts.compare_auc(other._parts)
        f_tuned, f_error = self._parts.compare_f(other._parts)
        return AttackAdvantage(auc=auc, auc_standard_error=auc_error, f_tuned=f_tuned, f_standard_error=f_error)


@dataclass(frozen=True, kw_only=True)
class AttackAdvantage:
    """Differences between two attackers on the same texts, with standard errors over texts.

    Attributes:
        auc: Difference of the mean areas under the ROC curve.
        auc_standard_error: Standard error of the difference ``auc``.
        f_tuned: Difference of the mean F (``f_tuned`` of ``AttributeLeak``).
        f_standard_error: Standard error of the difference ``f_tuned``.
    """

    auc: float
    auc_standard_error: float
    f_tuned: float
    f_standard_error: float

    def is_significant(self, standard_errors: float = 3.0) -> bool:
        """Return whether the first attacker is significantly better in the area under the ROC curve or in tuned F.

        Args:
            standard_errors: Number of standard errors that the difference must exceed.
        """
        return (
            self.auc > standard_errors * self.auc_standard_error
            or self.f_tuned > standard_errors * self.f_standard_error
        )


def measure_leak(dev_scores: Floats, dev_present: Bits, scores: Floats, present: Bits) -> AttributeLeak:
    """Measure an attacker's success at inferring attributes of texts, from its scores and the true attributes.

    Args:
        dev_scores: Scores of the dev texts from 0 to 1, shape (repetitions of the noise, dev texts, attributes), to
            tune thresholds. A high score means that the attacker expects the attribute.
        dev_present: The true attributes, shape (dev texts, attributes).
        scores: Scores of the test texts, shape (repetitions of the noise, texts, attributes).
        present: The true attributes of the test texts, shape (texts, attributes). For each attribute there must be a
            text with it and a text without it.
    """
    half = np.full(present.shape[1], 0.5)
    tuned = np.array([_find_best_threshold(dev_scores[..., a], dev_present[:, a]) for a in range(present.shape[1])])
    at_half, at_tuned = _count_outcomes(scores, present, half), _count_outcomes(scores, present, tuned)
    placements, auc_each = _compute_placements(scores, present)
    parts = _TextContributions(counts=at_tuned, placements=placements, auc_each=auc_each, present=present)
    return AttributeLeak(
        f_half=float(_compute_f(at_half.sum(axis=(1, 2)))),
        f_tuned=float(_compute_f(at_tuned.sum(axis=1)).mean()),
        auc=float(parts.auc_each.mean()),
        accuracy=float(((scores > 0.5) == present).mean()),
        f_tuned_each=tuple(_compute_f(at_tuned.sum(axis=1)).tolist()),
        auc_each=tuple(parts.auc_each.tolist()),
        auc_standard_error=parts.compare_auc(None)[1],
        f_standard_error=parts.compare_f(None)[1],
        _parts=parts,
    )


@dataclass(frozen=True, kw_only=True)
class _TextContributions:
    """Contribution of each text to an attacker's success figures, for standard errors over texts.

    Attributes:
        counts: True positives, false positives and false negatives at the thresholds that are best on dev, means over
            repetitions of the noise, shape (3, texts, attributes).
        placements: Position of the text's score among the scores of other texts, means over repetitions of the noise,
            shape (texts, attributes). For a text with the attribute: the share of texts without the attribute that have
            a lower score. For a text without it: the share of texts with the attribute that have a higher score.
        auc_each: Area under the curve of each attribute.
        present: The true attributes.
    """

    counts: Floats
    placements: Floats
    auc_each: Floats
    present: Bits

    def compare_auc(self, other: "_TextContributions | None") -> tuple[float, float]:
        """Return the difference of the mean areas under the ROC curve, and its standard error (DeLong).

        Args:
            other: The other attacker; ``None`` for the area of this attacker alone.
        """
        difference = self.placements - (0 if other is None else other.placements)
        areas = self.auc_each - (0 if other is None else other.auc_each)
        with_it = self.present.sum(axis=0)
        weights = np.where(self.present, 1 / with_it, 1 / (len(self.present) - with_it))
        centered = (difference - areas) * weights
        # A text counts in every attribute: its contributions to the mean are added before they are squared.
        return float(areas.mean()), float(np.sqrt((centered.mean(axis=1) ** 2).sum()))

    def compare_f(self, other: "_TextContributions | None") -> tuple[float, float]:
        """Return how much the mean F score is higher than that of another attacker, and the bootstrap standard error.

        The thresholds of the F scores are those that are best on dev. Both attackers use the same resamples of texts.

        Args:
            other: The other attacker; ``None`` for the F of this attacker alone.
        """
        texts = len(self.present)
        generator = np.random.default_rng(texts)  # a fixed seed is safe, since these random numbers protect no text
        weights = generator.multinomial(texts, np.full(texts, 1 / texts), size=_RESAMPLES).astype(np.float64)

        def mean_f(parts: _TextContributions, weights: Floats) -> Floats:
            return _compute_f(np.einsum("rt,cta->cra", weights, parts.counts)).mean(axis=-1)

        found = mean_f(self, np.ones((1, texts)))
        spread = mean_f(self, weights)
        if other is not None:
            found, spread = found - mean_f(other, np.ones((1, texts))), spread - mean_f(other, weights)
        return float(found[0]), float(spread.std(ddof=1))


def _count_outcomes(scores: Floats, present: Bits, thresholds: Floats) -> Floats:
    """Count true positives, false positives and false negatives of each text, as means over repeated noise.

    Args:
        scores: Scores, shape ``(repetitions of the noise, texts, attributes)``.
        present: The true attributes, shape ``(texts, attributes)``.
        thresholds: Threshold of each attribute.

    Returns:
        Counts, shape ``(3, texts, attributes)``.
    """
    guessed = (scores > thresholds).mean(axis=0)
    return np.stack([guessed * present, guessed * ~present, (1 - guessed) * present])


def _compute_f(counts: Floats) -> Floats:
    """Compute the F score from true positives, false positives and false negatives; 0 if all three are 0.

    The first axis of ``counts`` has these three numbers, in this order.
    """
    tp, fp, fn = counts
    return np.divide(2 * tp, 2 * tp + fp + fn, out=np.zeros_like(tp), where=2 * tp + fp + fn > 0)


def _find_best_threshold(scores: Floats, present: Bits) -> float:
    """Find the threshold of an attacker's scores with the best F score on the dev split.

    The threshold is between two observed scores, or below all of them.

    Args:
        scores: Attacker's scores of one attribute, shape ``(repetitions of the noise, texts)``.
        present: Whether each text has the attribute, shape ``(texts,)``.
    """
    flat, truth = scores.ravel(), np.broadcast_to(present, scores.shape).ravel()
    order = np.argsort(-flat, kind="stable")
    sorted_scores = flat[order]
    tp = np.cumsum(truth[order])
    last = np.append(sorted_scores[1:] != sorted_scores[:-1], True)  # last of several equal scores
    f = 2 * tp / (np.arange(1, len(flat) + 1) + truth.sum())
    best = int(np.flatnonzero(last)[np.argmax(f[last])])
    return float(sorted_scores[best : best + 2].mean()) if best + 1 < len(flat) else -1.0


def _compute_placements(scores: Floats, present: Bits) -> tuple[Floats, Floats]:
    """Compute for each text the share of comparisons with other texts in which its score is right, and the ROC areas.

    A text with the attribute is compared with all texts without it, and should have the higher score; a text without it
    is compared with all texts with it. A tie counts one half.

    Args:
        scores: Attacker's scores, shape ``(repetitions of the noise, texts, attributes)``.
        present: Whether each text has each attribute, shape ``(texts, attributes)``.
    """
    total = np.zeros(present.shape)
    for draw in scores:
        for attribute, (column, truth) in enumerate(zip(draw.T, present.T, strict=True)):
            among_all = rankdata(column)
            among_own = np.empty(len(column))
            for kind in (truth, ~truth):
                among_own[kind] = rankdata(column[kind])
            lower = among_all - among_own  # texts with the opposite attribute and a lower score; ties count half
            with_it = int(truth.sum())
            total[:, attribute] += np.where(truth, lower / (len(truth) - with_it), 1 - lower / with_it)
    placements = total / len(scores)
    return placements, np.array([p[t].mean() for p, t in zip(placements.T, present.T, strict=True)])
