"""Check an int8 encoder before its bundle is written: its accuracy, and the bound on its vectors.

The check adds privacy noise to the vectors with ``textveil.mechanisms``, the code that runs on devices. The float32 and
the int8 model get the *same* noise, so that the difference of their accuracies is due to the models alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from textveil.mechanisms.noise import BOX, L1, ReleaseParameters, VectorReleaser

from textveil_export.encoder.checkpoint import Arrays
from textveil_export.encoder.evaluation import classify_vectors
from textveil_export.errors import AccuracyError, BoundError, CeilingError

#: Percentage points of accuracy that the int8 model may lose.
ALLOWED_POINTS = 0.5
#: Number of texts that the int8 model may lose even if this exceeds ``ALLOWED_POINTS``, since in a small set of texts
#: half a point is less than one text.
ALLOWED_TEXTS = 2
#: Number of noise samples over which accuracies are averaged.
DRAWS = 20
#: Seed of the noise samples. It makes the evaluation reproducible; releases to users have no seed.
SEED = 20
# A float32 vector on the surface of the ball may exceed it by a rounding error and does not count as outside.
_ROUNDING = 1 + 1e-5
_EXACT = 1e-9  # floating-point error of half a percentage point


@dataclass(frozen=True, kw_only=True)
class GateReport:
    """Measurements of an int8 encoder that passed all checks before an export (gates).

    Attributes:
        texts: Number of texts.
        accuracy: Accuracy without noise, by model (``float32`` and ``int8``), as shares from 0 to 1.
        agreement: Share of texts to which both models assign the same label, without noise.
        by_level: Mean accuracy over ``DRAWS`` noise samples, by epsilon and then by model.
        outside: Number of int8 vectors whose norm exceeded the bound before they were clipped.
    """

    texts: int
    accuracy: dict[str, float]
    agreement: float
    by_level: dict[str, dict[str, float]]
    outside: int

    def as_json(self) -> dict[str, Any]:
        """Return the measurements by name, for ``manifest.json``: accuracy without noise and by epsilon, for each form.

        A form is one precision of the model, such as int8. ``agreement_without_noise`` is the share of texts for which
        the forms agree, and ``vectors_outside_ball`` the number of vectors that exceed the bound.
        """
        return {
            "texts": self.texts,
            "accuracy_without_noise": {form: round(value, 4) for form, value in self.accuracy.items()},
            "agreement_without_noise": round(self.agreement, 4),
            "draws": DRAWS,
            "accuracy_by_epsilon": {
                epsilon: {form: round(value, 4) for form, value in forms.items()}
                for epsilon, forms in self.by_level.items()
            },
            "vectors_outside_ball": self.outside,
        }


def check_gates(
    expected: NDArray[np.float32],
    shipped: NDArray[np.float32],
    labels: NDArray[np.intp],
    classifier: Arrays,
    levels: Sequence[ReleaseParameters],
) -> GateReport:
    """Check an int8 encoder against its float32 original: its accuracy, and the bound on its vectors.

    Args:
        expected: Vectors of the original before the noise, shape (texts, k).
        shipped: Vectors of the int8 graph for the same texts, shape (texts, k).
        labels: True labels, as indices.
        classifier: Arrays of the server's classifier.
        levels: Parameters of the noise for each epsilon, which differ in epsilon only.

    Raises:
        BoundError: A vector is not finite, or its norm exceeds the bound although the code for devices has clipped the
            vector.
        AccuracyError: The int8 encoder has a lower accuracy, without noise or with the noise of an epsilon. The loss is
            more than ``ALLOWED_POINTS`` percentage points and more than ``ALLOWED_TEXTS`` texts.
    """
    outside = check_bound(shipped, levels[0])
    largest = max(levels, key=lambda level: level.exact_epsilon)
    epsilon = float(largest.exact_epsilon)
    decisions = {
        form: classify_vectors(classifier, v, epsilon) for form, v in (("float32", expected), ("int8", shipped))
    }
    accuracy = {form: float(np.mean(decided_labels == labels)) for form, decided_labels in decisions.items()}
    allowed = max(ALLOWED_POINTS, 100 * ALLOWED_TEXTS / len(labels))
    _check_accuracy(accuracy, "without noise", allowed)
    by_level = {}
    for level in levels:
        by_level[level.epsilon] = measure_noisy_accuracy(
            {"float32": expected, "int8": shipped}, labels, classifier, level
        )
        _check_accuracy(by_level[level.epsilon], f"at epsilon {level.epsilon}, mean of {DRAWS} draws", allowed)
    agreement = float(np.mean(decisions["float32"] == decisions["int8"]))
    return GateReport(texts=len(labels), accuracy=accuracy, agreement=agreement, by_level=by_level, outside=outside)


def measure_noisy_accuracy(
    vectors: dict[str, NDArray[np.float32]], labels: NDArray[np.intp], classifier: Arrays, level: ReleaseParameters
) -> dict[str, float]:
    """Measure the mean accuracy of several models over the same ``DRAWS`` noise samples.

    Args:
        vectors: Vectors before the noise by name of the model, each of shape (texts, k).
        labels: True labels, as indices.
        classifier: Arrays of the server's classifier.
        level: Parameters of the noise for one epsilon.

    Returns:
        Accuracy from 0 to 1, by name of the model.
    """
    releaser, generator = VectorReleaser(level), np.random.default_rng(SEED)
    bounded = {form: releaser.quantize_vectors(unbounded)[0] for form, unbounded in vectors.items()}
    correct = dict.fromkeys(vectors, 0.0)
    for _ in range(DRAWS):
        shape = (len(labels), level.dimension)
        words = generator.integers(0, 1 << 64, shape, dtype=np.uint64)
        for form, integers in bounded.items():
            released = releaser.dequantize_vectors(releaser.add_noise(integers, words))
            correct[form] += float(
                np.mean(classify_vectors(classifier, released, float(level.exact_epsilon)) == labels)
            )
    return {form: total / DRAWS for form, total in correct.items()}


def check_ceiling(report: GateReport, ceiling: dict[str, float]) -> None:
    """Check that no accuracy is more than four standard errors above the largest accuracy that privacy permits.

    Args:
        report: Measurements of the int8 encoder.
        ceiling: Largest accuracy that is possible for any private output of these texts, by epsilon, from 0 to 1.

    Raises:
        CeilingError: An accuracy exceeds its limit, so the noise is too small or the evaluation is wrong.
    """
    for epsilon, forms in report.by_level.items():
        most = ceiling.get(epsilon, 1)
        slack = 4 * (most * (1 - most) / report.texts) ** 0.5
        best = max(forms.values())
        if best > most + slack:
            raise CeilingError(
                f"accuracy {100 * best:.2f} at epsilon {epsilon} is more than four standard errors above the maximum "
                f"{100 * most:.2f} of any private release: the noise is too small or the evaluation is wrong; the "
                "bundle was not written"
            )


def check_bound(vectors: NDArray[np.float32], level: ReleaseParameters) -> int:
    """Check that every vector is within the norm bound of the noise after it was clipped in integers.

    The noise is calibrated to the sensitivity, the largest distance of two vectors within the bound. Since every vector
    is clipped, quantization can reduce accuracy but not privacy. This function checks the clipping independently, on
    real vectors.

    Args:
        vectors: Output of the graph, shape (texts, k).
        level: Parameters of the noise.

    Returns:
        Number of vectors that exceed the bound before clipping.

    Raises:
        BoundError: A vector is not finite, or exceeds the bound after clipping.
    """
    integers, fixed = VectorReleaser(level).quantize_vectors(vectors)
    if fixed.any():
        raise BoundError(
            f"{int(fixed.sum())} of {len(vectors)} texts have vectors with an infinite value or NaN: train the "
            "encoder again"
        )
    after = int(np.count_nonzero(_measure_reach(integers.astype(object), level) > _compute_limit(level)))
    if after:
        raise BoundError(
            f"{after} of {len(vectors)} vectors exceed the norm bound of the mode after rounding to integers: please "
            "report this"
        )
    return int(
        np.count_nonzero(
            _measure_reach(vectors.astype(np.float64) * level.grid, level) > _compute_limit(level) * _ROUNDING
        )
    )


def _measure_reach(vectors: NDArray[Any], level: ReleaseParameters) -> NDArray[Any]:
    """Return the norm of each vector in integer steps, so that the caller can compare the norm with its bound.

    For ``l1`` the norm is the sum of absolute values; for ``l2`` it is the squared length. For ``box`` it is the
    largest coordinate. The coordinates of ``box`` must be from 0 to ``grid``: a negative coordinate ``v`` counts as
    ``grid - v``, which exceeds the bound.

    Args:
        vectors: Vectors in integer steps, shape (texts, k).
        level: Parameters of the noise.
    """
    if level.mode == BOX:
        return np.where(vectors < 0, level.grid - vectors, vectors).max(axis=1)
    return np.abs(vectors).sum(axis=1) if level.mode == L1 else (vectors * vectors).sum(axis=1)


def _compute_limit(level: ReleaseParameters) -> int:
    """Return the largest permitted norm of a vector in integer steps, squared for the mode ``l2``."""
    return level.grid if level.mode in (BOX, L1) else level.grid**2


def is_allowed_loss(float32: float, int8: float) -> bool:
    """Return whether the int8 accuracy is at most ``ALLOWED_POINTS`` percentage points below float32.

    Args:
        float32: Accuracy of the float32 model, from 0 to 1.
        int8: Accuracy of the int8 model, from 0 to 1.
    """
    return 100 * (float32 - int8) <= ALLOWED_POINTS + _EXACT


def _check_accuracy(accuracy: dict[str, float], where: str, allowed: float) -> None:
    """Raise ``AccuracyError`` if the int8 model loses more than ``allowed`` percentage points.

    Args:
        accuracy: Accuracy from 0 to 1 of ``float32`` and ``int8``.
        where: Condition of the measurement, such as an epsilon, for the message.
        allowed: Percentage points that the int8 model may lose.
    """
    lost = 100 * (accuracy["float32"] - accuracy["int8"])
    if lost > allowed + _EXACT:
        raise AccuracyError(
            f"the int8 model loses {lost:.2f} points of accuracy {where}: {100 * accuracy['int8']:.2f} instead of "
            f"{100 * accuracy['float32']:.2f} (at most {allowed:.2g} points are allowed)"
        )
