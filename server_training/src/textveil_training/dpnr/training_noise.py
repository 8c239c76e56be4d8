"""Apply bound and noise in the forward pass of training (Lyu, He and Li 2020, Algorithm 1, corrected).

Lyu, He and Li 2020, "Differentially Private Representation for NLP: Formal Guarantee and An Empirical Study on Privacy
and Fairness" (Findings of EMNLP), train the encoder with the noise that devices add later. The bound is differentiable,
and the gradient of added noise is the identity, so the encoder learns to place its vectors where the noise costs the
least accuracy.

Privacy:
    No guarantee. The noise here is continuous, comes from a seeded generator, and is only for training. Devices use
    ``textveil.mechanisms``, which bounds the vectors again, in integers, and samples noise with the entropy of the
    operating system. Every reported accuracy is measured with this code too.

One training covers a range of epsilons: each step samples an epsilon, adds noise of its scale, and gives the logarithm
of epsilon to the classifier.
"""

import math
from collections.abc import Sequence
from math import exp, inf, log, log1p, sqrt
from typing import Any, Literal

import numpy as np
import torch
from scipy.optimize import brentq, minimize_scalar
from torch import Tensor

from textveil_training.errors import InvalidRandomizer

Mode = Literal["l1", "l2", "box"]
SMALLEST = 1e-12


def bound_vectors(vectors: Tensor, mode: str) -> Tensor:
    """Limit the norm of vectors, or the range of their coordinates, so that noise of a known scale protects them.

    A vector h becomes:

    - ``l1``: ``h / max(1, |h|_1)``, in the unit L1 ball
    - ``l2``: ``h / max(1, |h|_2)``, in the unit L2 ball
    - ``box``: ``(h - min h) / (max h - min h)``, in ``[0, 1]^k``; a constant vector becomes zeros (Algorithm 2 of
      Lyu, He and Li 2020)
    - ``none``: ``h`` itself

    Args:
        vectors: Vectors h, shape ``(..., k)``.
        mode: ``l1``, ``l2``, ``box`` or ``none``.

    Returns:
        Vectors of the same shape, within the limit up to rounding errors.
    """
    if mode == "none":
        return vectors
    if mode == "box":
        lowest = vectors.amin(-1, keepdim=True)
        width = vectors.amax(-1, keepdim=True) - lowest
        return (vectors - lowest) / torch.where(width > 0, width, torch.ones_like(width))
    if mode == "l1":
        norm = vectors.abs().sum(-1, keepdim=True)
    else:
        # The square root has no gradient at 0.
        norm = vectors.square().sum(-1, keepdim=True).clamp_min(SMALLEST).sqrt()
    return vectors / norm.clamp_min(1.0)


def compute_sensitivity(mode: str, dimension: int) -> float:
    """Return the largest distance of two bounded vectors (``bound_vectors``), which the noise must hide.

    Modes ``l1`` and ``l2`` bound the norm of a vector by 1, so the distance is 2 in that norm. Mode ``box`` limits each
    of the ``dimension`` coordinates to 0 to 1, so the L1 distance is ``dimension``.
    """
    return float(dimension) if mode == "box" else 2.0


def compute_noise_scale(mode: Mode, dimension: int, epsilon: float, delta: float = 0.0) -> float:
    """Compute the noise scale of a coordinate for an epsilon per text.

    For ``l1`` it is the Laplace scale ``2 / epsilon``, and for ``box`` the Laplace scale ``dimension / epsilon``. For
    ``l2`` it is the standard deviation ``sigma`` of a Gaussian. Its ``rho`` (parameter of zero-concentrated
    differential privacy) and ``delta`` are ``rho = 2 / sigma^2`` and
    ``delta = min over a > 1 of exp((a - 1)(a rho - epsilon)) / (a - 1) * (1 - 1/a)^a`` (Canonne, Kamath and Steinke
    2020, Proposition 12).

    Raises:
        InvalidRandomizer: Epsilon is not a positive number, ``l2`` has no delta between 0 and 1, or another mode has a
            delta.
    """
    if not 0 < epsilon < inf:
        raise InvalidRandomizer("epsilon must be positive and finite")
    if (mode == "l2") != (0 < delta < 1):
        raise InvalidRandomizer("mode l2 needs a delta between 0 and 1; the other modes must not have one")
    if mode == "l2":
        return compute_sensitivity(mode, dimension) / sqrt(2 * _solve_rho(epsilon, delta))
    return compute_sensitivity(mode, dimension) / epsilon


def _solve_rho(epsilon: float, delta: float) -> float:
    """Compute the largest ``rho`` (parameter of zero-concentrated differential privacy) that implies epsilon and delta.

    The exact function is ``textveil.mechanisms.noise.zcdp.compute_largest_rho``. This floating-point approximation
    takes a thirtieth of the time, and training calls it often.
    """

    def log_delta(rho: float) -> float:
        def at(log_order: float) -> float:
            below = exp(log_order)  # a - 1
            return below * ((below + 1) * rho - epsilon) - log_order + (below + 1) * -log1p(1 / below)

        found: Any = minimize_scalar(at, bounds=(-12, 12), method="bounded", options={"xatol": 1e-10})
        return float(found.fun)

    return float(brentq(lambda rho: log_delta(rho) - log(delta), 1e-12, epsilon, xtol=1e-15))  # type: ignore[arg-type]


def add_noise(vectors: Tensor, mode: str, scale: Tensor, generator: torch.Generator | None = None) -> Tensor:
    """Add independent Laplace (``l1``, ``box``) or Gaussian (``l2``) noise to every coordinate.

    Args:
        vectors: Bounded vectors, shape ``(..., k)``.
        mode: ``l1``, ``l2`` or ``box``; ``none`` adds nothing.
        scale: Laplace scale ``sensitivity / epsilon`` or Gaussian sigma, shape ``(..., 1)``.
        generator: Random generator; ``None`` for PyTorch's global one.

    Returns:
        Noisy vectors, in the shape to which ``vectors`` and ``scale`` broadcast.

    Privacy:
        No guarantee: the noise is continuous and for training only.
    """
    if mode == "none":
        return vectors
    shape = torch.broadcast_shapes(vectors.shape, scale.shape)
    if mode == "l2":
        noise = torch.randn(shape, generator=generator, device=vectors.device)
    else:
        # Apply the inverse distribution function to centers of 2^24 cells, so that the logarithm stays finite.
        uniform = torch.rand(shape, generator=generator, device=vectors.device) - 0.5 + 2.0**-25
        noise = -uniform.sign() * torch.log1p(-2 * uniform.abs().clamp_max(0.5 - 2.0**-25))
    return vectors + scale * noise


_KNOTS = 129


class TrainingNoise:
    """Generator of random noise for training, at one epsilon or over a range of epsilons.

    The class computes the noise scale for ``_KNOTS`` values of epsilon. Between these values it interpolates the
    logarithm of the scale linearly in ``ln epsilon``: exact for Laplace noise, and good to four digits for the Gaussian
    noise of mode ``l2``.

    Args:
        mode: ``l1``, ``l2`` or ``box``.
        dimension: Number of coordinates of a vector, k.
        epsilons: Epsilons per text.
        delta: Delta of ``l2``; 0 for other modes.
    """

    def __init__(self, mode: str, dimension: int, epsilons: Sequence[float], delta: float = 0.0) -> None:
        self.mode = mode
        self.epsilons = tuple(sorted(epsilons))
        self._knots = np.linspace(math.log(self.epsilons[0]), math.log(self.epsilons[-1]), _KNOTS)
        scales = [compute_noise_scale(mode, dimension, math.exp(knot), delta) for knot in self._knots]  # type: ignore[arg-type]
        self._log_scales = np.log(scales)

    def add_at_random_epsilons(self, vectors: Tensor, draws: int) -> tuple[Tensor, Tensor]:
        """Add noise several times to each vector, each time at another random epsilon.

        The logarithm of epsilon is uniformly distributed.

        Args:
            vectors: Bounded vectors, shape ``(n, k)``.
            draws: Number of noisy copies of each vector.

        Returns:
            Noisy vectors, shape ``(draws, n, k)``, and their ``ln epsilon``, shape ``(draws, n, 1)``.

        Privacy:
            No guarantee: the noise is continuous and for training only.
        """
        low, high = self._knots[0], self._knots[-1]
        log_epsilon = low + (high - low) * torch.rand(draws, len(vectors), 1, device=vectors.device)
        scale = np.exp(np.interp(log_epsilon.cpu().numpy(), self._knots, self._log_scales))
        scale = torch.from_numpy(scale).to(vectors)
        return add_noise(vectors, self.mode, scale), log_epsilon

    def add_at_epsilon(
        self, vectors: Tensor, epsilon: float, draws: int, generator: torch.Generator
    ) -> tuple[Tensor, Tensor]:
        """Add noise at one epsilon from a given generator, so that epochs are compared with equal noise.

        Args:
            vectors: Bounded vectors, shape ``(n, k)``.
            epsilon: Epsilon per text.
            draws: Number of noisy copies of each vector.
            generator: Random generator of the noise.

        Returns:
            Noisy vectors, shape ``(draws, n, k)``, and ``ln epsilon`` for each.

        Privacy:
            No guarantee: the noise is continuous and for training only.
        """
        log_epsilon = torch.tensor([[math.log(epsilon)]], device=vectors.device)
        scale = np.exp(np.interp(math.log(epsilon), self._knots, self._log_scales))
        scales = torch.full((draws, 1, 1), float(scale), device=vectors.device)
        return add_noise(vectors, self.mode, scales, generator), log_epsilon
