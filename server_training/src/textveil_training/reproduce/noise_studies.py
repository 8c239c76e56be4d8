"""Reproduce figures about noise: Feyisetan and others 2020, Figure 6, and Habernal 2021, Figure 1."""

import math

import numpy as np

from textveil_training.reproduce.bundles import build_word_bundle
from textveil_training.reproduce.inputs import ReproductionInputs
from textveil_training.reproduce.published import PublishedStudy
from textveil_training.reproduce.results import ReproducedRow, Reproduction
from textveil_training.token_randomizer import TokenRandomizer

FBDD_EPSILONS = ("5", "6", "7", "8", "9", "10", "11", "12")
"""Epsilons per unit of the vectors."""
DRAWS = 1_000
"""Releases of each word, as in the paper."""
_WORDS, _SAMPLE_WORDS = 320, 20
_WORDS_AT_ONCE = 20
DIMENSIONS = (1, 2, 8, 32, 128, 512, 1024)
CLAIMED_EPSILON = 1.0
"""Epsilon that the clipped mechanism claims, for the rows on the loss."""
_LOSS_DRAWS = 20_000


def measure_word_noise(study: PublishedStudy, inputs: ReproductionInputs) -> Reproduction:
    """Measure how FBDD (a mechanism that randomizes words) changes words at several epsilons.

    Each word is sampled 1,000 times. The measures are ``N_w``, the share of outputs that equal the word, and ``S_w``,
    the number of different outputs (Figure 6 of Feyisetan et al. 2020).
    """
    bundle = build_word_bundle(inputs, ("1",))  # FBDD works at any epsilon, without levels of the bundle
    number = _SAMPLE_WORDS if inputs.uses_sample else inputs.examples or _WORDS
    words = np.random.default_rng(0).choice(bundle.words // 2, number, replace=False)
    rows = []
    for epsilon in FBDD_EPSILONS:
        randomizer = TokenRandomizer(bundle.folder, mechanism="fbdd", epsilon=bundle.convert_epsilon(epsilon))
        unchanged, support = [], []
        for begin in range(0, number, _WORDS_AT_ONCE):
            inputs.report(f"epsilon {epsilon}", begin, number)
            part = np.sort(words[begin : begin + _WORDS_AT_ONCE]).astype(np.int64)
            outputs = randomizer.randomize_ids(np.repeat(part, DRAWS), np.ones(len(part) * DRAWS, bool))
            for word, found in zip(part, outputs.reshape(len(part), DRAWS), strict=True):
                unchanged.append(float(np.mean(found == word)))
                support.append(len(np.unique(found)))
        figures = {"N_w": float(np.mean(unchanged)), "S_w": float(np.mean(support))}
        error = float(np.std(unchanged, ddof=1) / math.sqrt(number))
        rows.append(
            ReproducedRow(
                name=f"epsilon {epsilon}", figures=figures, error=error, series="N_w", position=float(epsilon)
            )
        )
    return Reproduction(
        rows=rows,
        axes=("epsilon per unit of the vectors", "N_w, the share of unchanged outputs"),
        notes=[
            f"{number} words of {bundle.words:,}, {DRAWS:,} draws each. Behind ± is the standard error over words.",
            f"The median distance of two words is {bundle.median:.3f}: an epsilon of the bundle is that many times "
            "the paper's.",
        ],
        facts={"words": number, "vocabulary": bundle.words, "draws": DRAWS, "median_distance": bundle.median},
    )


def measure_sensitivity(study: PublishedStudy, inputs: ReproductionInputs) -> Reproduction:
    """Compare the largest distance of two clipped vectors with the distance that ADePT's Laplace noise assumes.

    ADePT clips a vector of ``n`` numbers to a maximum length ``C``. It adds Laplace noise of scale ``2 C / epsilon`` to
    each number, which suffices if the L1 distance of two clipped vectors is at most ``2 C``. Their largest L1 distance
    is ``2 C sqrt(n)``.
    """
    rows = []
    for dimension in DIMENSIONS:
        inputs.report("dimensions", len(rows), len(DIMENSIONS))
        first = clip_vector(np.full(dimension, 1.0), 1.0)
        second = clip_vector(np.full(dimension, -1.0), 1.0)
        factor = float(np.abs(first - second).sum()) / 2
        losses = draw_privacy_losses(first, second, CLAIMED_EPSILON)
        rows.append(
            ReproducedRow(
                name=f"n = {dimension}: factor",
                figures={
                    "true sensitivity / claimed": factor,
                    "epsilon claimed": CLAIMED_EPSILON,
                    "epsilon true": factor * CLAIMED_EPSILON,
                    "largest loss seen": float(losses.max()),
                    "releases above the claim, %": 100 * float(np.mean(losses > CLAIMED_EPSILON * (1 + 1e-9))),
                },
                series="true sensitivity by the claimed one",
                position=math.log2(dimension),
            )
        )
    return Reproduction(
        rows=rows,
        axes=("binary logarithm of the dimension n", "true sensitivity by the claimed one"),
        notes=[
            f"A loss is ln p(z | x) - ln p(z | y) of a release z of x, exact for each of {_LOSS_DRAWS:,} releases. A "
            "mechanism with the claimed epsilon has no release above it: each one refutes the claim.",
        ],
        facts={"draws": _LOSS_DRAWS, "clipping_norm": 1.0},
    )


def clip_vector(vector: np.ndarray, length: float) -> np.ndarray:
    """Scale a vector down to an L2 norm of at most ``length``, as in ADePT (Krishna and others 2021)."""
    return vector * min(1.0, length / float(np.linalg.norm(vector)))


def draw_privacy_losses(first: np.ndarray, second: np.ndarray, epsilon: float, seed: int = 0) -> np.ndarray:
    """Simulate the privacy loss between two vectors under Laplace noise of scale ``2 / epsilon``.

    The privacy loss of a noisy vector is the log ratio of its densities under the first and the second vector.

    Args:
        first: Vector to which the noise is added, clipped to length 1.
        second: The other vector.
        epsilon: Epsilon that the noise would have if the sensitivity were 2.
        seed: Seed of the simulated noise, which protects nobody's text.

    Returns:
        The loss of each of 20,000 noisy vectors.
    """
    scale = 2 / epsilon
    generator = np.random.default_rng([seed, len(first)])
    losses = []
    for _ in range(20):
        noisy = first + generator.laplace(0, scale, (_LOSS_DRAWS // 20, len(first)))
        losses.append((np.abs(noisy - second) - np.abs(noisy - first)).sum(axis=1) / scale)
    return np.concatenate(losses)
