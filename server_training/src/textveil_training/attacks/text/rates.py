"""Rates over tokens with their standard errors. Tokens of one text are not independent, texts are."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Of a 95 % interval, in standard errors.
STANDARD_ERRORS = 1.959964
#: A smaller standard error is rounding.
NO_ERROR = 1e-12


def mean(values: NDArray[Any], clusters: NDArray[np.int64]) -> tuple[float, float | None]:
    """The mean of some values and its standard error, by clusters.

    With ``S_g`` and ``n_g`` sum and number of values of cluster g, ``m`` the mean, ``N`` values and ``G`` clusters:
    ``sqrt(G / (G - 1) sum_g (S_g - m n_g)^2) / N``, the ratio estimator's (Cochran 1977, section 6.3).

    Args:
        values: Shape ``(n,)``, not empty.
        clusters: Which cluster each is of, shape ``(n,)``.

    Returns:
        The mean, and its standard error; None with a single cluster.
    """
    found = float(values.mean())
    _, cluster = np.unique(clusters, return_inverse=True)
    deviations = np.bincount(cluster, values - found)
    count = len(deviations)
    if count < 2:
        return found, None
    return found, math.sqrt(count / (count - 1) * float((deviations**2).sum())) / len(values)


def interval(hits: NDArray[np.bool_], clusters: NDArray[np.int64]) -> list[float]:
    """Both ends of a 95 % interval of a rate, by clusters.

    Wilson's, of as many independent trials as have the standard error of ``mean``: ``p (1 - p) / se^2`` (Kish 1965,
    the effective sample size), at most the values. Where every cluster has the same rate, and above all where nothing
    or everything was hit, the error says nothing: a cluster then counts as one trial.

    Args:
        hits: Shape ``(n,)``, not empty.
        clusters: Which cluster each is of, shape ``(n,)``.

    Returns:
        The ends; [0, 1] with a single cluster.
    """
    rate, error = mean(hits, clusters)
    if error is None:
        return [0.0, 1.0]
    trials = len(np.unique(clusters)) if error < NO_ERROR else min(len(hits), rate * (1 - rate) / error**2)
    return wilson(rate * trials, trials)


def wilson(hits: float, trials: float) -> list[float]:
    """Both ends of a 95 % interval of a rate from independent trials (Wilson 1927)."""
    z = STANDARD_ERRORS
    rate, spread = hits / trials, z * z / trials
    middle = rate + spread / 2
    margin = math.sqrt(spread * (rate * (1 - rate) + spread / 4))
    return [rounded((middle - margin) / (1 + spread)), rounded((middle + margin) / (1 + spread))]


def told(
    values: Mapping[str, NDArray[Any]],
    clusters: NDArray[np.int64],
    sensitive: NDArray[np.bool_] | None = None,
    of_sensitive: Mapping[str, NDArray[Any]] | None = None,
) -> dict[str, Any]:
    """Rates by name as a record has them.

    Args:
        values: One value for every token, by name, shape ``(n,)`` each; the first is the headline.
        clusters: Which text each token is of.
        sensitive: Which tokens the mechanism never keeps; their rates are told apart where they are some but not all.
        of_sensitive: Values that are told of these tokens only, shape ``(n,)`` each too.

    Returns:
        ``tokens``, every mean by its name, ``standard_error`` of the first one, ``standard_errors`` by name, and
        ``sensitive``: the same of those tokens.
    """
    found = {name: mean(of_tokens, clusters) for name, of_tokens in values.items()}
    errors = {name: None if error is None else rounded(error) for name, (_, error) in found.items()}
    result: dict[str, Any] = {"tokens": len(clusters)}
    result |= {name: rounded(rate) for name, (rate, _) in found.items()}
    result |= {"standard_error": next(iter(errors.values())), "standard_errors": errors}
    if sensitive is not None and sensitive.any() and not sensitive.all():
        both = {**values, **(of_sensitive or {})}
        result["sensitive"] = told({name: v[sensitive] for name, v in both.items()}, clusters[sensitive])
    return result


def rounded(value: float) -> float:
    """Six decimals, as a record has it."""
    return round(float(value), 6)
