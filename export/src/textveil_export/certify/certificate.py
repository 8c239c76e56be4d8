"""Certify the epsilons of SanText (random replacement of words): find the largest loss over all pairs of words.

    eps* = max over ordered pairs x != x' of loss(x, x') / d(x, x')

Here ``d`` is the distance of two words, and ``loss`` the largest log-ratio of the probabilities of an output for both.
This certified epsilon replaces the textbook bound ``2 alpha``, where ``alpha`` is the factor of the distance in the
mechanism. The certified epsilon is computed from the finished integers of a table, with distances rounded down and
log-ratios rounded up. The upper bound is tight: the largest loss found for a pair, printed beside the bound, is nearly
equal to it (docs/proofs/santext.md).
"""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from textveil.bundle import TextBundle
from textveil.mechanisms import UNKNOWN_SYMBOL
from textveil.mechanisms.baselines import SANTEXT_OUTPUT_ROLE, LevelParameters, SanText, SanTextTable
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
    """A pair of input words and an output word whose privacy loss is nearly the certified bound.

    Attributes:
        input: The word ``x``.
        other_input: The word ``x'``.
        output: The output at which the log-ratio of probabilities is largest.
        distance: Distance ``d(x, x')`` of the two input words.
        epsilon: Log-ratio at the output, divided by ``d``, rounded down.
    """

    input: str
    other_input: str
    output: str
    distance: float
    epsilon: float


@dataclass(frozen=True, kw_only=True)
class LevelCertificate:
    """Proven bounds of the privacy loss of one mechanism at one level (epsilon).

    Attributes:
        exponent: Factor ``alpha`` of the distance ``d``: ``Pr[y | x]`` is proportional to ``exp(-alpha d(x, y))``.
        epsilon_textbook: ``2 alpha``, the bound that holds for every metric ``d``.
        epsilon_certified: The largest privacy loss per unit of distance (``eps*``) over all ordered pairs of inputs,
            rounded up.
        attained: A pair and an output whose loss is nearly ``eps*``.
        epsilon_certified_sensitive: The bound ``eps*`` over sensitive inputs and ``<unk>`` (unknown words) only.
        epsilon_pure_ldp: Largest log-ratio over all pairs and outputs, whatever their distance, rounded up.
        pure_ldp_output: The output with this largest log-ratio.
        infinite_ratios: Number of scores (distances as integers) with the weight 0, at which an output would be
            impossible for some inputs only; must be 0.
        pairs: Number of ordered pairs.
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
        """Return the fields by name, as values that JSON can store."""
        return asdict(self)


def certify_bundle(bundle: TextBundle, progress: Progress = ignore_progress) -> Certificates:
    """Prove the epsilon of SanText and SanText+ (random replacement of words) at each level of a bundle.

    Args:
        bundle: A bundle (data folder) with SanText.
        progress: Called with the number of processed rows.

    Returns:
        A certificate (proven bounds) by level name and mechanism.

    Raises:
        CertificationError: The bundle has no SanText, or its table omits a nearest output of a word.
    """
    if not bundle.santext_levels:
        raise CertificationError(
            "this bundle has no SanText to certify; its staircase mechanism is checked whenever the bundle is opened"
        )
    pair_scores = PairScores.compute(bundle.metric, progress)
    _check_stored_neighbors(bundle.table, pair_scores, progress)
    laws = [(level, mechanism) for level in bundle.santext_levels for mechanism in level.parameters]
    losses = [
        LossBounds(
            SanText.from_table(bundle.table, bundle.metric, mechanism, level.parameters[mechanism]).make_randomizer(
                pair_scores
            )
        )
        for level, mechanism in laws
    ]
    worsts = find_worst_ratios(pair_scores, bundle.table, losses, progress)
    pure_epsilons = compute_pure_ldp_epsilons([of_one.randomizer for of_one in losses])
    certificates: Certificates = {level.name: {} for level in bundle.santext_levels}
    for (level, mechanism), of_one, worst, pure_epsilon in zip(laws, losses, worsts, pure_epsilons, strict=True):
        attained = _describe_attained_pair(
            bundle, worst.overall, *of_one.compute_loss(worst.overall.first, worst.overall.second)
        )
        parameters = level.parameters[mechanism]
        certificates[level.name][mechanism] = _make_level_certificate(bundle, parameters, worst, attained, pure_epsilon)
    return certificates


def find_false_labels(bundle: TextBundle, certificates: Certificates) -> list[str]:
    """Return a line of text for each level (epsilon) of a bundle whose stated epsilon is below the proven one.

    Args:
        bundle: A bundle (data folder) with SanText.
        certificates: Result of ``certify_bundle``.
    """
    false = []
    for level in bundle.santext_levels:
        for mechanism in level.parameters:
            label, proven = bundle.get_certified_epsilon(level, mechanism), certificates[level.name][mechanism]
            if label is not None and label < proven.epsilon_certified:
                false.append(
                    f"false label: level {level.name}, {mechanism}: labeled {label:g}, proven "
                    f"{proven.epsilon_certified:g}"
                )
    return false


def _check_stored_neighbors(table: SanTextTable, pair_scores: PairScores, progress: Progress) -> None:
    """Check that the table stores the nearest output words of each input word, with their correct scores.

    A score is a distance as an integer. The sampler proposes outputs from the table and accepts them with a probability
    that depends on their distance. The output distribution is the certified one only if the table is complete.

    Raises:
        CertificationError: The stored outputs of an input are incomplete, or have wrong scores.
    """
    candidates = np.flatnonzero(table.roles & SANTEXT_OUTPUT_ROLE)

    def find_wrong_inputs(block: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the inputs of a block whose stored nearest outputs are incomplete or have wrong scores (distances)."""
        scores = pair_scores.scores[block]
        stored = np.take_along_axis(scores, table.neighbors[block].astype(np.intp), axis=1)
        nearer = (scores[:, candidates] < stored[:, -1:]).sum(axis=1)
        lacking = nearer != (stored < stored[:, -1:]).sum(axis=1)
        return block[lacking | (stored != table.scores[block]).any(axis=1)]

    rows = np.concatenate(pair_scores.map_blocks("checking neighbors", find_wrong_inputs, progress))
    if len(rows):
        raise CertificationError(
            f"row {rows[0]} does not store the nearest outputs with their scores: build the table again"
        )


def _describe_attained_pair(bundle: TextBundle, worst: WorstPair, loss: float, output: int) -> AttainedPair:
    """Describe the pair of words with the largest privacy loss per distance, by words instead of ids.

    Args:
        bundle: The bundle.
        worst: Inputs of the pair, and their distance.
        loss: Log-ratio of the two probabilities of the output.
        output: Id of the output.
    """
    names = [*bundle.vocabulary, UNKNOWN_SYMBOL]
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
    """Return the certificate (proven bounds) of one level and mechanism.

    Args:
        bundle: The bundle.
        parameters: Integer weights of the level.
        worst: Pairs with the largest loss per unit of distance.
        attained: A pair and an output whose loss is nearly the bound.
        pure: Pure local DP epsilon, and the id of the output that attains it.
    """
    inputs = bundle.symbol_count + 1
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
