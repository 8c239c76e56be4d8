"""Cluster unit vectors by spherical k-means, whose centers are normalized sums of vectors.

    cluster(u) = argmax over k of <c_k, u>,    c_k = unit(sum of the u of cluster k)

(Dhillon, Modha 2001). Of several runs, the one with the largest value of its objective is used.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from textveil_training.progress import ProgressCallback

Floats = NDArray[np.float64]
#: Number of runs from different initial centers, since bad ones cost up to a point of accuracy; and the largest number
#: of steps of a run.
RESTARTS, STEPS = 16, 25


def find_centers(directions: Floats, clusters: int, seed: int, report: ProgressCallback = lambda *_: None) -> Floats:
    """Return the centers of the best of several k-means runs, shape ``(clusters, numbers)``.

    Args:
        directions: Unit vectors, shape ``(texts, numbers)``; there must be at least ``clusters``.
        clusters: Number of centers.
        seed: Seed of the random initial centers.
        report: Called with the stage, the finished runs and the total.
    """
    best, most = directions[:clusters], -np.inf
    for restart in range(RESTARTS):
        centers = _run_once(directions, clusters, np.random.default_rng([seed, restart]))
        found = float((directions @ centers.T).max(axis=1).sum())
        if found > most:
            best, most = centers, found
        report("clusters", restart + 1, RESTARTS)
    return best


def _run_once(directions: Floats, clusters: int, generator: np.random.Generator) -> Floats:
    centers = directions[generator.choice(len(directions), clusters, replace=False)]
    before: NDArray[np.int64] | None = None
    for _ in range(STEPS):
        assigned = (directions @ centers.T).argmax(axis=1)
        if before is not None and (assigned == before).all():
            break
        sums = sum_by_cluster(directions, assigned, clusters)
        empty = ~sums.any(axis=1)
        sums[empty] = directions[generator.choice(len(directions), int(empty.sum()))]
        centers, before = normalize_vectors(sums), assigned
    return centers


def sum_by_cluster(vectors: Floats, assigned: NDArray[np.int64], clusters: int) -> Floats:
    """Return the sum of the vectors of each cluster, shape ``(clusters, numbers)``.

    Args:
        vectors: Vectors, shape ``(texts, numbers)``.
        assigned: Cluster of each vector.
        clusters: Number of clusters.
    """
    rows = np.arange(len(vectors))
    return csr_array((np.ones(len(vectors)), (assigned, rows)), shape=(clusters, len(vectors))) @ vectors


def find_main_directions(vectors: Floats, numbers: int) -> Floats:
    """Return the directions of largest variance, the largest first, shape ``(dimension, numbers)``."""
    _, directions = np.linalg.eigh(np.cov(vectors.T))
    return directions[:, ::-1][:, :numbers]


def normalize_vectors(vectors: Floats) -> Floats:
    """Scale vectors to length 1; vectors of length 0 stay 0."""
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
