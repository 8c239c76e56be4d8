"""The promise of SanText+ as a whole, with its coin: for every two inputs in every state, and every output.

The bound of its rows, with ``ln(1/p)`` added, in rational arithmetic as in ``test_guarantee_santext.py``. Faults in the
whole are planted, and the same check must find them.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from defined_weights import outputs, squared_distances
from intervals import iv
from mpmath import mpf
from privacy_bound import GEOMETRIES, Weights, claimed, findings
from textveil import Sanitizer
from textveil.bundle.components import SanTextLevel
from textveil.bundle.text_bundle import TextBundle
from textveil.mechanisms.baselines.table import KEPT_ROLE, LevelParameters


@dataclass(frozen=True)
class Release:
    """SanText+ with its coin: every input in every state, and the distribution of each.

    A kept word appears twice: as a word of a text (with the coin) and as a part of a word or denied (without).

    Attributes:
        inputs: Table row of each entry.
        coin: Whether the entry has the coin.
        weights: Exact weights over all symbols.
    """

    inputs: list[int]
    coin: list[bool]
    weights: Weights


def release(bundle: TextBundle, level: SanTextLevel, probability: str) -> Release:
    """All distributions of SanText+, as ``Sanitizer.distribution`` gives them."""
    sanitizer = Sanitizer(bundle)
    epsilon = 2 * level.parameters["santext+"].exponent
    options: Any = {"mechanism": "santext+", "epsilon": epsilon, "replacement_probability": probability}
    whole = Release([], [], [])
    for x in range(bundle.symbol_count + 1):
        kept = x < bundle.symbol_count and bool(bundle.table.roles[x] & KEPT_ROLE)
        word = bundle.vocabulary[x] if x < bundle.symbol_count else "quokka"
        for coin in (True, False) if kept else (False,):
            deny = [word] if kept and not coin else []
            law = sanitizer.distribution(word, deny=deny, **options)
            weights = [0] * bundle.symbol_count
            for y, weight in zip(law.words, law.weights, strict=True):
                weights[bundle.symbol_ids[y]] = weight
            whole.inputs.append(x)
            whole.coin.append(coin)
            whole.weights.append(weights)
    return whole


def wrong_with(whole: Release, bundle: TextBundle, law: LevelParameters, epsilon_0: Any) -> list[str]:
    """Why a release is not ``(2 alpha, epsilon_0)``-UMLDP; empty if it is.

    Outputs in ``V_P`` (the outputs of SanText+) are within the bound for every two inputs, without ``epsilon_0`` where
    the second has no coin; outputs in ``V_U`` (the kept words) each come from themselves alone, and only by the coin;
    there are no other outputs.
    """
    wrong = []
    protected = outputs(bundle, "santext+")
    unprotected = np.flatnonzero(bundle.table.roles & KEPT_ROLE).tolist()
    for x, coin, weights in zip(whole.inputs, whole.coin, whole.weights, strict=True):
        for y, weight in enumerate(weights):
            if weight and y not in protected and not (y in unprotected and y == x and coin):
                wrong.append(f"output {y} comes from {x}")
    wrong += [f"output {y} never comes" for y in unprotected if not any(weights[y] for weights in whole.weights)]
    claim = claimed(law, bundle.table.grid)
    distances = squared_distances(bundle)
    inside = [[weights[y] for y in protected] for weights in whole.weights]
    squared = [[distances[x][other] for other in whole.inputs] for x in whole.inputs]
    median = bundle.metric.median_squared
    totals = [sum(weights) for weights in whole.weights]
    replaced = {entry for entry, coin in enumerate(whole.coin) if not coin}
    for constant, against in ((epsilon_0, None), (0, replaced)):
        bound = replace(claim, constant=claim.constant + constant)
        wrong += [str(finding) for finding in findings(inside, squared, median, bound, totals, against)]
    return wrong


def coin_epsilon(probability: str, times: str = "1") -> Any:
    """``ln(1/p)`` of the realized coin, as an interval."""
    threshold = -(-Fraction(probability) * 2**64 // 1)
    return iv.log(iv.mpf(2**64) / int(threshold)) * iv.mpf(times)


@pytest.mark.slow
@pytest.mark.parametrize("geometry", GEOMETRIES)
@pytest.mark.parametrize("probability", ["0.3", "1", "1e-9"])
def test_santext_plus_as_a_whole(opened: Callable[..., TextBundle], geometry: str, probability: str) -> None:
    bundle = opened(geometry, 6)
    epsilon_0 = coin_epsilon(probability)
    for level in bundle.santext_levels:
        whole = release(bundle, level, probability)
        if probability == "1":  # nothing is ever kept, and there is nothing to reveal
            whole = replace(whole, coin=[False] * len(whole.coin))
            assert {y for weights in whole.weights for y, w in enumerate(weights) if w} == set(
                outputs(bundle, "santext+")
            )
        assert [
            line
            for line in wrong_with(whole, bundle, level.parameters["santext+"], epsilon_0)
            if probability != "1" or "never comes" not in line
        ] == []
        epsilon = float(2 * level.parameters["santext+"].exponent)
        terms = Sanitizer(bundle).terms(mechanism="santext+", epsilon=epsilon, replacement_probability=probability)
        promise: Any = terms.promise
        assert epsilon_0.b <= mpf(promise.epsilon_0) <= epsilon_0.b + mpf("1.1e-6")


def test_faults_in_the_whole_of_santext_plus_are_found(opened: Callable[..., TextBundle]) -> None:
    bundle = opened("twins", 6)
    level = bundle.santext_levels[0]
    law = level.parameters["santext+"]
    whole, epsilon_0 = release(bundle, level, "0.3"), coin_epsilon("0.3")
    assert not wrong_with(whole, bundle, law, epsilon_0)

    # ln(1/p) is tight: between a kept word with the coin and without it there is nothing to spare but rounding.
    assert wrong_with(whole, bundle, law, coin_epsilon("0.3", times="0.99"))

    protected = outputs(bundle, "santext+")
    sensitive = whole.inputs.index(protected[0])
    weights = whole.weights[sensitive]

    def with_row(entry: int, row: list[int]) -> Release:
        return replace(whole, weights=[row if i == entry else w for i, w in enumerate(whole.weights)])

    # A word is allowed at run time although it is an output: the coin keeps it, and hardly any other row gives it.
    total = sum(weights)
    allowed = [3 * w + (7 * total if y == protected[0] else 0) for y, w in enumerate(weights)]
    assert wrong_with(with_row(sensitive, allowed), bundle, law, epsilon_0)

    # A common word comes out of a sensitive row, however rarely.
    common = whole.inputs[whole.coin.index(True)]
    leaking = [w + (y == common) for y, w in enumerate(weights)]
    assert wrong_with(with_row(sensitive, leaking), bundle, law, epsilon_0) == [
        f"output {common} comes from {protected[0]}"
    ]

    # An output in V_P that one row can never give.
    never = [0 if y == protected[1] else w for y, w in enumerate(weights)]
    assert wrong_with(with_row(sensitive, never), bundle, law, epsilon_0)
