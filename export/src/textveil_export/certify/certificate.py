"""Certified epsilons: the textbook's worst case replaced by a computation over all pairs of the shipped table.

    eps* = max over ordered pairs x != x' of loss(x, x') / d(x, x'),

on finished integers, distances rounded down and log-ratios up. Where the tail is exact, losses are bounded from above
so closely that the value attained, printed beside it, is next to nothing less (docs/proofs/exact-tail.md).
"""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from textveil.audit import CappedAudit, pure_ldp_levels
from textveil.bundle import Level, TextBundle
from textveil.mechanisms import CAPPED, EXACT, SANTEXT_OUTPUT, UNKNOWN, CappedSanText, ExactSanText, Metric, Table
from textveil.release import round_down, round_up

from textveil_export.certify.all_scores import AllScores
from textveil_export.certify.capped import worst_ratios
from textveil_export.certify.exact import worst_exact_ratios
from textveil_export.certify.worst_pair import Worst, Worsts, sensitive_inputs
from textveil_export.errors import CertificationError
from textveil_export.progress import Progress, no_progress

ANY_OTHER = "any word stored for neither"
#: Certificates by level name, mechanism and tail.
Certificates = dict[str, dict[str, dict[str, "LevelCertificate"]]]


@dataclass(frozen=True)
class Attained:
    """A pair and an output at which a bound is attained, in words; ``epsilon`` is the log-ratio there over ``d``."""

    input: str
    other_input: str
    output: str
    distance: float
    epsilon: float


@dataclass(frozen=True)
class LevelCertificate:
    """What was proven about one level, mechanism and tail.

    Attributes:
        exponent: ``alpha``.
        epsilon_textbook: ``2 alpha``.
        epsilon_certified: ``eps*`` over all ordered pairs of inputs, rounded up.
        attained: A pair and output that come (next to) nothing short of it; their own value is rounded down.
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
        """Returns plain values for JSON."""
        return asdict(self)


def certify(bundle: TextBundle, progress: Progress = no_progress) -> Certificates:
    """Certifies every mechanism of every level of a bundle.

    Args:
        bundle: A bundle that carries its embedding rows.
        progress: Called with rows done.

    Raises:
        CertificationError: The bundle has no rows, two inputs with different rows lie at distance 0, or a mechanism
            with an exact tail would be drawn from rows that lack a near output.
    """
    if bundle.metric is None:
        raise CertificationError("this bundle carries no embedding rows, so there is no metric to certify in")
    certificates: Certificates = {
        level.name: {mechanism: {} for mechanism, _ in level.parameters} for level in bundle.levels
    }
    for tail in bundle.tails:
        finished = [
            (level, mechanism, CappedSanText.of(bundle.table, mechanism, parameters))
            for level in bundle.levels
            for (mechanism, its_tail), parameters in level.parameters.items()
            if its_tail == tail
        ]
        certify_tail = _certify_exact if tail == EXACT else _certify_capped
        for (level, mechanism, _), proven in zip(
            finished, certify_tail(bundle, bundle.metric, finished, progress), strict=True
        ):
            certificates[level.name][mechanism][tail] = proven
    return certificates


def false_labels(bundle: TextBundle, certificates: Certificates) -> list[str]:
    """Returns what the bundle calls certified and is not: labels below what was proven now, one line for each."""
    found = []
    for level in bundle.levels:
        for mechanism, tail in level.parameters:
            said, proven = bundle.certified_epsilon(level, mechanism, tail), certificates[level.name][mechanism][tail]
            if said is not None and said < proven.epsilon_certified:
                found.append(
                    f"false label: level {level.name}, {mechanism}, {tail} tail says {said:g}; "
                    f"proven is {proven.epsilon_certified:g}"
                )
    return found


_Finished = list[tuple[Level, str, CappedSanText]]


def _certify_capped(
    bundle: TextBundle, metric: Metric, finished: _Finished, progress: Progress
) -> list[LevelCertificate]:
    audits = [CappedAudit(capped) for _, _, capped in finished]
    certificates: list[LevelCertificate] = []
    worsts = worst_ratios(metric, audits, sensitive_inputs(bundle.table), progress)
    for number, ((level, mechanism, _), audit, worst) in enumerate(zip(finished, audits, worsts, strict=True), 1):
        first, second = np.array([worst.over_all.first]), np.array([worst.over_all.second])
        losses, outputs = audit.losses(first, second)
        attained = _attained(bundle, worst.over_all, float(losses[0]), int(outputs[0]))
        certificates.append(_certificate(bundle, level, (mechanism, CAPPED), worst, attained, audit.pure_loss()))
        progress("certifying pure LDP levels of capped tails", number, len(finished))
    return certificates


def _certify_exact(
    bundle: TextBundle, metric: Metric, finished: _Finished, progress: Progress
) -> list[LevelCertificate]:
    every = AllScores.of(metric, progress)
    _check_rows(bundle.table, every, progress)
    exact = [ExactSanText(capped, metric) for _, _, capped in finished]
    audits = every.audits(exact)
    worsts = worst_exact_ratios(every, audits, sensitive_inputs(bundle.table), progress)
    pure = pure_ldp_levels([each.channel_on(every) for each in exact])
    certificates: list[LevelCertificate] = []
    for (level, mechanism, _), audit, worst, loss in zip(finished, audits, worsts, pure, strict=True):
        attained = _attained(bundle, worst.over_all, *audit.loss(worst.over_all.first, worst.over_all.second))
        certificates.append(_certificate(bundle, level, (mechanism, EXACT), worst, attained, loss))
    return certificates


def _check_rows(table: Table, every: AllScores, progress: Progress) -> None:
    """Refuses a table that does not store the nearest outputs of every input at their right scores.

    A draw with an exact tail proposes from the table and thins by the metric: only then is its output
    distribution the one of the metric, which is certified.
    """
    candidates = np.flatnonzero(table.roles & SANTEXT_OUTPUT)

    def wrong(block: NDArray[np.intp]) -> NDArray[np.intp]:
        scores = every.scores[block]
        stored = np.take_along_axis(scores, table.neighbors[block].astype(np.intp), axis=1)
        nearer = (scores[:, candidates] < stored[:, -1:]).sum(axis=1)
        lacking = nearer != (stored < stored[:, -1:]).sum(axis=1)
        return block[lacking | (stored != table.scores[block]).any(axis=1)]

    rows = np.concatenate(every.each("checking neighbors", wrong, progress))
    if len(rows):
        raise CertificationError(f"row {rows[0]} does not store the nearest outputs at their distances")


def _attained(bundle: TextBundle, worst: Worst, loss: float, output: int) -> Attained:
    names = [*bundle.vocabulary, UNKNOWN]
    return Attained(
        names[worst.first],
        names[worst.second],
        ANY_OTHER if output < 0 else names[output],
        round(worst.distance, 6),
        round_down(loss / worst.distance - 1e-9),
    )


def _certificate(
    bundle: TextBundle, level: Level, key: tuple[str, str], worst: Worsts, attained: Attained, pure: tuple[float, int]
) -> LevelCertificate:
    parameters = level.parameters[key]
    inputs = bundle.symbols + 1
    return LevelCertificate(
        exponent=str(parameters.exponent),
        epsilon_textbook=float(2 * parameters.exponent),
        epsilon_certified=round_up(worst.over_all.ratio),
        attained=attained,
        epsilon_certified_sensitive=round_up(worst.over_sensitive.ratio),
        epsilon_pure_ldp=round_up(pure[0]),
        pure_ldp_output=bundle.vocabulary[pure[1]],
        infinite_ratios=int((parameters.weights < 1).sum()),
        pairs=inputs * (inputs - 1),
    )
