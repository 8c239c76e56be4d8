"""How far a mechanism spreads words: the statistics that stand beside every attack.

They are taken over all words that a draw can give, each counting once (Feyisetan, Balle, Diethe, Drake 2020; Yue et al.
2021, section 5.2): ``N_x = Pr[M(x) = x]``; ``S_x``, the smallest number of outputs that hold .95 of the mass of x; and
``S*_y``, the number of inputs that are never kept and make y at least .01 times as likely as the likeliest of them
does. The coin of common words is left out. ``fbdd`` has no integer weights, and so no such statistics.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from textveil_export.leakage import measure_spread

from textveil_training.attacks.rates import rounded
from textveil_training.text_channel import TextChannel


def statistics(channel: TextChannel, report: Callable[[int, int], None]) -> dict[str, Any]:
    """Computes the medians of ``N_x``, ``S_x`` and ``S*_y``; a median is a value that occurs.

    Args:
        channel: The mechanism, one with weights.
        report: Called with words done and words in all.

    Returns:
        ``unchanged_median`` (N), ``outputs_median`` (S), ``inputs_median`` (S*) and ``words``.
    """

    def step(stage: str, done: int, total: int) -> None:
        report(done, total)

    found = measure_spread(channel.distribution(whole=False), ~channel.keepable, step)
    return {
        "words": len(found.unchanged),
        "unchanged_median": rounded(_median(found.unchanged)),
        "outputs_median": int(_median(found.likely_outputs)),
        "inputs_median": int(_median(found.likely_inputs)),
    }


def _median(values: NDArray[Any]) -> float:
    return float(np.quantile(values, 0.5, method="inverted_cdf"))
