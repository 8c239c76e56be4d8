"""The gates accept only a model that is as accurate and as bounded as the original."""

import numpy as np
import pytest
from textveil.mechanisms.noise.parameters import ReleaseParameters
from textveil.mechanisms.noise.vector import VectorReleaser
from textveil_export.encoder.evaluation import classify_vectors
from textveil_export.encoder.gates import DRAWS, check_bound, check_ceiling, check_gates, measure_noisy_accuracy
from textveil_export.errors import AccuracyError, BoundError, CeilingError

TEXTS = 1000
#: Says label 1 where the first coordinate is above 0, whatever epsilon is.
CLASSIFIER = {
    "out.weight": np.array([[0, 0, 0], [1, 0, 0]], dtype=np.float32),
    "out.bias": np.zeros(2, dtype=np.float32),
}
LEVELS = [ReleaseParameters(mode="l1", dimension=2, grid=1024, epsilon=level) for level in ("1", "4")]
LABELS = np.arange(TEXTS) % 2
#: Vectors in the ball that the classifier gets right.
SOUND = np.stack([np.where(LABELS == 1, 0.7, -0.7), np.full(TEXTS, 0.2)], axis=1).astype(np.float32)


def flipped(count: int) -> np.ndarray:
    """Return the vectors with `count` of them on the wrong side."""
    vectors = SOUND.copy()
    vectors[:count, 0] *= -1
    return vectors


def level(mode: str, dimension: int = 3) -> ReleaseParameters:
    return ReleaseParameters(
        mode=mode, dimension=dimension, grid=64, epsilon="4", delta="1e-6" if mode == "l2" else None
    )


def test_equal_models_pass() -> None:
    report = check_gates(SOUND, SOUND, LABELS, CLASSIFIER, LEVELS)
    assert report.accuracy == {"float32": 1, "int8": 1}
    assert report.agreement == 1
    assert set(report.by_level) == {"1", "4"}
    for figures in report.by_level.values():
        assert figures["float32"] == figures["int8"]
    assert report.by_level["1"]["int8"] < report.by_level["4"]["int8"] < 1
    assert report.outside == 0


def test_half_a_point_is_allowed_and_more_is_not() -> None:
    assert check_gates(SOUND, flipped(5), LABELS, CLASSIFIER, LEVELS).accuracy["int8"] == 0.995
    with pytest.raises(AccuracyError, match=r"loses 0\.60 points of accuracy without noise: 99\.40 instead of 100\.00"):
        check_gates(SOUND, flipped(6), LABELS, CLASSIFIER, LEVELS)
    assert check_gates(flipped(6), SOUND, LABELS, CLASSIFIER, LEVELS).accuracy["int8"] == 1  # better is not a fault


def test_a_loss_that_only_noise_reveals_is_refused() -> None:
    """Vectors that shrink toward the boundary are classified alike without noise, and worse with it."""
    shrunken = SOUND * np.array([0.8, 1], dtype=np.float32)
    with pytest.raises(AccuracyError, match=f"at epsilon 1, mean of {DRAWS} draws"):
        check_gates(SOUND, shrunken, LABELS, CLASSIFIER, LEVELS)


def test_both_forms_meet_the_same_noise() -> None:
    """Accuracies at epsilon 1 vary by a point from draw to draw; their difference must not."""
    nearly = SOUND + np.float32(1 / 2048)
    means = measure_noisy_accuracy({"float32": SOUND, "int8": nearly}, LABELS, CLASSIFIER, LEVELS[0])
    assert 0 <= abs(means["float32"] - means["int8"]) < 0.001
    assert 0.5 < means["float32"] < 0.9
    assert means == measure_noisy_accuracy({"float32": SOUND, "int8": nearly}, LABELS, CLASSIFIER, LEVELS[0])


def test_noise_is_that_of_the_device() -> None:
    """Laplace noise of scale 2 / epsilon: Pr[0.7 + noise > 0] = 1 - exp(-0.7 epsilon / 2) / 2.

    The mean of 20 draws for 1000 texts has a standard error below 0.0034; noise of half the scale is 0.13 away.
    """
    for parameters in LEVELS:
        told = 1 - np.exp(-0.35 * float(parameters.exact_epsilon)) / 2
        means = measure_noisy_accuracy({"float32": SOUND}, LABELS, CLASSIFIER, parameters)
        assert means["float32"] == pytest.approx(told, abs=0.02)


@pytest.mark.parametrize("mode", ["l1", "l2", "box"])
def test_a_graph_that_leaves_the_ball_gives_bounded_releases(mode: str) -> None:
    generator = np.random.default_rng(1)
    vectors = generator.normal(0, 50, (400, 3)).astype(np.float32)
    parameters = level(mode)
    assert check_bound(vectors, parameters) >= 399
    integers = VectorReleaser(parameters).quantize_vectors(vectors)[0]
    if mode == "box":
        assert integers.min() >= 0
        assert integers.max() <= 64
    else:
        assert (np.linalg.norm(integers, 1 if mode == "l1" else 2, axis=1) <= 64).all()
    pairs = np.abs(integers[:, None] - integers[None])
    size = np.sqrt((pairs**2).sum(axis=2)) if mode == "l2" else pairs.sum(axis=2)
    assert size.max() <= parameters.sensitivity


@pytest.mark.parametrize("mode", ["l1", "l2", "box"])
def test_vectors_on_the_surface_do_not_count_as_outside(mode: str) -> None:
    generator = np.random.default_rng(2)
    raw = np.abs(generator.normal(0, 1, (300, 3))).astype(np.float32)
    norms = {"l1": raw.sum(axis=1), "l2": np.sqrt((raw**2).sum(axis=1)), "box": raw.max(axis=1)}[mode]
    assert check_bound(raw / norms[:, None], level(mode)) == 0
    assert check_bound(1.01 * raw / norms[:, None], level(mode)) == 300


@pytest.mark.parametrize("mode", ["l1", "l2", "box"])
def test_a_missing_clip_is_detected(mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def unclipped(self: VectorReleaser, vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.rint(vectors * self.parameters.grid).astype(np.int64), np.zeros(len(vectors), dtype=bool)

    monkeypatch.setattr(VectorReleaser, "quantize_vectors", unclipped)
    vectors = np.zeros((5, 3), dtype=np.float32)
    assert check_bound(vectors, level(mode)) == 0
    vectors[2] = 0.9
    vectors[3, 0] = -1.1
    expected = 1 if mode == "box" else 2
    with pytest.raises(BoundError, match=f"{expected} of 5 vectors exceed the norm bound"):
        check_bound(vectors, level(mode))


def test_numbers_that_are_not_finite_are_refused() -> None:
    broken = SOUND.copy()
    broken[7, 1], broken[9, 0] = np.nan, np.inf
    with pytest.raises(
        BoundError, match="2 of 1000 texts have vectors with an infinite value or NaN: train the encoder again"
    ):
        check_gates(SOUND, broken, LABELS, CLASSIFIER, LEVELS)


def test_an_accuracy_above_the_ceiling_is_a_fault() -> None:
    report = check_gates(SOUND, SOUND, LABELS, CLASSIFIER, LEVELS)
    reached = report.by_level["4"]["int8"]
    check_ceiling(report, {"4": reached})
    check_ceiling(report, {"1": 0.99})
    check_ceiling(report, {"4": reached - 0.03})  # 2.6 standard errors of 1000 texts
    with pytest.raises(CeilingError, match=r"accuracy 87\.26 at epsilon 4 is more than four standard errors above the"):
        check_ceiling(report, {"4": reached - 0.06})


def test_the_classifier_gets_epsilon_as_input() -> None:
    """One hidden unit that passes ln(epsilon) on: the decision turns at epsilon 2."""
    classifier = {
        "hidden.weight": np.array([[0, 0, 1]], dtype=np.float32),
        "hidden.bias": np.array([0], dtype=np.float32),
        "out.weight": np.array([[0], [1]], dtype=np.float32),
        "out.bias": np.array([np.log(2), 0], dtype=np.float32),
    }

    def decide(epsilon: float) -> int:
        return int(classify_vectors(classifier, SOUND[:1], epsilon)[0])

    assert [decide(epsilon) for epsilon in (0.5, 1.9, 2.1, 8)] == [0, 0, 1, 1]
