"""The noise of a range of levels: scales to train with, and the logarithm of epsilon that the classifier sees."""

import math
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from textveil_training.dpnr.noise import noise_scale, noisy

_KNOTS = 129


class NoiseLevels:
    """Noise in training for one level, or for all epsilons between the lowest and the highest of several.

    Between ``_KNOTS`` values of ``ln epsilon`` the logarithm of the scale is interpolated; for Laplace noise that is
    exact, for the Gaussian of mode ``l2`` good to four digits.

    Args:
        mode: ``l1``, ``l2`` or ``box``.
        dimension: Numbers in a vector, k.
        levels: Whole-text epsilons.
        delta: Delta of ``l2``, else 0.
    """

    def __init__(self, mode: str, dimension: int, levels: Sequence[float], delta: float = 0.0) -> None:
        self.mode = mode
        self.levels = tuple(sorted(levels))
        self._knots = np.linspace(math.log(self.levels[0]), math.log(self.levels[-1]), _KNOTS)
        scales = [noise_scale(mode, dimension, math.exp(knot), delta) for knot in self._knots]  # type: ignore[arg-type]
        self._log_scales = np.log(scales)

    def sampled(self, vectors: Tensor, draws: int) -> tuple[Tensor, Tensor]:
        """Returns noisy vectors at epsilons that are uniform in their logarithm, another one for every vector and draw.

        Args:
            vectors: Bounded vectors, shape ``(n, k)``.
            draws: Number of draws per vector.

        Returns:
            Shape ``(draws, n, k)``, and ``ln epsilon`` of shape ``(draws, n, 1)``.

        Privacy:
            None: continuous noise to train with; see ``textveil_training.dpnr.noise``.
        """
        low, high = self._knots[0], self._knots[-1]
        log_epsilon = low + (high - low) * torch.rand(draws, len(vectors), 1, device=vectors.device)
        scale = np.exp(np.interp(log_epsilon.cpu().numpy(), self._knots, self._log_scales))
        scale = torch.from_numpy(scale).to(vectors)
        return noisy(vectors, self.mode, scale), log_epsilon

    def at(self, vectors: Tensor, epsilon: float, draws: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """Does as ``sampled`` at one epsilon, with a generator of its own: to compare epochs on equal noise.

        Privacy:
            None; see ``textveil_training.dpnr.noise``.
        """
        log_epsilon = torch.tensor([[math.log(epsilon)]], device=vectors.device)
        scale = np.exp(np.interp(math.log(epsilon), self._knots, self._log_scales))
        scales = torch.full((draws, 1, 1), float(scale), device=vectors.device)
        return noisy(vectors, self.mode, scales, generator), log_epsilon
