"""Compute a server's accuracy on released labels: exactly for class labels, from many samples for vectors.

A device has a label ``x``. A release is described by the probability ``P(o|x)`` of every output ``o``, and by a
likelihood ``L(x, o)``, which equals ``P(o|x)`` times a factor that depends only on ``o``. For class labels both are the
randomizer's matrix. For vectors with noise the outputs are samples, the same number for each label, and the likelihood
is the density.
"""

from dataclasses import dataclass
from functools import lru_cache
from math import sqrt

import numpy as np
from bounds.channels import Mode, ceiling
from numpy.typing import NDArray
from textveil_export.label import compute_realized_epsilon, make_integer_randomizer
from textveil_training.dpnr import compute_noise_scale
from textveil_training.label_randomizers import fit_accuracy_randomizer, make_counts_randomizer

Floats = NDArray[np.float64]
EPSILONS = ("0.5", "1", "2", "3", "4", "6", "8", "10", "12")
#: Delta of ``l2``, and number of noise samples for each label.
DELTA, DRAWS = 1e-6, 20_000
Figures = dict[str, float]


@dataclass(frozen=True)
class Codes:
    """Numbers of texts of each class and of each attribute, by class label or cluster label.

    Attributes:
        known: Counts of the texts that the server learns from, shape ``(classes, codes)``.
        test: Counts of the test texts, in the same shape.
        known_attributes: Counts of the server's texts without and with each attribute, shape ``(2, attributes,
            codes)``; None for data without attributes.
        test_attributes: The same counts of the test texts.
    """

    known: Floats
    test: Floats
    known_attributes: Floats | None = None
    test_attributes: Floats | None = None


@dataclass(frozen=True)
class Release:
    """A mechanism on labels, as the docstring of the module describes.

    Attributes:
        probability: Matrix of ``P(o|x)``, shape ``(codes, outputs)``.
        likelihood: Matrix of ``L(x, o)``, in the same shape.
        labels: Class of each output, shape ``(outputs,)``. With None the server decides by Bayes' rule.
    """

    probability: Floats
    likelihood: Floats
    labels: NDArray[np.int64] | None = None

    @classmethod
    def of_index(cls, channel: Floats, *, is_label: bool) -> "Release":
        """Return the release of a label by a randomizer. With ``is_label``, the outputs are classes."""
        return cls(channel, channel, np.arange(channel.shape[1]) if is_label else None)

    def figures(self, codes: Codes) -> Figures:
        """Compute accuracy, balanced accuracy, the worst recall, and the attacker's AUC if there are attributes."""
        labels = self.labels
        if labels is None:
            labels = (codes.known @ self.likelihood).argmax(axis=0)
        released = codes.test @ self.probability  # (classes, outputs)
        recall = np.array([released[k, labels == k].sum() for k in range(len(released))]) / codes.test.sum(axis=1)
        shares = codes.test.sum(axis=1) / codes.test.sum()
        found = {
            "accuracy": float(shares @ recall),
            "balanced_accuracy": float(recall.mean()),
            "worst_recall": float(recall.min()),
        }
        if codes.known_attributes is not None and codes.test_attributes is not None:
            found["attack"] = self._attack(codes.known_attributes, codes.test_attributes)
        return {name: round(value, 6) for name, value in found.items()}

    def _attack(self, known: Floats, test: Floats) -> float:
        """Return the mean area under the ROC curve of ``P(attribute | output)`` over attributes. Chance is .5."""
        seen = known @ self.likelihood  # (2, attributes, outputs)
        both = seen.sum(axis=0)
        scores = np.divide(seen[1], both, out=np.zeros_like(seen[1]), where=both > 0)  # 0: never released
        shares = test @ self.probability
        areas = [area(score, *share) for score, share in zip(scores, shares.transpose(1, 0, 2), strict=True)]
        return float(np.mean(areas))


def area(scores: Floats, without: Floats, having: Floats) -> float:
    """Compute the area under the ROC curve of scores, weighted by the texts without and with the attribute."""
    # Scores that differ only by rounding errors count as equal.
    _, rank = np.unique(np.round(scores, 12), return_inverse=True)
    lacks, has = np.bincount(rank, without), np.bincount(rank, having)
    below = np.cumsum(lacks) - lacks
    return float((has * (below + lacks / 2)).sum() / (has.sum() * lacks.sum()))


def decision_rows(calibration: Floats, codes: Codes) -> dict[str, dict[str, Figures]]:
    """Compute the figures of every row whose labels are classes, by row and epsilon.

    Args:
        calibration: Counts by class and decision, to which randomizers and vectors are fitted; not of test texts.
        codes: The decisions. The two reference rows are fitted to the test texts, so no randomizer of decisions is
            better.
    """
    classes = len(calibration)
    fitted = Codes(calibration, codes.test, codes.known_attributes, codes.test_attributes)
    balanced = codes.test / codes.test.sum(axis=1, keepdims=True)
    rows: dict[str, dict[str, Figures]] = {
        "clean": {"": Release.of_index(np.eye(classes), is_label=True).figures(codes)}
    }
    for epsilon in EPSILONS:
        value = compute_realized_epsilon(epsilon)
        # One right decision of each class is added, as bundles do.
        wished = {
            "accuracy": fit_accuracy_randomizer(calibration + np.eye(classes), value),
            "counts": make_counts_randomizer(classes, value),
        }
        for name, channel in wished.items():
            drawn = make_integer_randomizer(name, channel, epsilon).probability_matrix
            rows.setdefault(name, {})[epsilon] = Release.of_index(drawn, is_label=True).figures(codes)
            wish = Release.of_index(channel / channel.sum(axis=1, keepdims=True), is_label=True).figures(codes)
            rows[name][epsilon]["lost_to_integers"] = wish["accuracy"] - rows[name][epsilon]["accuracy"]
        for name, gains in (("reference", codes.test), ("balanced reference", balanced)):
            best = fit_accuracy_randomizer(gains, float(epsilon))
            rows.setdefault(name, {})[epsilon] = Release.of_index(best, is_label=True).figures(codes)
        for mode in ("l1", "l2", "box"):
            order = tuple(np.argsort(-calibration.sum(axis=1), kind="stable").tolist())
            rows.setdefault(mode, {})[epsilon] = noisy_corners(mode, order, float(epsilon)).figures(fitted)
        rows.setdefault("ceiling", {})[epsilon] = {
            "accuracy": round(ceiling(codes.test.sum(axis=1), float(epsilon)), 6)
        }
    return rows


def codebook_rows(codes: Codes) -> dict[str, Figures]:
    """Compute the figures of a codebook with k-ary randomized response, by epsilon; ``""`` is without noise."""
    count = codes.test.shape[1]
    found = {"": Release.of_index(np.eye(count), is_label=False).figures(codes)}
    for epsilon in EPSILONS:
        channel = make_integer_randomizer(
            "counts", make_counts_randomizer(count, compute_realized_epsilon(epsilon)), epsilon
        ).probability_matrix
        found[epsilon] = Release.of_index(channel, is_label=False).figures(codes)
    return found


@lru_cache(maxsize=256)
def noisy_corners(mode: Mode, order: tuple[int, ...], epsilon: float) -> Release:
    """Return for each class a corner of the mode's set, with noise. The two most frequent classes are opposite corners.

    Args:
        mode: With ``l1`` the corners are the unit vectors of the axes and their opposites; with ``l2`` a regular
            simplex; with ``box`` corners that are neither all 0 nor all 1, as the bound of the mode requires.
        order: Classes, the most frequent first.
        epsilon: Whole-text epsilon; for ``l2`` with ``DELTA``.
    """
    points = _corners(mode, len(order))[np.argsort(order)]
    scale = compute_noise_scale(mode, points.shape[1], epsilon, DELTA if mode == "l2" else 0.0)
    generator = np.random.default_rng(7)  # an estimate of an accuracy protects nobody
    shape = (len(points), DRAWS, points.shape[1])
    noise = generator.normal(size=shape) if mode == "l2" else generator.laplace(size=shape)
    outputs = (points[:, None] + scale * noise).reshape(-1, points.shape[1])
    away = outputs[None] - points[:, None]
    logs = -np.abs(away).sum(-1) / scale if mode != "l2" else -(away**2).sum(-1) / (2 * scale**2)
    probability = np.repeat(np.eye(len(points)), DRAWS, axis=1) / DRAWS
    return Release(probability, np.exp(logs - logs.max(axis=0)))


def _corners(mode: Mode, count: int) -> Floats:
    if mode == "l1":
        axes = np.eye(-(-count // 2))
        return np.stack([sign * axis for axis in axes for sign in (1, -1)])[:count]
    if mode == "l2":
        centered = np.eye(count) - 1 / count
        coordinates = np.linalg.svd(centered)[0][:, : count - 1] * sqrt(1 - 1 / count)
        return coordinates / np.linalg.norm(coordinates, axis=1, keepdims=True)
    dimension = next(k for k in range(2, 9) if 2**k - 2 >= count)
    corners = [[number >> bit & 1 for bit in range(dimension)] for number in range(1, 2**dimension - 1)]
    opposite = [corner for pair in zip(corners, corners[::-1], strict=True) for corner in pair]
    return np.array(opposite[:count], dtype=np.float64)
