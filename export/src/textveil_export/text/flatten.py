"""Flattening: a base measure that makes the normalizer nearly constant, so that less epsilon pays for it.

In ``Pr[M(x) = y] = q(y) exp(-alpha s(x, y)) / Z(x)`` any ``q > 0`` that does not depend on ``x`` keeps the guarantee.
Where ``Z`` is constant, ``eps*`` is ``alpha`` and not ``2 alpha`` (*tight constraints*; ElSalamouny, Chatzikokolakis,
Palamidessi 2015). Where some words are crowded and others lonely, a constant ``Z`` starves the crowded ones: then it
may vary, but no faster than a slope allows. Nothing here is trusted: the finished integers are certified like any
others.
"""

import numpy as np
from numpy.typing import NDArray

from textveil_export.certify.all_scores import AllScores
from textveil_export.progress import Progress, no_progress

_MAX_ROUNDS = 150
_SETTLED = 2e-3
_SLOPED_ROUNDS, _JUDGED = 45, 15
_ROWS_AT_ONCE = 256


def flat_base(
    every: AllScores,
    outputs: NDArray[np.intp],
    exponent: float,
    progress: Progress = no_progress,
    *,
    flatten_to: float = 1.0,
) -> NDArray[np.float32]:
    """Computes a base measure under which ``ln Z`` varies little over all inputs.

    Multiplicative updates ``q <- q (Phi' 1) / (Phi' Phi q)`` with ``Phi(x, y) = exp(-alpha d(x, y)) / T(x)`` and a row
    for every input: least squares of ``Z = Phi q = T`` under ``q > 0``, in relative error (Daube-Witherspoon and
    Muehllehner 1986). ``T`` is constant, or what ``wanted_totals`` gives; then the rows with the largest errors are
    weighted up as it goes (Lawson 1961), since the worst pair decides ``eps*``, and the best of a few rounds is
    taken. Memory is four bytes for every pair of
    input and output.

    Args:
        every: Scores of all pairs.
        outputs: Ids of the outputs.
        exponent: ``alpha`` per unit of scaled distance.
        progress: Called with rounds done.
        flatten_to: Certified epsilon over ``alpha`` that is aimed for, at least 1. At 1, ``Z`` is made as even as it
            can be; above, ``ln Z`` may change by ``(flatten_to - 1) alpha`` per unit of distance.

    Returns:
        Shape ``(outputs,)``, not negative, the largest 1.
    """
    steps = np.arange(every.largest + 1)
    factors = np.exp(-exponent * steps / every.metric.grid).astype(np.float32)
    phi = np.empty((len(every.scores), len(outputs)), dtype=np.float32)
    for block in every.blocks(_ROWS_AT_ONCE):
        phi[block] = factors[every.scores[block][:, outputs]]
    sloped = flatten_to > 1
    wanted = np.ones(len(phi), dtype=np.float32)
    if sloped:
        wanted = wanted_totals(every, phi.sum(axis=1), (flatten_to - 1) * exponent)
        phi /= wanted[:, None]
    q = np.ones(len(outputs), dtype=np.float32)
    emphasis = np.ones(len(phi), dtype=np.float32)
    target = phi.sum(axis=0, dtype=np.float64).astype(np.float32)
    best, gentlest = q, np.inf
    rounds = _SLOPED_ROUNDS if sloped else _MAX_ROUNDS
    for number in range(1, rounds + 1):
        z = phi @ q
        if sloped and number % _JUDGED == 0:
            slope = steepest(every, np.log(z * wanted))
            best, gentlest = (q.copy(), slope) if slope < gentlest else (best, gentlest)
        if sloped and number >= _JUDGED and number % 3 == 0:
            error = np.abs(np.log(z))
            emphasis *= 1 + 2 * (error / error.max()) ** 2
            target = emphasis @ phi
        change = target / ((emphasis * z) @ phi)
        q *= change
        progress("flattening", number, rounds)
        if not sloped and np.quantile(np.abs(np.log(change)), 0.99) < _SETTLED:
            break
    best = best if sloped else q
    return best / best.max()


def steepest(every: AllScores, logs: NDArray[np.float32]) -> float:
    """Returns the largest change of a function of the inputs per unit of distance; shape ``(inputs,)``."""
    largest = 0.0
    for block in every.blocks(_ROWS_AT_ONCE):
        steps = every.scores[block].astype(np.float32)
        steps[steps == 0] = np.inf
        largest = max(largest, float((np.abs(logs - logs[block, None]) / steps).max()))
    return largest * every.metric.grid


def wanted_totals(every: AllScores, totals: NDArray[np.float32], slope: float) -> NDArray[np.float32]:
    """Returns normalizers near to the given ones whose logarithms change by at most ``slope`` per distance.

    The mean of the largest such function below ``ln Z`` and the smallest above it: ``min over x' of ln Z(x') + slope
    d(x, x')`` and ``max over x' of ln Z(x') - slope d(x, x')`` (McShane 1934). Shapes ``(inputs,)``.
    """
    logs = np.log(totals)
    wanted = np.empty_like(logs)
    for block in every.blocks(_ROWS_AT_ONCE):
        allowed = every.scores[block].astype(np.float32) * np.float32(slope / every.metric.grid)
        wanted[block] = ((logs + allowed).min(axis=1) + (logs - allowed).max(axis=1)) / 2
    return np.exp(wanted)


def in_steps(
    q: NDArray[np.float32], outputs: NDArray[np.intp], symbols: int, largest: int
) -> NDArray[np.unsignedinteger]:
    """Rounds a base measure to what ships: 1 to ``largest`` for outputs and 0 elsewhere, shape ``(symbols,)``."""
    base = np.zeros(symbols, dtype=np.min_scalar_type(largest))
    base[outputs] = np.maximum(1, np.rint(q * largest))
    return base
