"""The largest loss per unit of distance of mechanisms with a capped tail, over all pairs of inputs.

Every ordered pair is either evaluated exactly, or skipped because a bound on its loss is below the worst found so
far: the search is exhaustive (docs/proofs/audit.md).
"""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from os import cpu_count

import numpy as np
from numpy.typing import NDArray
from textveil.audit import CappedAudit
from textveil.mechanisms import Floats, Metric

from textveil_export.certify.worst_pair import Worsts, near_pairs
from textveil_export.errors import CertificationError
from textveil_export.parallel import in_order
from textveil_export.progress import Progress, no_progress

_BLOCK = 128
_EXACT_AT_ONCE = 4096
_SEED_RATIOS = 8_000_000


def worst_ratios(
    metric: Metric,
    audits: Sequence[CappedAudit],
    sensitive: NDArray[np.bool_],
    progress: Progress = no_progress,
    *,
    trusted: bool = False,
) -> list[Worsts]:
    """Returns ``eps*`` of several mechanisms of one table in one pass over the distances.

    Memory is one block of the distance matrix per core.

    Args:
        metric: Distances of all inputs.
        audits: The mechanisms, all of one table.
        sensitive: Which inputs count as sensitive, shape ``(inputs,)``.
        progress: Called with rows done.
        trusted: The table has just been made from this metric: many more pairs can be skipped. A certificate does not
            trust it, and judges the integers whatever they are.

    Raises:
        CertificationError: Two inputs with different rows lie at distance 0.
    """
    if not audits:
        return []
    inputs = len(metric.rows)
    worsts = [Worsts(sensitive) for _ in audits]
    neighbors = audits[0].mechanism.table.neighbors
    first, second = near_pairs(neighbors)
    thinned = slice(None, None, 1 + len(first) * neighbors.shape[1] // _SEED_RATIOS)
    first, second = first[thinned], second[thinned]
    distances = metric.scaled(metric.squared(first, second))
    _refuse_coincident(distances, audits, first, second)
    apart = distances > 0
    first, second, distances = first[apart], second[apart], distances[apart]
    for audit, worst in zip(audits, worsts, strict=True):
        worst.add(audit.losses(first, second)[0], first, second, distances)

    def blocks() -> Iterator[tuple[NDArray[np.intp], Floats]]:
        for seconds, squared in metric.squared_to_all(np.arange(inputs), _BLOCK):
            yield seconds, metric.scaled(squared)

    def scan(block: tuple[NDArray[np.intp], Floats]) -> int:
        seconds, distances = block
        distances[np.arange(len(distances)), seconds] = np.inf  # a word with itself
        same = np.argwhere(distances == 0)
        if len(same):
            _refuse_coincident(np.zeros(len(same)), audits, same[:, 1], seconds[same[:, 0]])
            distances[distances == 0] = np.inf
        for audit, worst in zip(audits, worsts, strict=True):
            _scan(audit, worst, seconds, distances, metric.grid if trusted else None)
        return int(seconds[-1]) + 1

    with ThreadPoolExecutor(cpu_count()) as pool:
        for done in in_order(pool, scan, blocks()):
            progress("certifying all pairs", done, inputs)
    return worsts


def _scan(
    audit: CappedAudit, worst: Worsts, seconds: NDArray[np.intp], distances: Floats, trusted_grid: int | None
) -> None:
    """Covers all pairs ``(x, x')`` for some ``x'``; distances of shape ``(seconds, inputs)``."""
    firsts = np.arange(distances.shape[1])
    row, first = np.nonzero(audit.bounds(firsts[None, :], seconds[:, None]) > worst.threshold * distances)
    second, apart = seconds[row], distances[row, first]
    if trusted_grid is not None:
        steps = (apart * trusted_grid).astype(np.int64) + 2  # d is rounded down: at least the score, and one
        open_pairs = audit.lipschitz_bounds(first, second, steps) > worst.threshold * apart
        first, second, apart = first[open_pairs], second[open_pairs], apart[open_pairs]
    at_once = max(1, _EXACT_AT_ONCE * 64 // audit.mechanism.table.neighbors.shape[1])
    for start in range(0, len(first), at_once):
        part = slice(start, start + at_once)
        worst.add(audit.losses(first[part], second[part])[0], first[part], second[part], apart[part])


def _refuse_coincident(
    distances: Floats, audits: Sequence[CappedAudit], first: NDArray[np.intp], second: NDArray[np.intp]
) -> None:
    """Refuses two inputs at distance 0 with different rows: no epsilon covers them."""
    for x, other in zip(first[distances == 0], second[distances == 0], strict=True):
        for audit in audits:
            rows = audit.mechanism.rows(np.array([x, other]))
            if (rows.weights(0) != rows.weights(1)).any():
                raise CertificationError(f"inputs {x} and {other} lie at distance 0 and have different rows")
