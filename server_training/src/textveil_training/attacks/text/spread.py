"""How the law spreads words: the statistics of a mechanism that stand beside every attack.

Over all words that come out of draws, each counting once (Feyisetan, Balle, Diethe, Drake 2020; Yue et al. 2021,
section 5.2): ``N_x = Pr[M(x) = x]``; ``S_x``, the smallest number of outputs that hold .95 of the mass of x; and for
every such word as output ``S*_y``, the number of inputs that are never kept and make y at least .01 times as likely
as the likeliest of them does. Of words that are replaced: the coin of common words is left out. ``fbdd`` has no
weights; there ``N_x`` and ``S_x`` are found from 1,000 draws of each of some words, as Feyisetan et al. do, and
``S*_y`` is not.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from textveil import entropy
from textveil.fbdd import FbddLaw

from textveil_training.attacks.text.rates import rounded
from textveil_training.text_channel import TextChannel

#: ``S_x`` leaves out at most this share of the mass.
LEFT_OUT = 0.05
#: ``S*_y`` counts inputs with at least this share of the largest likelihood.
LIKELY_SHARE = 0.01
#: Words and draws of each, where there are no weights.
WORDS, DRAWS = 200, 1000


def statistics(channel: TextChannel, *, seed: int, report: Callable[[int, int], None]) -> dict[str, Any]:
    """Medians of ``N_x``, ``S_x`` and ``S*_y``: values that occur.

    Args:
        channel: The law.
        seed: Of the choice of words where there are no weights.
        report: Called with words done and words in all.

    Returns:
        ``unchanged_median``, ``outputs_median`` and ``inputs_median`` (None where it is not known), ``words``, and
        ``draws`` where words were drawn.
    """
    if isinstance(channel.plan.law, FbddLaw):
        return _drawn(channel.plan.law, seed, report)
    columns, words = channel.columns, channel.columns.outputs
    unchanged, spread = np.empty(len(words)), np.empty(len(words), np.int64)
    done = 0
    for part, weights in columns.rows(words):
        here = slice(done, done + len(part))
        unchanged[here] = weights[np.arange(len(part)), part] / columns.totals[part]
        spread[here] = _smallest_sets(weights)
        done += len(part)
        report(done, 2 * len(words))
    factors = np.where(channel.plan.keepable, 0, 1 / columns.totals)
    sources = np.empty(len(words), np.int64)
    done = 0
    for part, weights in columns.blocks(words):
        weights *= factors
        floor = LIKELY_SHARE * weights.max(axis=1, keepdims=True)
        sources[done : done + len(part)] = np.count_nonzero(weights >= floor, axis=1)
        done += len(part)
        report(len(words) + done, 2 * len(words))
    return {
        "words": len(words),
        "unchanged_median": rounded(_median(unchanged)),
        "outputs_median": int(_median(spread)),
        "inputs_median": int(_median(sources)),
    }


def _smallest_sets(weights: NDArray[np.float64]) -> NDArray[np.int64]:
    """How many of the largest weights of each row hold all but ``LEFT_OUT`` of its sum. Uses up the weights."""
    weights.sort(axis=1)
    np.cumsum(weights, axis=1, out=weights)
    return weights.shape[1] - np.count_nonzero(weights <= LEFT_OUT * weights[:, -1:], axis=1)


def _drawn(law: FbddLaw, seed: int, report: Callable[[int, int], None]) -> dict[str, Any]:
    words = law.outputs.ids
    words = np.random.default_rng(seed).choice(words, min(WORDS, len(words)), replace=False)
    counts = np.zeros((len(words), len(law.metric.rows) - 1))
    for row, word in enumerate(words):
        drawn = law.draw(np.full(DRAWS, word), entropy.random_words)
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


def _median(values: NDArray[Any]) -> float:
    return float(np.quantile(values, 0.5, method="inverted_cdf"))
