"""Flattening: a base measure that makes the normaliser nearly constant, so that less epsilon pays for it.

In ``Pr[M(x) = y] = q(y) exp(-alpha s(x, y)) / Z(x)`` any ``q > 0`` that does not depend on ``x`` keeps the guarantee.
Where ``Z`` is constant, ``eps*`` is ``alpha`` and not ``2 alpha`` (*tight constraints*; ElSalamouny, Chatzikokolakis,
Palamidessi 2015). Nothing here is trusted: the finished integers are certified like any others.
"""

import numpy as np
from numpy.typing import NDArray

from textveil_export.exact_search import AllScores
from textveil_export.sources import Progress, no_progress

_MAX_ROUNDS = 150
_SETTLED = 2e-3
_ROWS_AT_ONCE = 256
#: Base measures ship as bytes: rounding by one part in 255 averages out over thousands of words.
_LARGEST = np.iinfo(np.uint8).max


def flat_base(
    every: AllScores, outputs: NDArray[np.intp], exponent: float, progress: Progress = no_progress
) -> NDArray[np.uint8]:
    """A base measure under which ``Z`` varies little over all inputs, for the exact tail.

    Multiplicative updates ``q <- q (Phi' 1) / (Phi' Phi q)`` with ``Phi(x, y) = exp(-alpha d(x, y))`` and a row for
    every input: least squares of ``Phi q = 1`` under ``q > 0`` (Daube-Witherspoon and Muehllehner 1986). Memory is
    four bytes for every pair of input and output.

    Args:
        every: Scores of all pairs.
        outputs: Ids of the outputs.
        exponent: ``alpha`` per unit of scaled distance.
        progress: Called with rounds done.

    Returns:
        Shape ``(symbols,)``, 1 to 255 for outputs and 0 elsewhere.
    """
    steps = np.arange(every.largest + 1)
    factors = np.exp(-exponent * steps / every.metric.grid).astype(np.float32)
    phi = np.empty((len(every.scores), len(outputs)), dtype=np.float32)
    for block in every.blocks(_ROWS_AT_ONCE):
        phi[block] = factors[every.scores[block][:, outputs]]
    q = np.ones(len(outputs), dtype=np.float32)
    target = phi.sum(axis=0, dtype=np.float64).astype(np.float32)
    for number in range(1, _MAX_ROUNDS + 1):
        change = target / ((phi @ q) @ phi)
        q *= change
        progress("flattening", number, _MAX_ROUNDS)
        if np.quantile(np.abs(np.log(change)), 0.99) < _SETTLED:
            break
    base = np.zeros(len(every.scores) - 1, dtype=np.uint8)
    base[outputs] = np.maximum(1, np.rint(q * (_LARGEST / q.max())))
    return base
