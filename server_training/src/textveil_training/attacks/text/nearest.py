"""The nearest-neighbor attack: guess the symbol nearest to the output. It needs the embedding rows alone.

The guess for an output y is the symbol nearest to it, y itself; the list of ten is y and the nine symbols nearest to
it. Yue et al. 2021 and Feyisetan et al. 2020 count how often a word stays; Song and Raghunathan 2020 search neighbors.
``<unk>`` is not a symbol: a word outside the vocabulary is never guessed.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from textveil.mechanisms import Metric

from textveil_training.attacks.rates import rates_of
from textveil_training.attacks.text.released import Released
from textveil_training.token_randomizer import Ids

#: Length of the longer list of guesses.
LISTED = 10


def ranks(metric: Metric, inputs: Ids, outputs: Ids, report: Callable[[int, int], None]) -> Ids:
    """Counts the symbols that are nearer to each output than its input is; of equally near ones, smaller ids count.

    Args:
        metric: Distances of the bundle.
        inputs: Input ids, shape ``(n,)``.
        outputs: Output ids, shape ``(n,)``.
        report: Called with outputs done and outputs in all.

    Returns:
        Ranks from 0, shape ``(n,)``; the number of symbols for ``<unk>``.
    """
    symbols = len(metric.rows) - 1
    unique, row_of = np.unique(outputs, return_inverse=True)
    found = np.full(len(inputs), symbols)
    order = np.argsort(row_of, kind="stable")
    bounds = np.searchsorted(row_of[order], np.arange(len(unique) + 1))
    done = 0
    for part, squared in metric.squared_to_all(unique):
        squared = squared[:, :-1]
        for row in range(len(part)):
            tokens = order[bounds[done + row] : bounds[done + row + 1]]
            known, back = np.unique(inputs[tokens], return_inverse=True)
            nearer = [_rank(squared[row], x) if x < symbols else symbols for x in known.tolist()]
            found[tokens] = np.array(nearer)[back]
        done += len(part)
        report(done, len(unique))
    return found


def _rank(distances: Ids, x: int) -> int:
    own = distances[x]
    return int(np.count_nonzero(distances < own) + np.count_nonzero(distances[:x] == own))


def nearest(metric: Metric, released: Released, report: Callable[[int, int], None]) -> dict[str, Any]:
    """Measures how often the input is the output's nearest symbol, and among its ten nearest, over all tokens."""
    rank = ranks(metric, released.inputs, released.outputs, report)
    return rates_of({"top1": rank < 1, "top10": rank < LISTED}, released.example, released.sensitive)
