"""What the finished integers do to words, level by level: the numbers by which a level is chosen.

For every law, over the words it protects: how often a word stays what it is, ``N_x = Pr[M(x) = x]``; on how many words
its replacements spread, ``S_x``, the smallest number that holds .95 of the mass; and from how many inputs an output may
well have come, ``S*_y`` (Feyisetan, Balle, Diethe, Drake 2020; Yue et al. 2021). Everything but the simulation
of repeated releases is computed from the integers that ship; docs/levels.md says what the numbers mean.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from textveil.bundle import Bundle
from textveil.metric import Floats
from textveil.sampling import Integers

from textveil_export.leakage import bayes
from textveil_export.leakage.channel import Channel, Ids, channels, each
from textveil_export.progress import Progress, no_progress

#: ``S_x`` leaves out at most one part in this many of the mass.
_LEFT_OUT = 20
#: ``S*_y`` counts inputs that give ``y`` at least this share of the largest probability that any input gives it.
LIKELY_SHARE = 0.01
#: Words that stay unchanged less often than this are counted: under the law they have nearly died out.
RARELY_UNCHANGED = 0.01
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
_BINS = 50


@dataclass(frozen=True)
class Spread:
    """How the rows of one law spread.

    Attributes:
        totals: ``Z(x)`` of every input, exact, shape ``(inputs,)``.
        unchanged: ``N_x`` of every word that is also an output, shape ``(words,)``.
        likely_outputs: ``S_x``, same shape; exact.
        likeliest: ``max_y Pr[M(x) = y]``, same shape.
        likely_inputs: ``S*_y`` of every output; the words again.
    """

    totals: Integers
    unchanged: Floats
    likely_outputs: Integers
    likeliest: Floats
    likely_inputs: Integers


def measure(
    bundle: Bundle, progress: Progress = no_progress, *, trials: int = bayes.TRIALS, seed: int = bayes.SEED
) -> dict[str, Any]:
    """The statistics of every law of a bundle, as ``statistics.json`` holds them beside format and identity.

    Args:
        bundle: The bundle.
        progress: Called as stages advance.
        trials: Words drawn in the simulation of repeated releases.
        seed: Of that simulation.

    Raises:
        ExportError: There is no space for the scores of all pairs.
    """
    levels: dict[str, Any] = {level.name: {mechanism: {} for mechanism, _ in level.laws} for level in bundle.levels}
    mechanisms: dict[str, Any] = {}
    for tail in bundle.tails:
        laws = channels(bundle, tail, progress)
        found = spreads(laws, progress)
        totals = [spread.totals for spread in found]
        rates = bayes.recovery_rates(bundle, laws, totals, trials=trials, seed=seed, progress=progress)
        for law, spread, rate in zip(laws, found, rates, strict=True):
            levels[law.level][law.mechanism][tail] = {**_summary(spread), **rate}
            mechanisms[law.mechanism] = {
                "words": len(law.outputs),
                "candidates": int(law.candidates.sum()),
                "recovery_without_release": round(float(bayes.priors(law).max()), 6),
            }
    constants = {
        "likely_mass": 1 - 1 / _LEFT_OUT,
        "likely_share": LIKELY_SHARE,
        "rarely_unchanged": RARELY_UNCHANGED,
        "prior": bayes.PRIOR,
        "replacement_probability": bundle.default_replacement_probability,
        "simulated_words": trials,
        "seed": seed,
        "generator": f"numpy {type(np.random.default_rng().bit_generator).__name__}",
        "interval": 0.95,
    }
    return {"constants": constants, "mechanisms": mechanisms, "levels": levels}


def spreads(laws: Sequence[Channel], progress: Progress = no_progress) -> list[Spread]:
    """How the rows and columns of the laws of one tail spread."""
    tail, scores = laws[0].tail, laws[0].scores
    symbols = len(laws[0].base)

    def rows(inputs: Ids) -> list[tuple[NDArray[Any], ...]]:
        of_inputs = scores.from_inputs(inputs)
        return [_rows(law, inputs, law.weights(of_inputs)) for law in laws]

    by_block = each(f"{tail} tails: summing rows", np.arange(symbols + 1), rows, progress)
    by_law = [[np.concatenate(parts) for parts in zip(*blocks, strict=True)] for blocks in zip(*by_block, strict=True)]
    inverse = [np.where(law.candidates, 1 / found[0], 0) for law, found in zip(laws, by_law, strict=True)]

    def columns(outputs: Ids) -> list[Integers]:
        to_outputs = scores.to_outputs(outputs)
        counts: list[Integers] = []
        for law, factor in zip(laws, inverse, strict=True):
            probabilities = np.take(law.real_weights, to_outputs)
            probabilities *= factor
            counts.append(_likely_inputs(probabilities)[law.base[outputs] > 0])
        return counts

    by_block = each(f"{tail} tails: comparing inputs", np.arange(symbols), columns, progress)
    likely_inputs = [np.concatenate(blocks) for blocks in zip(*by_block, strict=True)]
    return [
        Spread(found[0], found[1], found[2], found[3], inputs)
        for found, inputs in zip(by_law, likely_inputs, strict=True)
    ]


def _rows(law: Channel, inputs: Ids, weights: Integers) -> tuple[NDArray[Any], ...]:
    """``Z`` of some inputs, and ``N``, ``S`` and the largest probability of those that are outputs too.

    Uses up the weights: passes over new memory would take longer than the sums.
    """
    totals = weights.sum(axis=1)
    word = np.append(law.base > 0, False)[inputs]
    own = weights[word, inputs[word]]
    weights.sort(axis=1)
    largest = weights[word, -1]
    # Exact: as many of the smallest weights as fit into a twentieth of the total are left out, zeros first.
    left_out = np.cumsum(weights, axis=1, out=weights) <= (totals // _LEFT_OUT)[:, None]
    likely = weights.shape[1] - np.count_nonzero(left_out, axis=1)
    return totals, own / totals[word], likely[word], largest / totals[word]


def _likely_inputs(probabilities: Floats) -> Integers:
    """``S*`` of outputs from ``Pr[M(x) = y] / q(y)`` of all inputs, 0 for those that do not count; rows are outputs."""
    floor = LIKELY_SHARE * probabilities.max(axis=1, keepdims=True)
    return np.count_nonzero(probabilities >= floor, axis=1)


def _summary(spread: Spread) -> dict[str, Any]:
    words, inputs = len(spread.unchanged), len(spread.totals)
    entropies = np.linspace(0, math.ceil(100 * math.log(inputs)) / 100, _BINS + 1)
    return {
        "unchanged": distribution(spread.unchanged, np.linspace(0, 1, _BINS + 1)),
        "rarely_unchanged": _rounded(np.mean(spread.unchanged < RARELY_UNCHANGED)),
        "likely_outputs": distribution(spread.likely_outputs, _edges(np.linspace(1, words + 1, 2 * _BINS + 1))),
        "likely_inputs": distribution(spread.likely_inputs, _edges(np.geomspace(1, inputs + 1, _BINS + 1))),
        "min_entropy": distribution(-np.log(spread.likeliest), entropies),
        "hartley_entropy": distribution(np.log(spread.likely_outputs), entropies),
    }


def distribution(values: NDArray[Any], edges: NDArray[Any]) -> dict[str, Any]:
    """Mean, quantiles and histogram of some values, for JSON. Quantiles are values that occur.

    Args:
        values: Shape ``(n,)``, within the edges.
        edges: Ascending; a bin holds its lower edge, the last one both.
    """
    edges = np.array([_rounded(edge) for edge in edges])
    counts, _ = np.histogram(np.clip(values, edges[0], edges[-1]), edges)
    quantiles = np.quantile(values, QUANTILES, method="inverted_cdf")
    return {
        "mean": _rounded(values.mean()),
        "quantiles": {
            "min": _rounded(values.min()),
            **{str(q): _rounded(value) for q, value in zip(QUANTILES, quantiles, strict=True)},
            "max": _rounded(values.max()),
        },
        "histogram": {"edges": [_rounded(edge) for edge in edges], "counts": counts.tolist()},
    }


def _edges(wanted: Floats) -> NDArray[Any]:
    """Edges of bins of whole numbers, as near as they can be to those wanted."""
    return np.unique(np.rint(wanted))


def _rounded(value: Any) -> float | int:
    """Six significant digits; a whole number as one."""
    number = float(f"{float(value):.6g}")
    return int(number) if number.is_integer() else number
