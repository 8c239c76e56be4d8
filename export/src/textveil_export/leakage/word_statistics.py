"""Measure the effect of each level (epsilon) of SanText on words, from the integers of a finished bundle.

The figures help users choose a level. There are three for each word that can be randomized (Feyisetan, Balle, Diethe,
Drake 2020; Yue et al. 2021, section 5.2):

* ``N_x = Pr[M(x) = x]``: probability that the word stays unchanged;
* ``S_x``: smallest number of outputs with a total probability of .95;
* ``S*_y``: number of inputs that give the output ``y`` at least .01 times the largest probability that any input gives
  it.

Words that SanText+ leaves unchanged are excluded. The module ``bayes`` measures recovery by an attacker. All figures
except the simulation of repeated outputs are exact; docs/levels.md explains them.
"""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from textveil.bundle import TextBundle
from textveil.mechanisms import Floats, Integers, Randomizer, ReplacementCoin, ScoreRandomizer
from textveil.mechanisms.baselines import KEPT_ROLE, SanText

from textveil_export.certify.pair_scores import PairScores
from textveil_export.leakage.bayes import TRIALS, make_zipf_prior, measure_recovery, restrict_prior
from textveil_export.parallel import Ids, map_blocks
from textveil_export.progress import Progress, ignore_progress, report_part


def load_randomizers(
    bundle: TextBundle, progress: Progress = ignore_progress
) -> dict[tuple[str, str], ScoreRandomizer]:
    """Return the output distributions of SanText (random replacement of words), by level name and mechanism.

    A level is one epsilon. The distributions share the scores (integer distances) of all pairs of words. The
    distributions of ``santext+`` include the bundle's default probability to leave a word unchanged.

    Args:
        bundle: The bundle.
        progress: Called while the scores are computed.

    Raises:
        ExportError: The disk is too small for the scores of all pairs.
        UnknownMechanism: The bundle has no SanText.
    """
    table, metric = bundle.table, bundle.metric
    scores = PairScores.compute(metric, progress)
    keepable = np.append((table.roles & KEPT_ROLE) != 0, False)
    kept_weight = 2**64 - ReplacementCoin.from_probability(bundle.default_replacement_probability).threshold
    randomizers: dict[tuple[str, str], ScoreRandomizer] = {}
    for level in bundle.santext_levels:
        for mechanism, parameters in level.parameters.items():
            randomizer = SanText.from_table(table, metric, mechanism, parameters).make_randomizer(scores)
            if mechanism == "santext+":
                randomizer = replace(randomizer, is_keepable=keepable, keep_threshold=kept_weight)
            randomizers[level.name, mechanism] = randomizer
    return randomizers


def find_candidates(randomizer: Randomizer) -> NDArray[np.bool_]:
    """Return a boolean for each input word: whether the word can be the original of a randomized word.

    With the mechanism ``santext`` the result is true for all words. ``santext+`` leaves some words unchanged instead.
    The result is then true only for the words that can be outputs, and for the last input ``<unk>`` (all unknown
    words).
    """
    keeps = isinstance(randomizer, ScoreRandomizer) and randomizer.is_keepable is not None
    return np.append((randomizer.base > 0) | (not keeps), True)


#: ``S_x`` ignores outputs with a total probability of at most one divided by this number.
EXCLUDED_DIVISOR = 20
#: ``S*_y`` counts inputs that give ``y`` at least this share of its largest probability under any input.
LIKELY_SHARE = 0.01
_PARTS = 1 << 40
_BLOCK = 8  # small, so that a block stays in the cache of a core


@dataclass(frozen=True, kw_only=True)
class WordSpread:
    """Measure of how much a mechanism randomizes: numbers of likely outputs and likely originals of each word.

    Attributes:
        unchanged: For each word that can be randomized, the probability that it stays unchanged (``N_x``), shape
            ``(words,)``.
        likely_outputs: Smallest number of outputs of each word with a total probability of .95 (``S_x``), same shape.
        likeliest: Largest probability of any output of the word, same shape.
        likely_inputs: Number of inputs that are likely if the word is the output (``S*_y``), same shape.
    """

    unchanged: Floats
    likely_outputs: Integers
    likeliest: Floats
    likely_inputs: Integers


def measure_spread(
    randomizer: Randomizer, counted_inputs: NDArray[np.bool_] | None = None, progress: Progress = ignore_progress
) -> WordSpread:
    """Compute how many outputs are likely for each word, and how many originals are likely for each output.

    Args:
        randomizer: Probability of each output word for each input word.
        counted_inputs: Inputs that ``likely_inputs`` counts, booleans of shape ``(inputs,)``; ``None`` for
            ``find_candidates(randomizer)``.
        progress: Called with the number of processed words.
    """
    counted = find_candidates(randomizer) if counted_inputs is None else counted_inputs
    inverse = np.where(counted, 1 / randomizer.totals, 0) if isinstance(randomizer, ScoreRandomizer) else np.empty(0)
    rows = map_blocks(
        "summing rows", randomizer.output_ids, lambda words: _measure_rows(randomizer, words), progress, _BLOCK
    )
    unchanged, likely_outputs, likeliest = (np.concatenate(parts) for parts in zip(*rows, strict=True))

    def compute_likely_inputs(outputs: Ids) -> Integers:
        """Return, for each output of a block, how many words are likely to be its original."""
        if isinstance(randomizer, ScoreRandomizer):  # of randomized words: kept words do not count
            probabilities = randomizer.compute_output_weights(outputs).astype(np.float64) * inverse
        else:
            probabilities = randomizer.compute_columns(outputs) * counted
        return _count_likely_inputs(probabilities)

    likely_inputs = map_blocks("comparing inputs", randomizer.output_ids, compute_likely_inputs, progress, _BLOCK)
    return WordSpread(
        unchanged=unchanged,
        likely_outputs=likely_outputs,
        likeliest=likeliest,
        likely_inputs=np.concatenate(likely_inputs),
    )


def _measure_rows(randomizer: Randomizer, words: Ids) -> tuple[Floats, Integers, Floats]:
    """Measure how much the mechanism randomizes each word; return three arrays of shape ``(n,)``.

    They are the probability that the output is the word itself, the smallest number of outputs with a total probability
    of .95, and the probability of the likeliest output.
    """
    if isinstance(randomizer, ScoreRandomizer):
        weights, totals = randomizer.compute_input_weights(words), randomizer.totals[words]
    else:  # probabilities in units of 2**-40: an error of 20,000 units is far below one twentieth
        weights, totals = np.rint(randomizer.compute_rows(words) * _PARTS).astype(np.int64), np.full(len(words), _PARTS)
    own = weights[np.arange(len(words)), words]
    weights.sort(axis=1)  # in place: allocating memory would take longer than the sums
    largest = weights[:, -1].copy()
    # Exact: exclude the smallest weights, zeros first, while their sum is at most a twentieth of the total.
    left_out = np.cumsum(weights, axis=1, out=weights) <= (totals // EXCLUDED_DIVISOR)[:, None]
    likely = weights.shape[1] - np.count_nonzero(left_out, axis=1)
    return own / totals, likely, largest / totals


def _count_likely_inputs(probabilities: Floats) -> Integers:
    """Count how many words are likely to be the original of each output, from the probabilities of all words.

    Args:
        probabilities: Probability of each output for each input, shape ``(outputs, inputs)``; 0 for inputs that do not
            count.
    """
    floor = LIKELY_SHARE * probabilities.max(axis=1, keepdims=True)
    return np.count_nonzero(probabilities >= floor, axis=1)


SEED = 20_877
#: The statistics count words that stay unchanged with a smaller probability: the mechanism nearly removes them.
RARELY_UNCHANGED = 0.01
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
PRIOR = (
    "pi(x) proportional to 1 / (rank + 2.7): rank 1 is the first line of vocabulary.tsv, <unk> has the last rank; "
    "restricted to the candidates of the mechanism; with kept words, over all inputs"
)
_BINS = 50
#: Second part of the seed, used only for the figures in ``statistics.json``.
_STREAM = 1


def measure_statistics(
    bundle: TextBundle, progress: Progress = ignore_progress, *, trials: int = TRIALS, seed: int = SEED
) -> dict[str, Any]:
    """Measure the effect of each epsilon of a bundle (data folder) on words, in the format of ``statistics.json``.

    Args:
        bundle: The bundle.
        progress: Callback that takes the name of a stage, the number of its finished steps, and their total number.
        trials: Number of sampled words in the simulation of repeated outputs.
        seed: Seed of that simulation.

    Returns:
        The content of ``statistics.json`` without its format and content hash.

    Raises:
        ExportError: The disk is too small for the scores of all pairs.
    """
    levels: dict[str, dict[str, Any]] = {level.name: {} for level in bundle.santext_levels}
    mechanisms: dict[str, Any] = {}
    randomizers = load_randomizers(bundle, progress)
    for number, ((level, mechanism), randomizer) in enumerate(randomizers.items()):
        partial_progress = report_part(progress, number, len(randomizers))
        inputs = find_candidates(randomizer)
        rates = measure_recovery(
            randomizer, inputs, trials=trials, stream=(seed, _STREAM, number), progress=partial_progress
        )
        levels[level][mechanism] = {
            **_summarize_spread(measure_spread(randomizer, inputs, partial_progress), randomizer.input_count),
            **rates,
        }
        mechanisms[mechanism] = {
            "words": len(randomizer.output_ids),
            "candidates": int(inputs.sum()),
            "recovery_without_release": round(
                float(restrict_prior(make_zipf_prior(randomizer.input_count), inputs).max()), 6
            ),
        }
    constants = {
        "likely_mass": 1 - 1 / EXCLUDED_DIVISOR,
        "likely_share": LIKELY_SHARE,
        "rarely_unchanged": RARELY_UNCHANGED,
        "prior": PRIOR,
        "replacement_probability": bundle.default_replacement_probability,
        "simulated_words": trials,
        "seed": seed,
        "generator": f"numpy {type(np.random.default_rng().bit_generator).__name__}",
        "interval": 0.95,
    }
    return {"constants": constants, "mechanisms": mechanisms, "levels": levels}


def _summarize_spread(spread: WordSpread, inputs: int) -> dict[str, Any]:
    """Return mean, quantiles and histogram of each array of ``WordSpread``, and of two entropies per word.

    The entropies are ``min_entropy``, ``-ln likeliest``, and ``hartley_entropy``, ``ln likely_outputs``. The value of
    ``rarely_unchanged`` is the share of words that the mechanism rarely leaves unchanged.
    """
    words = len(spread.unchanged)
    entropies = np.linspace(0, math.ceil(100 * math.log(inputs)) / 100, _BINS + 1)
    return {
        "unchanged": summarize_values(spread.unchanged, np.linspace(0, 1, _BINS + 1)),
        "rarely_unchanged": _round_value(np.mean(spread.unchanged < RARELY_UNCHANGED)),
        "likely_outputs": summarize_values(
            spread.likely_outputs, _round_edges(np.linspace(1, words + 1, 2 * _BINS + 1))
        ),
        "likely_inputs": summarize_values(spread.likely_inputs, _round_edges(np.geomspace(1, inputs + 1, _BINS + 1))),
        "min_entropy": summarize_values(-np.log(spread.likeliest), entropies),
        "hartley_entropy": summarize_values(np.log(spread.likely_outputs), entropies),
    }


def summarize_values(values: NDArray[Any], edges: NDArray[Any]) -> dict[str, Any]:
    """Return the mean, the quantiles and a histogram of values for JSON.

    Quantiles are not interpolated: each of them is one of the values.

    Args:
        values: Values between the first and last edge, shape ``(n,)``.
        edges: Ascending edges of the histogram's bins. A bin includes its lower edge, the last bin both edges.

    Returns:
        ``mean``; ``quantiles``, from ``min`` to ``max``; and ``histogram``, with the ``edges`` and the ``counts``.
    """
    edges = np.array([_round_value(edge) for edge in edges])
    counts, _ = np.histogram(np.clip(values, edges[0], edges[-1]), edges)
    quantiles = np.quantile(values, QUANTILES, method="inverted_cdf")
    return {
        "mean": _round_value(values.mean()),
        "quantiles": {
            "min": _round_value(values.min()),
            **{str(q): _round_value(value) for q, value in zip(QUANTILES, quantiles, strict=True)},
            "max": _round_value(values.max()),
        },
        "histogram": {"edges": [_round_value(edge) for edge in edges], "counts": counts.tolist()},
    }


def _round_edges(edges: Floats) -> NDArray[Any]:
    """Round the edges of a histogram's intervals to integers, and remove duplicates."""
    return np.unique(np.rint(edges))


def _round_value(value: Any) -> float | int:
    """Round a number to six significant digits, and return an integer if the result is whole."""
    number = float(f"{float(value):.6g}")
    return int(number) if number.is_integer() else number
