"""Accuracy is measured through the device's release, and equals known values."""

import math
from collections.abc import Callable

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from textveil_training.dpnr.accuracy import make_release_parameters, measure_accuracy, release_vectors
from textveil_training.dpnr.classification_data import ClassifiedSplit
from textveil_training.dpnr.networks import RepresentationModel
from tiny_training import clean_description, description

TEXTS = 4000


class NoEncoder(torch.nn.Module):
    """Stands where the encoder is; features are given."""

    class config:
        hidden_size = 1


@pytest.fixture(scope="module")
def split() -> ClassifiedSplit:
    labels = torch.arange(TEXTS) % 2
    return ClassifiedSplit(texts=("",) * TEXTS, labels=labels, attributes=torch.zeros(TEXTS, 0), sha256="")


def model(mode: str = "l1") -> RepresentationModel:
    """f(x) is the feature itself, at -1 or 1; the classifier takes its sign."""
    made = RepresentationModel(
        NoEncoder(), mode=mode, dimension=1, head_hidden=0, classifier_hidden=0, classes=2, dropout=0.0
    )
    state = {"classifier.out.weight": torch.tensor([[-1.0, 0.0], [1.0, 0.0]]), "classifier.out.bias": torch.zeros(2)}
    if mode == "none":
        state["classifier.out.weight"] = torch.tensor([[-1.0], [1.0]])
    else:
        state |= {"head.out.weight": torch.ones(1, 1), "head.out.bias": torch.zeros(1)}
    made.load_state_dict(state)
    return made


def words(seed: int) -> Callable[[int], NDArray[np.uint64]]:
    generator = np.random.default_rng(seed)
    return lambda count: generator.integers(0, 2**64, count, dtype=np.uint64)


def test_two_opposite_codes_keep_what_laplace_noise_lets_them_keep(split: ClassifiedSplit) -> None:
    features = (split.labels * 2.0 - 1)[:, None]
    found = measure_accuracy(model(), description(), features, split, draws=50, random_uint64=words(1))
    for level, figures in found["levels"].items():
        kept = 1 - math.exp(-float(level) / 2) / 2  # one code at -1, one at 1, noise of scale 2 / epsilon
        error = math.sqrt(kept * (1 - kept) / (TEXTS * 50))
        assert figures["accuracy"] == pytest.approx(kept, abs=5 * error)
        assert figures["accuracy"] != pytest.approx(1 - math.exp(-float(level)) / 2, abs=5 * error), "half the noise"
        assert figures["without_noise"] == 1.0
        assert np.array(figures["confusion"]).sum() == pytest.approx(TEXTS)
        assert np.trace(np.array(figures["confusion"])) == pytest.approx(figures["accuracy"] * TEXTS)
        assert figures["standard_error"] == pytest.approx(math.sqrt(kept * (1 - kept) / TEXTS), rel=0.1)
        assert figures["standard_error_draws"] < figures["standard_error"]
    assert (found["draws"], found["masks"]) == (50, 1)


def test_features_far_outside_the_ball_gain_nothing(split: ClassifiedSplit) -> None:
    """A head that escaped its bound would see less noise than its epsilon allows."""
    features = (split.labels * 2.0 - 1)[:, None] * 1000
    found = measure_accuracy(model(), description(), features, split, levels=["1"], draws=20, random_uint64=words(2))
    kept = 1 - math.exp(-0.5) / 2
    assert found["levels"]["1"]["accuracy"] == pytest.approx(kept, abs=5 * math.sqrt(kept * (1 - kept) / (TEXTS * 20)))
    raw = np.full((10, 1), 1000.0, dtype=np.float32)
    vectors = release_vectors(
        raw, make_release_parameters(description(), "16"), lambda count: np.full(count, 2**63, dtype=np.uint64)
    )
    assert (np.abs(vectors) <= 1).all()


def test_what_is_released_lies_on_the_grid(split: ClassifiedSplit) -> None:
    parameters = make_release_parameters(description(dimension=3), "4")
    vectors = release_vectors(np.random.default_rng(1).normal(size=(100, 3)).astype(np.float32), parameters)
    steps = vectors.astype(np.float64) * parameters.grid
    assert np.array_equal(steps, np.round(steps))
    again = release_vectors(np.zeros((100, 3), dtype=np.float32), parameters)
    assert len(np.unique(again)) > 100, "every coordinate has noise of its own"


def test_without_privacy_accuracy_is_a_count(split: ClassifiedSplit) -> None:
    features = (split.labels * 2.0 - 1)[:, None].clone()
    features[:400] *= -1
    found = measure_accuracy(model("none"), clean_description(), features, split)
    assert found["accuracy"] == 0.9
    assert found["confusion"] == [[1800.0, 200.0], [200.0, 1800.0]]


def test_a_large_box_has_a_coarser_grid() -> None:
    assert make_release_parameters(description(mode="box", dimension=4), "1").grid == 1024
    assert make_release_parameters(description(mode="box", dimension=384), "0.5").grid == 16
    assert make_release_parameters(description(mode="l2", dimension=384, delta="1e-6"), "1").grid == 1024


def test_masks_share_the_draws(split: ClassifiedSplit) -> None:
    right = (split.labels * 2.0 - 1)[:, None]
    found = measure_accuracy(
        model(), description(), [right, -right], split, levels=["4"], draws=10, random_uint64=words(3)
    )
    assert found["masks"] == 2
    assert found["levels"]["4"]["accuracy"] == pytest.approx(0.5, abs=0.01)
    assert found["levels"]["4"]["without_noise"] == 0.5
