"""Certified epsilons: the textbook's worst case replaced by a computation over all pairs of the shipped table.

    eps* = max over ordered pairs x != x' of loss(x, x') / d(x, x'),

on finished integers, distances rounded down and log-ratios up (``textveil.audit``). Every ordered pair is either
evaluated exactly, or skipped because a bound on its loss is below the best found so far: the search is exhaustive.
"""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from os import cpu_count
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray
from textveil.audit import Audit, round_up, scaled_distances
from textveil.bundle import Bundle, Level
from textveil.distribution import UNKNOWN
from textveil.mechanisms import TableLaw
from textveil.table import KEPT, Table

from textveil_export.errors import ExportError
from textveil_export.metric import squared_distances
from textveil_export.sources import Progress, no_progress

Floats = NDArray[np.float64]

_BLOCK = 128
_EXACT_AT_ONCE = 4096
_SEED_NEIGHBOURS = 4
ANY_OTHER = "any word stored for neither"


class CertificationError(ExportError):
    """The table cannot be certified."""

    code = "certification"


@dataclass
class Worst:
    """The largest loss per unit of distance found so far, and where.

    Attributes:
        ratio: ``loss / d``.
        first, second: The inputs ``x`` and ``x'``.
        output: The output ``y``; -1 is any word stored for neither.
        distance: ``d``.
    """

    ratio: float = 0.0
    first: int = -1
    second: int = -1
    output: int = -1
    distance: float = 0.0


@dataclass(frozen=True)
class Attained:
    """Where a bound is attained, in words."""

    input: str
    other_input: str
    output: str
    distance: float


@dataclass(frozen=True)
class LevelCertificate:
    """What was proven about one level of one mechanism.

    Attributes:
        exponent: ``alpha``.
        epsilon_textbook: ``2 alpha``.
        epsilon_certified: ``eps*`` over all ordered pairs of inputs, rounded up.
        attained: The pair and output of ``eps*``.
        epsilon_certified_sensitive: The same over sensitive inputs and ``<unk>`` only.
        epsilon_pure_ldp: Largest log-ratio over all pairs and outputs, whatever the distance, rounded up.
        pure_ldp_output: The output that attains it.
        infinite_ratios: Outputs possible under one input and impossible under another; must be 0.
        pairs: Ordered pairs covered.
    """

    exponent: str
    epsilon_textbook: float
    epsilon_certified: float
    attained: Attained
    epsilon_certified_sensitive: float
    epsilon_pure_ldp: float
    pure_ldp_output: str
    infinite_ratios: int
    pairs: int

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return asdict(self)


def certify(bundle: Bundle, progress: Progress = no_progress) -> dict[str, dict[str, LevelCertificate]]:
    """Certifies every level of a bundle for every mechanism of its table.

    Args:
        bundle: A bundle that carries its embedding rows.
        progress: Called with rows done.

    Returns:
        Certificates by level name and mechanism.

    Raises:
        CertificationError: The bundle has no rows, or two inputs with different rows lie at distance 0.
    """
    pairs = [(level, mechanism) for level in bundle.levels for mechanism in level.laws]
    audits = [Audit(TableLaw.of(bundle.table, mechanism, level.laws[mechanism])) for level, mechanism in pairs]
    if bundle.embeddings is None:
        raise CertificationError("this bundle carries no embedding rows, so there is no metric to certify in")
    worsts = worst_ratios(bundle.table, bundle.embeddings, audits, progress)
    certificates: dict[str, dict[str, LevelCertificate]] = {}
    for number, ((level, mechanism), audit, worst) in enumerate(zip(pairs, audits, worsts, strict=True), 1):
        certificates.setdefault(level.name, {})[mechanism] = _certificate(bundle, level, mechanism, audit, *worst)
        progress("certifying pure LDP levels", number, len(pairs))
    return certificates


def worst_ratios(
    table: Table, rows: NDArray[np.int8], audits: Sequence[Audit], progress: Progress = no_progress
) -> list[tuple[Worst, Worst]]:
    """``eps*`` of several laws in one pass over the distances: over all inputs, and over sensitive inputs.

    Memory is one block of the distance matrix per core.

    Args:
        table: The table.
        rows: Embedding rows, ``<unk>`` last, shape ``(symbols + 1, dimension)``.
        audits: The laws, all of this table.
        progress: Called with rows done.

    Raises:
        CertificationError: Two inputs with different rows lie at distance 0.
    """
    inputs = table.symbols + 1
    sensitive = np.append((table.roles & KEPT) == 0, True)
    searches = [_Search(audit, sensitive) for audit in audits]
    first, second = _near_pairs(table.neighbours)
    distances = scaled_distances(table, rows, first, second)
    _refuse_coincident(distances, audits, first, second)
    for search in searches:
        search.evaluate(first, second, distances)

    def blocks() -> Iterator[tuple[int, Floats]]:
        for start, squared in squared_distances(rows, rows, _BLOCK):
            seconds = np.arange(start, start + len(squared))
            squared[:, -1] += np.where(seconds == inputs - 1, 0, table.unknown_extra)
            squared[seconds == inputs - 1, :-1] += table.unknown_extra
            yield start, np.sqrt(squared / table.median_squared_distance) * (1 - 1e-14)

    def scan(block: tuple[int, Floats]) -> int:
        start, distances = block
        seconds = np.arange(start, start + len(distances))
        distances[np.arange(len(distances)), seconds] = np.inf  # a word with itself
        same = np.argwhere(distances == 0)
        if len(same):
            _refuse_coincident(np.zeros(len(same)), audits, same[:, 1], same[:, 0] + start)
            distances[distances == 0] = np.inf
        for search in searches:
            search.scan(seconds, distances)
        return start + len(distances)

    with ThreadPoolExecutor(cpu_count()) as pool:
        for done in _in_order(pool, scan, blocks()):
            progress("certifying all pairs", done, inputs)
    return [(search.all_inputs, search.sensitive_inputs) for search in searches]


class _Search:
    """The branch and bound of one law."""

    def __init__(self, audit: Audit, sensitive: NDArray[np.bool_]) -> None:
        self.audit = audit
        self.sensitive = sensitive
        self.all_inputs = Worst()
        self.sensitive_inputs = Worst()
        self._lock = Lock()  # blocks are scanned by several threads

    def scan(self, seconds: NDArray[np.intp], distances: Floats) -> None:
        """Covers all pairs ``(x, x')`` for some ``x'``; distances of shape ``(seconds, inputs)``."""
        firsts = np.arange(distances.shape[1])
        threshold = max(self.sensitive_inputs.ratio, 1e-9)  # never above the best over all inputs
        promising = self.audit.bounds(firsts[None, :], seconds[:, None]) > threshold * distances
        row, first = np.nonzero(promising)
        for start in range(0, len(row), _EXACT_AT_ONCE):
            part = slice(start, start + _EXACT_AT_ONCE)
            self.evaluate(first[part], seconds[row[part]], distances[row[part], first[part]])

    def evaluate(self, first: NDArray[np.intp], second: NDArray[np.intp], distances: Floats) -> None:
        """Evaluates pairs exactly."""
        losses, outputs = self.audit.losses(first, second)
        ratios = losses / distances
        both = self.sensitive[first] & self.sensitive[second]
        among_sensitive = np.where(both, ratios, -np.inf)
        with self._lock:
            self.all_inputs = _worse(self.all_inputs, ratios, first, second, outputs, distances)
            self.sensitive_inputs = _worse(self.sensitive_inputs, among_sensitive, first, second, outputs, distances)


def _worse(worst: Worst, ratios: Floats, *where: NDArray[Any]) -> Worst:
    if not len(ratios):
        return worst
    index = int(ratios.argmax())
    if ratios[index] <= worst.ratio:
        return worst
    first, second, output, distance = (values[index] for values in where)
    return Worst(float(ratios[index]), int(first), int(second), int(output), float(distance))


def _near_pairs(neighbours: NDArray[Any]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Pairs of near inputs in both orders: a good first guess makes the bound skip nearly all others."""
    near = neighbours[:, :_SEED_NEIGHBOURS].astype(np.intp)
    first = np.repeat(np.arange(len(near)), near.shape[1])
    second = near.ravel()
    apart = first != second
    first, second = first[apart], second[apart]
    return np.concatenate([first, second]), np.concatenate([second, first])


def _refuse_coincident(
    distances: Floats, audits: Sequence[Audit], first: NDArray[np.intp], second: NDArray[np.intp]
) -> None:
    """Two inputs at distance 0 must have the same row, or no epsilon covers them."""
    for x, other in zip(first[distances == 0], second[distances == 0], strict=True):
        for audit in audits:
            rows = audit.law.rows(np.array([x, other]))
            if (rows.weights(0) != rows.weights(1)).any():
                raise CertificationError(f"inputs {x} and {other} lie at distance 0 and have different rows")


def _in_order(pool: ThreadPoolExecutor, work: Any, items: Iterator[Any]) -> Iterator[Any]:
    """Like ``pool.map``, but only as many items exist at a time as there are workers."""
    pending: list[Any] = []
    for item in items:
        pending.append(pool.submit(work, item))
        if len(pending) > (cpu_count() or 1):
            yield pending.pop(0).result()
    for future in pending:
        yield future.result()


def _certificate(
    bundle: Bundle, level: Level, mechanism: str, audit: Audit, worst: Worst, worst_sensitive: Worst
) -> LevelCertificate:
    names = [*bundle.vocabulary, UNKNOWN]
    exponent = level.laws[mechanism].exponent
    pure, pure_output = audit.pure_loss()
    inputs = len(names)
    return LevelCertificate(
        exponent=str(exponent),
        epsilon_textbook=float(2 * exponent),
        epsilon_certified=round_up(worst.ratio),
        attained=Attained(
            names[worst.first],
            names[worst.second],
            ANY_OTHER if worst.output < 0 else names[worst.output],
            round(worst.distance, 6),
        ),
        epsilon_certified_sensitive=round_up(worst_sensitive.ratio),
        epsilon_pure_ldp=round_up(pure),
        pure_ldp_output=names[pure_output],
        infinite_ratios=int((audit.law.weights[audit.law.table.scores[:, -1]] < 1).sum()),
        pairs=inputs * (inputs - 1),
    )
