"""Compute success rates of attacks on tokens, with standard errors and confidence intervals.

Different examples (texts, or pairs of texts) count as independent, but the tokens of one example do not: for standard
errors, the tokens of one example form a cluster.
"""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Half the width of a 95 % interval, in standard errors.
STANDARD_ERRORS = 1.959964
#: Standard errors below this value are rounding errors, and count as 0.
NO_ERROR = 1e-12


def compute_clustered_mean(values: NDArray[Any], clusters: NDArray[np.int64]) -> tuple[float, float | None]:
    """Compute the mean of clustered values, and its standard error.

    Let ``S_g`` be the sum of the values of cluster ``g`` and ``n_g`` their number. There are ``G`` clusters and ``N``
    values with the mean ``m``. The standard error is ``sqrt(G / (G - 1) sum_g (S_g - m n_g)^2) / N``, that of the ratio
    estimator (Cochran 1977, section 6.3).

    Args:
        values: Values, shape ``(n,)``, not empty.
        clusters: Cluster of each value, shape ``(n,)``.

    Returns:
        The mean, and its standard error; the error is ``None`` with a single cluster.
    """
    found = float(values.mean())
    _, cluster = np.unique(clusters, return_inverse=True)
    deviations = np.bincount(cluster, values - found)
    count = len(deviations)
    if count < 2:
        return found, None
    return found, math.sqrt(count / (count - 1) * float((deviations**2).sum())) / len(values)


def compute_clustered_interval(hits: NDArray[np.bool_], clusters: NDArray[np.int64]) -> list[float]:
    """Compute a 95 % confidence interval of a rate for clustered trials.

    The interval is Wilson's for the effective sample size, which is the number of independent trials that would have
    the standard error of ``compute_clustered_mean``. This number is ``p (1 - p) / se^2`` (Kish 1965), where ``p`` is
    the rate and ``se`` the standard error, but at most the number of values. If all clusters have the same rate, ``se``
    is 0, and each cluster counts as one trial. Usually no trial, or every trial, is then a hit.

    Args:
        hits: Whether each trial is a hit, shape ``(n,)``, not empty.
        clusters: Cluster of each trial, shape ``(n,)``.

    Returns:
        Lower and upper end; [0, 1] with a single cluster.
    """
    rate, error = compute_clustered_mean(hits, clusters)
    if error is None:
        return [0.0, 1.0]
    trials = len(np.unique(clusters)) if error < NO_ERROR else min(len(hits), rate * (1 - rate) / error**2)
    return compute_wilson_interval(rate * trials, trials)


def compute_wilson_interval(hits: float, trials: float) -> list[float]:
    """Compute a 95 % confidence interval of a rate from independent trials (Wilson 1927).

    Args:
        hits: Number of successful trials.
        trials: Number of trials.
    """
    z = STANDARD_ERRORS
    rate, spread = hits / trials, z * z / trials
    middle = rate + spread / 2
    margin = math.sqrt(spread * (rate * (1 - rate) + spread / 4))
    return [round_rate((middle - margin) / (1 + spread)), round_rate((middle + margin) / (1 + spread))]


def compute_rates(
    values: Mapping[str, NDArray[Any]],
    clusters: NDArray[np.int64],
    sensitive: NDArray[np.bool_] | None = None,
    of_sensitive: Mapping[str, NDArray[Any]] | None = None,
) -> dict[str, Any]:
    """Compute means and standard errors of values that each belong to a token, such as whether an attack guessed it.

    Args:
        values: Arrays by name, with one value for every token, shape ``(n,)`` each. The first is the main result.
        clusters: Index of the example (text, or pair of texts) that contains each token, shape ``(n,)``.
        sensitive: True for tokens that the mechanism always randomizes; SanText+ leaves other tokens unchanged with
            some probability. The result contains separate rates for sensitive tokens, unless none or all of the tokens
            are sensitive.
        of_sensitive: Further arrays like ``values``, for which the result contains only the rates of the sensitive
            tokens.

    Returns:
        A dictionary for the JSON record of a run: ``tokens`` (the number of tokens), every mean under its name,
        ``standard_error`` of the first mean, ``standard_errors`` by name, and ``sensitive``, a dictionary of the same
        form for the sensitive tokens.
    """
    found = {name: compute_clustered_mean(of_tokens, clusters) for name, of_tokens in values.items()}
    errors = {name: None if error is None else round_rate(error) for name, (_, error) in found.items()}
    result: dict[str, Any] = {"tokens": len(clusters)}
    result |= {name: round_rate(rate) for name, (rate, _) in found.items()}
    result |= {"standard_error": next(iter(errors.values())), "standard_errors": errors}
    if sensitive is not None and sensitive.any() and not sensitive.all():
        both = {**values, **(of_sensitive or {})}
        result["sensitive"] = compute_rates({name: v[sensitive] for name, v in both.items()}, clusters[sensitive])
    return result


def round_rate(value: float) -> float:
    """Round a rate to six decimals, the precision of the JSON record of a run."""
    return round(float(value), 6)
