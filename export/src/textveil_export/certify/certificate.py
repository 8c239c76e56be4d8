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

from textveil_export.certify.loss_bounds import LossBounds, compute_pure_ldp_epsilons
from textveil_export.certify.pair_scores import PairScores
from textveil_export.certify.pair_search import WorstPair, WorstPairs, find_worst_ratios
from textveil_export.errors import CertificationError
from textveil_export.progress import Progress, ignore_progress

#: Certificates by level name and mechanism.
Certificates = dict[str, dict[str, "LevelCertificate"]]


@dataclass(frozen=True, kw_only=True)
class AttainedPair:
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
    attained: AttainedPair
    epsilon_certified_sensitive: float
    epsilon_pure_ldp: float
    pure_ldp_output: str
    infinite_ratios: int
    pairs: int

    def to_dict(self) -> dict[str, Any]:
        """Returns plain values for JSON."""
        return asdict(self)


def certify_bundle(bundle: TextBundle, progress: Progress = ignore_progress) -> Certificates:
    """Certifies every mechanism of every level of a bundle.

    Args:
        bundle: A bundle with SanText.
        progress: Called with rows done.

    Raises:
        CertificationError: The bundle has no SanText, or would draw from rows that lack a near output.
    """
    if not bundle.levels:
        raise CertificationError("this bundle has no SanText: its staircase is certified whenever it is opened")
    pair_scores = PairScores.compute(bundle.metric, progress)
    _check_stored_neighbors(bundle.table, pair_scores, progress)
    laws = [(level, mechanism) for level in bundle.levels for mechanism in level.parameters]
    losses = [
        LossBounds(
            SanText.of(bundle.table, bundle.metric, mechanism, level.parameters[mechanism]).channel_on(pair_scores)
        )
        for level, mechanism in laws
    ]
    worsts = find_worst_ratios(pair_scores, bundle.table, losses, progress)
    pure_epsilons = compute_pure_ldp_epsilons([of_one.channel for of_one in losses])
    certificates: Certificates = {level.name: {} for level in bundle.levels}
    for (level, mechanism), of_one, worst, pure_epsilon in zip(laws, losses, worsts, pure_epsilons, strict=True):
        attained = _describe_attained_pair(
            bundle, worst.overall, *of_one.compute_loss(worst.overall.first, worst.overall.second)
        )
        parameters = level.parameters[mechanism]
        certificates[level.name][mechanism] = _make_level_certificate(bundle, parameters, worst, attained, pure_epsilon)
    return certificates


def find_false_labels(bundle: TextBundle, certificates: Certificates) -> list[str]:
    """Returns what the bundle calls certified and is not: labels below what was proven now, one line for each."""
    false = []
    for level in bundle.levels:
        for mechanism in level.parameters:
            label, proven = bundle.certified_epsilon(level, mechanism), certificates[level.name][mechanism]
            if label is not None and label < proven.epsilon_certified:
                false.append(
                    f"false label: level {level.name}, {mechanism} says {label:g}; proven is "
                    f"{proven.epsilon_certified:g}"
                )
    return false


def _check_stored_neighbors(table: Table, pair_scores: PairScores, progress: Progress) -> None:
    """Refuses a table that does not store the nearest outputs of every input at their right scores.

    A draw proposes from the table and thins by the metric: only then is its output
    distribution the one of the metric, which is certified.
    """
    candidates = np.flatnonzero(table.roles & SANTEXT_OUTPUT)

    def wrong(block: NDArray[np.intp]) -> NDArray[np.intp]:
        scores = pair_scores.scores[block]
        stored = np.take_along_axis(scores, table.neighbors[block].astype(np.intp), axis=1)
        nearer = (scores[:, candidates] < stored[:, -1:]).sum(axis=1)
        lacking = nearer != (stored < stored[:, -1:]).sum(axis=1)
        return block[lacking | (stored != table.scores[block]).any(axis=1)]

    rows = np.concatenate(pair_scores.map_blocks("checking neighbors", wrong, progress))
    if len(rows):
        raise CertificationError(f"row {rows[0]} does not store the nearest outputs at their distances")


def _describe_attained_pair(bundle: TextBundle, worst: WorstPair, loss: float, output: int) -> AttainedPair:
    names = [*bundle.vocabulary, UNKNOWN]
    return AttainedPair(
        input=names[worst.first],
        other_input=names[worst.second],
        output=names[output],
        distance=round(worst.distance, 6),
        epsilon=round_down(loss / worst.distance - 1e-9),
    )


def _make_level_certificate(
    bundle: TextBundle, parameters: LevelParameters, worst: WorstPairs, attained: AttainedPair, pure: tuple[float, int]
) -> LevelCertificate:
    inputs = bundle.symbols + 1
    return LevelCertificate(
        exponent=str(parameters.exponent),
        epsilon_textbook=float(2 * parameters.exponent),
        epsilon_certified=round_up(worst.overall.ratio),
        attained=attained,
        epsilon_certified_sensitive=round_up(worst.among_sensitive.ratio),
        epsilon_pure_ldp=round_up(pure[0]),
        pure_ldp_output=bundle.vocabulary[pure[1]],
        infinite_ratios=int((parameters.weights < 1).sum()),
        pairs=inputs * (inputs - 1),
    )
