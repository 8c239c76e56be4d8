"""The effects of the finished integers on words, level by level: the numbers by which a level is chosen.

How far words spread (``spread``) and how often they are guessed (``bayes``), for every mechanism of a bundle. All but
the simulation of repeated releases is computed from the integers that ship; docs/levels.md says what the numbers mean.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from textveil.bundle import TextBundle
from textveil.mechanisms import Floats

from textveil_export.leakage.bayes import TRIALS, among, recovery_rates, zipf
from textveil_export.leakage.channels import candidates, channels
from textveil_export.leakage.spread import LEFT_OUT, LIKELY_SHARE, Spread, measure_spread
from textveil_export.progress import Progress, no_progress, part_of

SEED = 20_877
#: Words that stay unchanged less often than this are counted: under the mechanism they have nearly died out.
RARELY_UNCHANGED = 0.01
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
PRIOR = (
    "pi(x) proportional to 1 / (rank + 2.7): rank 1 is the first line of vocabulary.tsv, <unk> has the last rank; "
    "restricted to the candidates of the mechanism; with kept words, over all inputs"
)
_BINS = 50
#: Beside the seed: that of the figures that ship.
_STREAM = 1


def measure(
    bundle: TextBundle, progress: Progress = no_progress, *, trials: int = TRIALS, seed: int = SEED
) -> dict[str, Any]:
    """Measures the statistics of a bundle, as ``statistics.json`` holds them beside format and identity.

    Args:
        bundle: The bundle.
        progress: Called as stages advance.
        trials: Words drawn in the simulation of repeated releases.
        seed: Seed of that simulation.

    Raises:
        ExportError: There is no space for the scores of all pairs.
    """
    levels: dict[str, dict[str, Any]] = {level.name: {} for level in bundle.levels}
    mechanisms: dict[str, Any] = {}
    found = channels(bundle, progress)
    for number, ((level, mechanism), channel) in enumerate(found.items()):
        told = part_of(progress, number, len(found))
        inputs = candidates(channel)
        rates = recovery_rates(channel, inputs, trials=trials, stream=(seed, _STREAM, number), progress=told)
        levels[level][mechanism] = {**_summary(measure_spread(channel, inputs, told), channel.inputs), **rates}
        mechanisms[mechanism] = {
            "words": len(channel.outputs),
            "candidates": int(inputs.sum()),
            "recovery_without_release": round(float(among(zipf(channel.inputs), inputs).max()), 6),
        }
    constants = {
        "likely_mass": 1 - 1 / LEFT_OUT,
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


def _summary(spread: Spread, inputs: int) -> dict[str, Any]:
    words = len(spread.unchanged)
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
    """Returns mean, quantiles and histogram of some values, for JSON. Quantiles are values that occur.

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
    """Returns edges of bins of whole numbers, as near as they can be to those wanted."""
    return np.unique(np.rint(wanted))


def _rounded(value: Any) -> float | int:
    """Returns six significant digits; a whole number as one."""
    number = float(f"{float(value):.6g}")
    return int(number) if number.is_integer() else number
