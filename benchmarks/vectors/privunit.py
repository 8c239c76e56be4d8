"""Release a unit vector near the true vector by PrivUnit (Bhowmick, Duchi, Freudiger, Kapoor, Rogers 2018).

    Z uniform on the cap <z, x> >= gamma with probability p, else on the rest of the sphere

    p / (1 - p) * (1 - q) / q = e^epsilon, q = the cap's share of the sphere

``gamma`` maximizes the mean ``E<Z, x>``; Asi, Feldman and Talwar (2022) minimize the variance instead. Sampling is in
floating point, which is enough for a measurement but not for private data, so no package contains this mechanism. The
server fits a linear classifier to one release of each training text. The attacker does the same for each attribute.
"""

from dataclasses import dataclass
from functools import lru_cache
from math import exp

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv
from sklearn.linear_model import LogisticRegression
from vectors.codebooks import normalize_vectors
from vectors.extractors import Extractors
from vectors.releases import EPSILONS, Figures, Floats, area

#: Number of main directions onto which vectors are projected, releases of each test text, and the inverse strength
#: of the classifiers' decay.
DIRECTIONS, DRAWS, STRENGTH = 6, 3, 1.0
_SHARES = np.geomspace(1e-7, 0.5, 400)


@dataclass(frozen=True)
class Cap:
    """Cap of the sphere around the true vector: ``gamma``, its share ``q`` of the sphere, and its probability."""

    gamma: float
    share: float
    inside: float


@lru_cache
def best_cap(epsilon: float, dimension: int) -> Cap:
    """Return the cap for which the mean release has the largest inner product with the true vector."""
    odds = exp(epsilon) * _SHARES / (1 - _SHARES)
    inside = odds / (1 + odds)
    gammas = _threshold(_SHARES, dimension)
    # E[t 1(t >= gamma)] of one coordinate of a uniform point: proportional to (1 - gamma^2)^((d - 1) / 2).
    mass = (1 - gammas**2) ** ((dimension - 1) / 2)
    mean = mass * (inside / _SHARES - (1 - inside) / (1 - _SHARES))
    at = int(mean.argmax())
    return Cap(float(gammas[at]), float(_SHARES[at]), float(inside[at]))


def release(vectors: Floats, epsilon: float, generator: np.random.Generator) -> Floats:
    """Sample one release of each unit vector, shape ``(texts, d)``, in floating point: not for private data."""
    texts, dimension = vectors.shape
    cap = best_cap(epsilon, dimension)
    inside = generator.random(texts) < cap.inside
    tail = generator.random(texts)
    # The upper tail of one coordinate: from 0 to q in the cap, from q to 1 outside of it.
    along = _threshold(np.where(inside, tail * cap.share, cap.share + tail * (1 - cap.share)), dimension)
    across = generator.normal(size=vectors.shape)
    across = normalize_vectors(across - (across * vectors).sum(axis=1, keepdims=True) * vectors)
    return along[:, None] * vectors + np.sqrt(np.maximum(0, 1 - along**2))[:, None] * across


def measure(extractors: Extractors, extractor: str, seed: int) -> dict[str, Figures]:
    """Compute the figures by epsilon, over ``DRAWS`` releases of each test text."""
    task = extractors.task(seed)
    generator = np.random.default_rng(seed)
    train = extractors.vectors(extractor, task.train.texts).astype(np.float64)
    mean = train.mean(axis=0)
    _, directions = np.linalg.eigh(np.cov(normalize_vectors(train - mean).T))
    directions = directions[:, ::-1][:, :DIRECTIONS]

    def project_vectors(vectors: NDArray[np.floating]) -> Floats:
        return normalize_vectors((vectors - mean) @ directions)

    texts = project_vectors(train)
    test = project_vectors(extractors.vectors(extractor, task.test.texts).astype(np.float64))
    of = extractors.corpus.attributes_of if extractors.corpus.attributes else None
    found = {}
    for epsilon in EPSILONS:
        known = release(texts, float(epsilon), generator)
        outputs = np.concatenate([release(test, float(epsilon), generator) for _ in range(DRAWS)])
        labels = LogisticRegression(C=STRENGTH).fit(known, task.train.classes).predict(outputs)
        found[epsilon] = _figures(labels, np.tile(task.test.classes, DRAWS), len(task.labels))
        if of is not None:
            areas = []
            for has, truth in zip(of(task.train).T, np.tile(of(task.test), (DRAWS, 1)).T, strict=True):
                scores = LogisticRegression(C=STRENGTH).fit(known, has).decision_function(outputs)
                areas.append(area(scores, ~truth, truth))
            found[epsilon]["attack"] = round(float(np.mean(areas)), 6)
    return found


def _figures(labels: NDArray[np.int64], truth: NDArray[np.int64], classes: int) -> Figures:
    recall = [float((labels[truth == k] == k).mean()) for k in range(classes)]
    return {
        "accuracy": round(float((labels == truth).mean()), 6),
        "balanced_accuracy": round(float(np.mean(recall)), 6),
        "worst_recall": round(min(recall), 6),
    }


def _threshold(tail: Floats, dimension: int) -> Floats:
    """Return ``t`` with ``Pr[<u, x> >= t] = tail`` for a uniform point ``u`` of the sphere."""
    half = (dimension - 1) / 2
    # (1 + t) / 2 is Beta(half, half).
    return 1 - 2 * betaincinv(half, half, np.clip(tail, 0, 1))
