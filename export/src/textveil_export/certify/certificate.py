"""Certified epsilons: the textbook's worst case replaced by a computation over all pairs of the shipped table.

    eps* = max over ordered pairs x != x' of loss(x, x') / d(x, x'),

on finished integers, distances rounded down and log-ratios up. Losses are bounded from above so closely that the value
attained, printed beside it, is next to nothing less (docs/proofs/santext.md).
"""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from textveil.bundle import TextBundle
from textveil.mechanisms import UNKNOWN
from textveil.mechanisms.baselines import SANTEXT_OUTPUT, LevelParameters, SanText, Table
from textveil.release import round_down, round_up

from textveil_export.certify.loss_bounds import Losses, pure_ldp_levels
from textveil_export.certify.pair_scores import AllScores
from textveil_export.certify.pair_search import Worst, Worsts, worst_ratios
from textveil_export.errors import CertificationError
from textveil_export.progress import Progress, no_progress

#: Certificates by level name and mechanism.
Certificates = dict[str, dict[str, "LevelCertificate"]]


@dataclass(frozen=True, kw_only=True)
class Attained:
    """A pair and an output at which a bound is attained, in words; ``epsilon`` is the log-ratio there over ``d``."""

    input: str
    other_input: str
    output: str
    distance: float
    epsilon: float


@dataclass(frozen=True, kw_only=True)
class LevelCertificate:
    """What was proven about one level and mechanism.

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
        bundle: A bundle with SanText.
        progress: Called with rows done.

    Raises:
        CertificationError: The bundle has no SanText, or would draw from rows that lack a near output.
    """
    if not bundle.levels:
        raise CertificationError("this bundle has no SanText: its staircase is certified whenever it is opened")
    every = AllScores.of(bundle.metric, progress)
    _check_rows(bundle.table, every, progress)
    laws = [(level, mechanism) for level in bundle.levels for mechanism in level.parameters]
    losses = [
        Losses(SanText.of(bundle.table, bundle.metric, mechanism, level.parameters[mechanism]).channel_on(every))
        for level, mechanism in laws
    ]
    worsts = worst_ratios(every, bundle.table, losses, progress)
    pure = pure_ldp_levels([of_one.channel for of_one in losses])
    certificates: Certificates = {level.name: {} for level in bundle.levels}
    for (level, mechanism), of_one, worst, found in zip(laws, losses, worsts, pure, strict=True):
        attained = _attained(bundle, worst.over_all, *of_one.loss(worst.over_all.first, worst.over_all.second))
        parameters = level.parameters[mechanism]
        certificates[level.name][mechanism] = _certificate(bundle, parameters, worst, attained, found)
    return certificates


def false_labels(bundle: TextBundle, certificates: Certificates) -> list[str]:
    """Returns what the bundle calls certified and is not: labels below what was proven now, one line for each."""
    found = []
    for level in bundle.levels:
        for mechanism in level.parameters:
            said, proven = bundle.certified_epsilon(level, mechanism), certificates[level.name][mechanism]
            if said is not None and said < proven.epsilon_certified:
                found.append(
                    f"false label: level {level.name}, {mechanism} says {said:g}; proven is "
                    f"{proven.epsilon_certified:g}"
                )
    return found


def _check_rows(table: Table, every: AllScores, progress: Progress) -> None:
    """Refuses a table that does not store the nearest outputs of every input at their right scores.

    A draw proposes from the table and thins by the metric: only then is its output
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
        input=names[worst.first],
        other_input=names[worst.second],
        output=names[output],
        distance=round(worst.distance, 6),
        epsilon=round_down(loss / worst.distance - 1e-9),
    )


def _certificate(
    bundle: TextBundle, parameters: LevelParameters, worst: Worsts, attained: Attained, pure: tuple[float, int]
) -> LevelCertificate:
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
