"""How far a mechanism spreads words: the statistics that stand beside every attack.

They are taken over all words that a draw can give, each counting once (Feyisetan, Balle, Diethe, Drake 2020; Yue et al.
2021, section 5.2): ``N_x = Pr[M(x) = x]``; ``S_x``, the smallest number of outputs that hold .95 of the mass of x; and
``S*_y``, the number of inputs that are never kept and make y at least .01 times as likely as the likeliest of them
does. The coin of common words is left out. ``fbdd`` has no integer weights: there ``N_x`` and ``S_x`` are estimated
from 1,000 draws of each of some words, as Feyisetan et al. do, and ``S*_y`` is not known.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from textveil.mechanisms.baselines import SANTEXT_OUTPUT
from textveil_export.leakage import LEFT_OUT, measure_spread

from textveil_training.attacks.rates import rounded
from textveil_training.text_channel import TextChannel

#: Words, and draws of each, where there are no weights.
WORDS, DRAWS = 200, 1000


def statistics(channel: TextChannel, *, seed: int, report: Callable[[int, int], None]) -> dict[str, Any]:
    """Computes the medians of ``N_x``, ``S_x`` and ``S*_y``; a median is a value that occurs.

    Args:
        channel: The mechanism.
        seed: Seed of the choice of words where there are no weights.
        report: Called with words done and words in all.

    Returns:
        ``unchanged_median`` (N), ``outputs_median`` (S), ``inputs_median`` (S*; None where it is not known),
        ``words``, and ``draws`` where words were drawn.
    """
    if not channel.weighted:
        return _estimated(channel, seed, report)

    def step(stage: str, done: int, total: int) -> None:
        report(done, total)

    found = measure_spread(channel.distribution(whole=False), ~channel.keepable, step)
    return {
        "words": len(found.unchanged),
        "unchanged_median": rounded(_median(found.unchanged)),
        "outputs_median": int(_median(found.likely_outputs)),
        "inputs_median": int(_median(found.likely_inputs)),
    }


def _estimated(channel: TextChannel, seed: int, report: Callable[[int, int], None]) -> dict[str, Any]:
    words = np.flatnonzero(channel.bundle.table.roles & SANTEXT_OUTPUT)
    words = np.random.default_rng(seed).choice(words, min(WORDS, len(words)), replace=False)
    counts = np.zeros((len(words), channel.unknown))
    for row, word in enumerate(words):
        drawn = channel.draw_ids(np.full(DRAWS, word), np.ones(DRAWS, bool))
        counts[row] = np.bincount(drawn, minlength=counts.shape[1])
        report(row + 1, len(words))
    unchanged = counts[np.arange(len(words)), words] / DRAWS
    return {
        "words": len(words),
        "draws": DRAWS,
        "unchanged_median": rounded(_median(unchanged)),
        "outputs_median": int(_median(_smallest_sets(counts))),
        "inputs_median": None,
    }


def _smallest_sets(counts: NDArray[np.float64]) -> NDArray[np.int64]:
    """Counts the outputs that hold all but one part in ``LEFT_OUT`` of each row; overwrites the counts."""
    counts.sort(axis=1)
    np.cumsum(counts, axis=1, out=counts)
    return counts.shape[1] - np.count_nonzero(LEFT_OUT * counts <= counts[:, -1:], axis=1)


def _median(values: NDArray[Any]) -> float:
    return float(np.quantile(values, 0.5, method="inverted_cdf"))
