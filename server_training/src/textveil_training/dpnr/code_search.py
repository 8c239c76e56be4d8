"""Compute the best accuracy that noise on vectors permits, with one vector (*code*) for each class.

A mode, such as ``l1``, determines the noise and the set to which vectors are bounded. Assume that the vector of a text
depends only on the decision ``yhat`` of the model without noise. Then the encoder is a choice of K points for K
classes, the codes ``c_yhat``, in this set. The device adds noise to the code, and the server applies Bayes' rule to the
noisy vector ``z = c_yhat + n``:

    A(c) = integral of max_y sum_yhat P(yhat, y) p(z - c_yhat) dz

Here ``P(yhat, y)`` is the share of texts with the decision ``yhat`` and the true class ``y``, and ``p`` the density of
the noise. The largest ``A`` over all codes and dimensions is the best accuracy with the mode's noise. It is at most the
*reference* of ``benchmarks/bounds/channels.py``, the best accuracy of any private randomizer; the difference is the
cost of additive noise. The accuracy of a trained head is compared with this figure, and its training may start from
these codes.

``A`` is maximized by gradient ascent from several starts, with noise drawn once by a scrambled Sobol sequence. The same
noise is added to all codes (common random numbers), so that small differences between codes remain measurable. The
reported accuracy and its standard error come from new pseudo-random noise that the search did not use.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from math import sqrt
from typing import Any, get_args

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray

from textveil_training.dpnr.training_noise import Mode, bound_vectors, compute_noise_scale
from textveil_training.errors import InvalidRandomizer
from textveil_training.label_randomizers import compute_joint_shares

Floats = NDArray[np.float64]

#: Dimensions that ``search_best_dimension`` tries by default.
DIMENSIONS = (1, 2, 3, 4, 5, 6, 7, 8)
_DRAWS_AT_ONCE = 1 << 14


@dataclass(frozen=True, kw_only=True)
class ClassCodes:
    """One vector (*code*) for each class, with the accuracy of decisions from noisy codes.

    Attributes:
        mode: ``l1``, ``l2`` or ``box``.
        delta: Delta of ``l2``; 0 for other modes.
        codes: ``codes[yhat]`` is the code of class ``yhat``, of L1 or L2 norm at most 1, or for ``box`` with
            coordinates from 0 to 1; shape (classes, dimension).
        epsilons: Epsilons per text for which the codes were optimized.
        accuracies: Accuracy at each epsilon, measured with noise that the search did not use.
        standard_errors: Standard errors of the accuracies.
    """

    mode: Mode
    delta: float
    codes: tuple[tuple[float, ...], ...]
    epsilons: tuple[float, ...]
    accuracies: tuple[float, ...]
    standard_errors: tuple[float, ...]

    @property
    def mean_accuracy(self) -> float:
        """Mean accuracy over the epsilons."""
        return sum(self.accuracies) / len(self.accuracies)

    def to_dict(self) -> dict[str, Any]:
        """Return the fields by name, as values that JSON can store."""
        return asdict(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeSearchSettings:
    """Settings that determine the effort of a search for codes (one vector for each class).

    Attributes:
        restarts: Number of random starts, in addition to two starts at unit vectors and their negatives.
        steps: Number of gradient steps of each start.
        draws: Number of noise vectors for each class during the search; must be a power of two.
        fresh_draws: Number of new noise vectors for each class to measure the reported accuracy.
        seed: Seed of starts and noise. This noise protects nobody's text, so a seeded generator is sufficient.
    """

    restarts: int = 4
    steps: int = 150
    draws: int = 1024
    fresh_draws: int = 1 << 17
    seed: int = 20


def estimate_code_accuracy(
    codes: ArrayLike,
    confusion: ArrayLike,
    epsilon: float,
    mode: Mode = "l1",
    delta: float = 0.0,
    *,
    draws: int = 1 << 17,
    seed: int = 20,
) -> tuple[float, float]:
    """Estimate the accuracy of decisions from noisy codes, and its standard error, by simulated noise.

    A code is the vector, before the noise, that a device sends if its classifier decides on a class without noise. For
    each noise vector the estimate adds the posterior probability of the best decision. This has the same mean as
    counting right decisions, and less variance. The noise is continuous, since the rounding on devices is too fine to
    change the result.

    Args:
        codes: The code of each decision, shape (classes, dimension): L1 or L2 norm at most 1, or for ``box``
            coordinates from 0 to 1.
        confusion: Counts by true class (row) and decision without noise (column).
        epsilon: Epsilon per text.
        mode: ``l1``, ``l2`` or ``box``, which determines the noise.
        delta: Delta of ``l2``.
        draws: Number of noise vectors for each class.
        seed: Seed of the generator.

    Returns:
        The accuracy from 0 to 1, and its standard error.

    Raises:
        InvalidRandomizer: A code exceeds these limits, the shapes differ, or epsilon, delta or the confusion matrix is
            not valid.
    """
    points, gains = _check_codes(codes, mode), torch.from_numpy(compute_joint_shares(confusion).copy())
    if len(points) != len(gains):
        raise InvalidRandomizer("the codes must have one row for each class")
    scale = compute_noise_scale(mode, points.shape[1], epsilon, delta)
    generator = np.random.default_rng([seed, 1])
    total = square = 0.0
    shares = gains.sum(dim=1)
    for begin in range(0, draws, _DRAWS_AT_ONCE):
        shape = (len(points), min(_DRAWS_AT_ONCE, draws - begin), points.shape[1])
        unit = generator.normal(size=shape) if mode == "l2" else generator.laplace(size=shape)
        kept = shares @ _compute_posteriors(
            points, torch.from_numpy(unit) * scale, gains, scale, mode
        )  # accuracy in one draw of each class
        total += float(kept.sum())
        square += float((kept**2).sum())
    mean = total / draws
    return mean, sqrt(max(0.0, square / draws - mean**2) / draws)


def search_codes(
    confusion: ArrayLike,
    epsilons: Sequence[float],
    dimension: int,
    mode: Mode = "l1",
    delta: float = 0.0,
    search: CodeSearchSettings | None = None,
) -> ClassCodes:
    """Find one vector (*code*) for each class, so that decisions from noisy codes have the best accuracy.

    The accuracy is the mean over several epsilons.

    Args:
        confusion: Counts by true class (row) and decision without noise (column).
        epsilons: Epsilons per text; one set of codes is optimized for all of them together.
        dimension: Dimension of the codes, at least 1 (2 for ``box``, where the smallest coordinate is 0 and the largest
            1).
        mode: ``l1``, ``l2`` or ``box``, which determines the set of possible vectors and the noise.
        delta: Delta of ``l2``.
        search: Settings that determine the effort of the search.

    Raises:
        InvalidRandomizer: ``epsilons`` is empty, the dimension is too small, or an epsilon, delta or the confusion
            matrix is not valid.
    """
    if mode not in get_args(Mode) or dimension < (2 if mode == "box" else 1) or not epsilons:
        raise InvalidRandomizer(
            "mode must be l1, l2 or box, the dimension at least 1 (box: 2), and there must be at least one level"
        )
    search = search or CodeSearchSettings()
    gains = torch.from_numpy(compute_joint_shares(confusion).copy())
    scales = [compute_noise_scale(mode, dimension, epsilon, delta) for epsilon in epsilons]
    unit = _draw_sobol_noise(mode, dimension, search)
    best, found = -1.0, torch.zeros(0)
    for start in _make_starts(len(gains), dimension, mode, search):
        value, points = _optimize_codes(start, unit, gains, scales, mode, search.steps)
        if value > best:
            best, found = value, points
    codes = tuple(tuple(round(float(x), 6) for x in row) for row in _pull_inside(found.numpy(), mode))
    measured = [
        estimate_code_accuracy(codes, confusion, epsilon, mode, delta, draws=search.fresh_draws, seed=search.seed)
        for epsilon in epsilons
    ]
    accuracies, errors = zip(*measured, strict=True)
    return ClassCodes(
        mode=mode, delta=delta, codes=codes, epsilons=tuple(epsilons), accuracies=accuracies, standard_errors=errors
    )


def spread_codes(classes: int, dimension: int, epsilons: Sequence[float], seed: int = 20) -> ClassCodes:
    """Return random vectors of zeros and ones as codes (one vector for each class) of mode ``box``.

    This takes the place of a search for better codes where a search would take minutes. Any two codes differ in about
    half of the coordinates. The function does not measure accuracies; they are NaN.

    Args:
        classes: Number of classes.
        dimension: Number of coordinates, at least 2.
        epsilons: Epsilons per text.
        seed: Seed of the corners, which protect nobody's text.
    """
    corners = np.random.default_rng([seed, classes]).integers(0, 2, (classes, dimension))
    corners[:, 0], corners[:, -1] = 0, 1  # the smallest coordinate of a code of the box is 0, and the largest 1
    unknown = (math.nan,) * len(epsilons)
    return ClassCodes(
        mode="box",
        delta=0.0,
        codes=tuple(tuple(float(x) for x in row) for row in corners),
        epsilons=tuple(epsilons),
        accuracies=unknown,
        standard_errors=unknown,
    )


def search_best_dimension(
    confusion: ArrayLike,
    epsilons: Sequence[float],
    mode: Mode = "l1",
    delta: float = 0.0,
    dimensions: Iterable[int] = DIMENSIONS,
    search: CodeSearchSettings | None = None,
) -> ClassCodes:
    """Search codes (one vector for each class) in several dimensions, and return those with the best accuracy.

    A larger dimension is chosen only if its accuracy is better by two standard errors, so that chance alone does not
    add coordinates.

    Args:
        confusion: Counts by true class (row) and decision without noise (column).
        epsilons: Epsilons per text.
        mode: ``l1``, ``l2`` or ``box``, which determines the set of possible vectors and the noise.
        delta: Delta of ``l2``.
        dimensions: Dimensions to try.
        search: Settings that determine the effort of the search in each dimension.

    Raises:
        InvalidRandomizer: There is no dimension, or ``search_codes`` refuses an argument.
    """
    best: ClassCodes | None = None
    for dimension in sorted(dimensions):
        if mode == "box" and dimension == 1:
            continue
        found = search_codes(confusion, epsilons, dimension, mode, delta, search)
        if best is None or found.mean_accuracy > best.mean_accuracy + 2 * max(found.standard_errors):
            best = found
    if best is None:
        raise InvalidRandomizer("pass at least one dimension")
    return best


def _compute_posteriors(
    points: torch.Tensor, noise: torch.Tensor, gains: torch.Tensor, scale: float, mode: Mode
) -> torch.Tensor:
    """Compute the probability that the best decision from each noisy point is right.

    The probability is ``max_y P(y | z)`` for ``z = points[i] + noise[i]``; the result has shape (classes, draws).

    Args:
        points: Codes of the classes.
        noise: Noise vectors.
        gains: Share of texts with each pair of decision (row) and true class (column); all shares sum to 1.
        scale: Scale of the noise.
        mode: ``l1``, ``l2`` or ``box``, which determines the noise.
    """
    away = points[:, None, None] + noise[:, :, None] - points[None, None]  # (class, draw, other class, dimension)
    logs = -away.abs().sum(-1) / scale if mode != "l2" else -(away**2).sum(-1) / (2 * scale**2)
    likelihood = torch.exp(logs - logs.detach().amax(-1, keepdim=True))
    return (likelihood @ gains).amax(-1) / (likelihood @ gains.sum(dim=1))


def _optimize_codes(
    start: torch.Tensor, unit: torch.Tensor, gains: torch.Tensor, scales: list[float], mode: Mode, steps: int
) -> tuple[float, torch.Tensor]:
    """Find codes (one vector for each class) with a high mean accuracy under noise, by gradient ascent (Adam).

    Adam changes unbounded vectors. ``bound_vectors`` converts them to codes, and the gradient passes through this
    function. The step size decreases.

    Args:
        start: Initial codes, shape ``(classes, dimension)``.
        unit: Noise of scale 1, shape ``(1, draws, dimension)``.
        gains: Share of texts with each pair of decision (row) and true class (column); all shares sum to 1.
        scales: Noise scales, one for each epsilon.
        mode: ``l1``, ``l2`` or ``box``, which determines how vectors are bounded.
        steps: Number of steps of the optimizer.

    Returns:
        The best mean accuracy, and its codes.
    """
    free = start.clone().requires_grad_()
    optimizer = torch.optim.Adam([free], lr=0.1)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    shares = gains.sum(dim=1)
    best, found = -1.0, start
    for _ in range(steps + 1):
        points = bound_vectors(free, mode)
        value = torch.stack(
            [shares @ _compute_posteriors(points, unit * s, gains, s, mode).mean(dim=1) for s in scales]
        ).mean()
        if float(value.detach()) > best:
            best, found = float(value.detach()), points.detach().clone()
        optimizer.zero_grad()
        (-value).backward()
        optimizer.step()
        schedule.step()
    return best, found


def _make_starts(classes: int, dimension: int, mode: Mode, search: CodeSearchSettings) -> list[torch.Tensor]:
    """Return initial codes (one vector per class) of the search: two arrangements of unit vectors, then random ones.

    Args:
        classes: Number of classes.
        dimension: Number of coordinates of a code.
        mode: ``l1``, ``l2`` or ``box``, which determines how vectors are bounded.
        search: Settings of the search.
    """
    generator = np.random.default_rng([search.seed, dimension])
    corners = np.concatenate([sign * axis for axis in np.eye(dimension)[:, None] for sign in (1.0, -1.0)])
    corners = corners.reshape(-1, dimension)
    dealt = corners[np.arange(classes) % len(corners)]
    shared = corners[np.minimum(np.arange(classes), 1) % len(corners)] * 0.9  # all classes but the first share a corner
    random = list(generator.normal(size=(search.restarts, classes, dimension)))
    jitter = generator.normal(scale=0.01, size=dealt.shape)
    return [torch.from_numpy(start) for start in (dealt + jitter, shared + jitter, *random)]


def _draw_sobol_noise(mode: Mode, dimension: int, search: CodeSearchSettings) -> torch.Tensor:
    """Draw noise of scale 1 from a Sobol sequence, shape (1, draws, dimension).

    All classes use the same noise.

    Args:
        mode: ``l1``, ``l2`` or ``box``, which determines the noise distribution.
        dimension: Number of coordinates.
        search: Settings of the search.
    """
    engine = torch.quasirandom.SobolEngine(dimension, scramble=True, seed=search.seed)
    uniform = (engine.draw(search.draws, dtype=torch.float64).clamp(1e-9, 1 - 1e-9) - 0.5)[None]
    if mode == "l2":
        return sqrt(2) * torch.erfinv(2 * uniform)
    return -uniform.sign() * torch.log1p(-2 * uniform.abs())


def _pull_inside(points: Floats, mode: Mode) -> Floats:
    """Shrink vectors slightly, so that rounding to six decimals leaves the norm at most 1; keep ``box`` vectors."""
    return points if mode == "box" else points * (1 - 1e-6 * (points.shape[1] + 1))


def _check_codes(codes: ArrayLike, mode: Mode) -> torch.Tensor:
    points = np.asarray(codes, dtype=np.float64)
    if points.ndim != 2 or not np.isfinite(points).all():
        raise InvalidRandomizer("codes must be a matrix of finite numbers with one row for each class")
    sizes = {"l1": np.abs(points).sum(axis=1), "l2": np.sqrt((points**2).sum(axis=1))}
    outside = ((points < 0) | (points > 1)).any() if mode == "box" else (sizes[mode] > 1 + 1e-9).any()
    if outside:
        raise InvalidRandomizer("a code (the vector of a class) exceeds the norm bound of its mode: scale it down")
    return torch.from_numpy(points)
