"""The published noise reveals the clean vector at every epsilon; a release of this project does not.

The code published with Lyu, He and Li (2020) scales a text's vector to ``[0, 1]^k`` by its smallest and largest
coordinate, samples ONE Laplace number for the text and adds it to every coordinate. The smallest coordinate of the
clean vector is 0, so the smallest released number is the noise itself, and ``z - min(z)`` is the clean vector, for any
epsilon.
"""

import numpy as np
import pytest
from numpy.typing import NDArray
from textveil.mechanisms.entropy import random_uint64
from textveil.mechanisms.noise.parameters import MODES, ReleaseParameters
from textveil.mechanisms.noise.vector import VectorReleaser

Vectors = NDArray[np.float64]

TEXTS, DIMENSION = 4000, 16


def scaled_to_box(vectors: Vectors) -> Vectors:
    """Every row from 0 to 1 by its own smallest and largest entry."""
    low = vectors.min(axis=1, keepdims=True)
    return (vectors - low) / (vectors.max(axis=1, keepdims=True) - low)


def published_release(vectors: Vectors, epsilon: float, generator: np.random.Generator) -> Vectors:
    """Rows scaled to the box; ONE Laplace number of scale ``1 / epsilon`` for each, added to all of its coordinates."""
    return scaled_to_box(vectors) + generator.laplace(scale=1 / epsilon, size=(len(vectors), 1))


def vectors() -> Vectors:
    return np.random.default_rng(7).normal(size=(TEXTS, DIMENSION))


def bounded(mode: str) -> Vectors:
    if mode == "box":
        return scaled_to_box(vectors())
    return vectors() / np.linalg.norm(vectors(), 1 if mode == "l1" else 2, axis=1, keepdims=True)


def recovered(released: NDArray[np.floating], clean: Vectors) -> tuple[Vectors, float]:
    """Correlations of ``z - min(z)`` with each clean vector, and the share of vectors that it is everywhere."""
    found = released - released.min(axis=1, keepdims=True)
    left, right = (part - part.mean(axis=1, keepdims=True) for part in (found, clean))
    norms = np.linalg.norm(left, axis=1) * np.linalg.norm(right, axis=1)
    return (left * right).sum(axis=1) / np.maximum(norms, 1e-300), float(
        (np.abs(found - clean) <= 0.01).all(axis=1).mean()
    )


def releaser(mode: str, epsilon: str) -> VectorReleaser:
    return VectorReleaser(
        ReleaseParameters(
            mode=mode, dimension=DIMENSION, grid=64, epsilon=epsilon, delta="1e-6" if mode == "l2" else None
        )
    )


@pytest.mark.parametrize("epsilon", [0.01, 0.05, 1.0])
def test_the_published_noise_is_read_off(epsilon: float) -> None:
    generator = np.random.default_rng(8)
    released = published_release(vectors(), epsilon, generator)
    correlations, exact = recovered(released, scaled_to_box(vectors()))
    assert correlations.mean() > 1 - 1e-9
    assert exact == 1.0


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("epsilon", ["0.05", "1"])
def test_a_release_resists(mode: str, epsilon: str) -> None:
    """Less than half of a shared scalar would show: the correlation is tiny, and no vector is recovered.

    One coordinate of a clean vector spreads by ``s`` and its noise by ``n`` with n at least 20 s here, so that the
    expected correlation is below .05 and its standard error over 4,000 texts below .005: the limit of .1 is ten
    standard errors away, and the mutant below is at 1.
    """
    released = releaser(mode, epsilon)
    clean = bounded(mode)
    correlations, exact = recovered(released.dequantize_vectors(released.release_vectors(clean)), clean)
    assert correlations.std() / np.sqrt(TEXTS) < 0.005
    assert correlations.mean() < 0.1
    assert exact == 0.0


@pytest.mark.parametrize("mode", MODES)
def test_one_word_for_all_coordinates_would_be_found(mode: str) -> None:
    """The same release with the mistake put in: every coordinate of a text is given the first one's random word."""
    broken = releaser(mode, "1")
    clean = bounded(mode)
    integers, _ = broken.quantize_vectors(clean)
    words = np.repeat(random_uint64(TEXTS)[:, None], DIMENSION, axis=1)
    noisy = broken.dequantize_vectors(broken.add_noise(integers, words))
    assert recovered(noisy, clean)[0].mean() > 0.9


@pytest.mark.parametrize("mode", MODES)
def test_the_noise_of_two_coordinates_is_uncorrelated(mode: str) -> None:
    """Of 120 pairs none is beyond six standard errors (once in four million runs); a shared tenth would be.

    ``sqrt(.9) own + sqrt(.1) shared`` has correlation .1, which is 6.3 standard errors of 1 / sqrt(4,000).
    """
    released = releaser(mode, "1")
    integers, _ = released.quantize_vectors(np.zeros((TEXTS, DIMENSION)))

    def largest(noise: NDArray[np.number]) -> float:
        return float(np.abs(np.corrcoef(noise.T) - np.eye(DIMENSION)).max())

    own = released.release_vectors(np.zeros((TEXTS, DIMENSION))) - integers
    shared = released.release_vectors(np.zeros((TEXTS, DIMENSION)))[:, :1]
    limit = 6 / np.sqrt(TEXTS)
    assert largest(own) < limit
    assert largest(np.sqrt(0.9) * own + np.sqrt(0.1) * shared) > limit
