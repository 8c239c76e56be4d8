"""The promise holds on the finished integers: for every two inputs and every output, with no exception.

For small vocabularies, chosen to be difficult, all ordered pairs of inputs (``<unk>``, kept words and words that are
never an output among them) are compared in rational arithmetic; only the last step, a logarithm and a square root,
is taken in intervals that contain the truth. Shown is

    ln Pr[M(x) = y] - ln Pr[M(x') = y] <= 2 alpha d(x, x') + 2 alpha / grid + 2 ln((1 + rho) / (1 - rho))

for SanText and for the rows of SanText+, and the same with ``ln(1/p)`` added for SanText+ as a whole. It could fail
where a row forgets a neighbor, where a cap jumps between neighboring words, where supports differ, or where
rounding of distances or weights adds up to more than is claimed. Each of these is planted, and the same check must
find it; and on the geometry that needs the whole bound, the check refuses an epsilon ten per cent lower.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import small_bundles
from defined_weights import outputs, squared_distances
from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st
from mpmath import iv, mpf
from privacy_bound import GEOMETRIES, Finding, Weights, claimed, findings
from textveil import Sanitizer
from textveil.bundle.text_bundle import TABLE, Bundle, Level
from textveil.errors import BundleDamaged
from textveil.mechanisms.santext import CappedSanText, rounding_slack
from textveil.mechanisms.table import CAPPED, KEPT, SANTEXT_PLUS_OUTPUT, LevelParameters, Table
from textveil_export.errors import ExportError
from textveil_export.text.weights import score_weights


def rows_of(table: Table, mechanism: str, law: LevelParameters) -> Weights:
    """Weights of the possible outputs under every input, as they are drawn from."""
    rows = CappedSanText.of(table, mechanism, law).rows(np.arange(table.symbols + 1))
    allowed = np.flatnonzero(CappedSanText.of(table, mechanism, law).base)
    return [rows.weights(row)[allowed].tolist() for row in range(table.symbols + 1)]


def private(bundle: Bundle, table: Table | None = None, mechanism: str = "santext", level: int = 0) -> list[Finding]:
    """What the check finds for one level, with the bundle's own table or a faulty one."""
    law = bundle.levels[level].parameters[mechanism, CAPPED]
    weights = rows_of(table or bundle.table, mechanism, law)
    median = bundle.metric.median_squared
    return list(findings(weights, squared_distances(bundle), median, claimed(law, bundle.table.grid)))


# Finished bundles.

KS = (1, 2, 3, 6, None)


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Bundle]:
    """Bundles by geometry, ``k`` and kind of tokens; each is written once."""

    @cache
    def open_bundle(geometry: str, k: int | None, tokens: str = "word") -> Bundle:
        vectors, exponents = GEOMETRIES[geometry]
        words = small_bundles.pieces(len(vectors)) if tokens == "wordpiece" else None
        folder: Path = tmp_path_factory.mktemp("bundles") / "bundle"
        return small_bundles.small_bundle(folder, vectors, k=k, exponents=exponents, words=words, tokens=tokens)

    return open_bundle


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", ["santext", "santext+"])
@pytest.mark.parametrize("k", KS)
@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_every_pair_of_every_level(opened: Callable[..., Bundle], geometry: str, k: int | None, mechanism: str) -> None:
    bundle = opened(geometry, k)
    roles = bundle.table.roles
    assert (roles == 0).any(), "no word is never an output"
    assert (roles & KEPT).any()
    assert 0 < np.count_nonzero(roles & SANTEXT_PLUS_OUTPUT) < bundle.symbols
    if k is None:
        assert bundle.table.neighbors.shape[1] == len(outputs(bundle, "santext"))
    for level in range(len(bundle.levels)):
        assert private(bundle, mechanism=mechanism, level=level) == []


def test_the_twins_are_what_they_should_be(opened: Callable[..., Bundle]) -> None:
    """Half of the near copies were merged into the word they copy; the others are symbols at the merge distance."""
    bundle = opened("twins", 3)
    lines = (bundle.path / "vocabulary.tsv").read_text().splitlines()
    assert sum("\t" in line for line in lines) == 3
    squared = squared_distances(bundle)
    close = [
        (x, y)
        for x in range(bundle.symbols)
        for y in range(x)
        if squared[x][y] < 0.12**2 * bundle.metric.median_squared
    ]
    assert len(close) == 3


@pytest.mark.slow
@given(
    st.integers(4, 12).flatmap(
        lambda words: st.lists(
            st.lists(st.integers(-127, 127), min_size=2, max_size=2), min_size=words, max_size=words, unique_by=tuple
        )
    ),
    st.integers(1, 5),
    st.sampled_from(["0.75", "2", "3.5"]),
)
@settings(max_examples=25, suppress_health_check=[HealthCheck.filter_too_much])
def test_any_small_vocabulary(points: list[list[int]], k: int, exponent: str) -> None:
    """Points that hypothesis chooses in a plane; a third coordinate, the same for all, keeps their scale."""
    vectors = np.array([[*point, 127] for point in points])
    lists = small_bundles.Lists(share=0.7, never_output=(1,))
    try:
        built = small_bundles.contents(vectors, k=1, exponents=(exponent,), lists=lists)
        candidates = np.count_nonzero(built.tensors[TABLE]["roles"])
        if k > 1:
            built = small_bundles.contents(vectors, k=min(k, candidates), exponents=(exponent,), lists=lists)
    except (ExportError, BundleDamaged):
        reject()  # a word too far from all others for its scores or weights, or all of them merged
    table = small_bundles.table_of(built)
    law = table.level_parameters(CAPPED, Decimal(exponent), f"weights.l0.santext.{CAPPED}", None)
    rows = built.tensors["embeddings.safetensors"]["rows"].astype(np.int64)
    squared = ((rows[:, None] - rows[None]) ** 2).sum(axis=2)
    squared[-1, :-1] += built.law["santext"]["unknown_extra_squared_distance"]
    squared[:-1, -1] += built.law["santext"]["unknown_extra_squared_distance"]
    for mechanism in ("santext", "santext+"):
        weights = rows_of(table, mechanism, law)
        bound = claimed(law, table.grid)
        assert not list(findings(weights, squared.tolist(), built.law["santext"]["median_squared_distance"], bound))


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", ["santext", "santext+"])
@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_any_base_measure(opened: Callable[..., Bundle], geometry: str, mechanism: str) -> None:
    """The promise does not depend on the base measure: here it is anything from 1 to a thousand."""
    bundle = opened(geometry, 3)
    base = np.random.default_rng(6).integers(1, 1000, bundle.symbols).astype(np.uint32)
    squared, median = squared_distances(bundle), bundle.metric.median_squared
    for level in bundle.levels:
        law = level.parameters[mechanism, CAPPED]
        shift = int(law.weights[0]).bit_length() - 1 - 11  # room for the base measure
        weights = score_weights(law.exponent, len(law.weights) - 1, shift, bundle.table.grid)
        law = replace(law, base=base, weights=weights)
        found_rows = rows_of(bundle.table, mechanism, law)
        assert not list(findings(found_rows, squared, median, claimed(law, bundle.table.grid)))


@pytest.mark.slow
@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_the_slack_that_is_published_covers_the_exact_one(opened: Callable[..., Bundle], geometry: str) -> None:
    """Statements carry floats: each is at least the exact number, and the slack exceeds it by rounding only."""
    bundle = Bundle(opened(geometry, None).path)
    bundle.manifest.pop("levels")  # textbook terms, also where there are certified ones
    for level in bundle.levels:
        law = level.parameters["santext", CAPPED]
        bound = claimed(law, bundle.table.grid)
        terms = Sanitizer(bundle).terms(mechanism="santext", level=level.name)
        published = mpf(terms.rounding_slack)
        assert published == mpf(rounding_slack(law.exponent, bundle.table.grid, int(law.weights[-1])))
        assert bound.constant.b <= published <= bound.constant.b * (1 + mpf(10) ** -11)
        assert Fraction(terms.epsilon) == bound.epsilon


def test_the_check_has_no_room_to_spare(opened: Callable[..., Bundle]) -> None:
    """Beyond a crowd the textbook bound is nearly met: an epsilon ten per cent lower is refused."""
    bundle = opened("lopsided", None)
    law = bundle.levels[0].parameters["santext", CAPPED]
    bound = claimed(law, bundle.table.grid)
    lower = replace(bound, epsilon=bound.epsilon * Fraction(9, 10))
    weights = rows_of(bundle.table, "santext", law)
    squared, median = squared_distances(bundle), bundle.metric.median_squared
    assert not list(findings(weights, squared, median, bound))
    assert list(findings(weights, squared, median, lower))


# Faults that must be found. They are planted where they break the promise: close words with far neighbors, or the
# geometry that needs the whole bound. Elsewhere the textbook bound has room, and a fault may stay within it.


def nearest_pair(bundle: Bundle) -> tuple[int, int]:
    """The two closest outputs."""
    squared = squared_distances(bundle)
    allowed = outputs(bundle, "santext")
    _, first, second = min((squared[x][y], x, y) for x in allowed for y in allowed if x != y)
    return first, second


def shorter_row(bundle: Bundle, row: int, skip: int) -> Table:
    """The table with ``skip`` missing from a row, as if the search had not found it; the next neighbor moves up."""
    table = bundle.table
    squared = squared_distances(bundle)[row]
    k = table.neighbors.shape[1]
    order = sorted((squared[y], y) for y in outputs(bundle, "santext") if y != skip)[:k]
    grid, median = table.grid, bundle.metric.median_squared
    neighbors, scores = table.neighbors.copy(), table.scores.copy()
    neighbors[row] = [y for _, y in order]
    scores[row] = [math.isqrt(square * grid * grid // median) for square, _ in order]
    return replace(table, neighbors=neighbors, scores=scores)


def longer_scores(bundle: Bundle, table: Table, level: int = 0) -> LevelParameters:
    """The distribution of a level, with weights for scores beyond the last one that the bundle needs."""
    law = bundle.levels[level].parameters["santext", CAPPED]
    largest = max(len(law.weights) - 1, int(table.scores.max()))
    return replace(law, weights=score_weights(law.exponent, largest, int(law.weights[0]).bit_length() - 1, table.grid))


def found(bundle: Bundle, table: Table, level: int = 0) -> list[Finding]:
    """What the check finds in a faulty table."""
    law = longer_scores(bundle, table, level)
    median = bundle.metric.median_squared
    bound = claimed(law, table.grid)
    return list(findings(rows_of(table, "santext", law), squared_distances(bundle), median, bound))


@pytest.mark.slow
@pytest.mark.parametrize("geometry", GEOMETRIES)
@pytest.mark.parametrize("k", [2, 6])
def test_renormalized_top_k_is_refused(opened: Callable[..., Bundle], geometry: str, k: int) -> None:
    """Keeping the k likeliest outputs and dropping the tail: rows have different supports, and ratios are infinite."""
    bundle = opened(geometry, k)
    law = bundle.levels[1].parameters["santext", CAPPED]
    rows = CappedSanText.of(bundle.table, "santext", law)
    everyone = np.arange(bundle.symbols + 1)
    dropped: Weights = np.zeros((len(everyone), bundle.symbols), dtype=np.int64).tolist()
    for x in everyone:
        for y, score in zip(bundle.table.neighbors[x].tolist(), bundle.table.scores[x].tolist(), strict=True):
            dropped[x][y] = int(rows.weights[score])
    median = bundle.metric.median_squared
    seen = list(findings(dropped, squared_distances(bundle), median, claimed(law, bundle.table.grid)))
    assert sum(finding.infinite for finding in seen) > len(everyone)


def test_one_raised_weight_is_found(opened: Callable[..., Bundle]) -> None:
    """A quarter more for one output of one row, where the bound is nearly met; and a far word made as likely as x."""
    bundle = opened("lopsided", None)
    law = bundle.levels[0].parameters["santext", CAPPED]
    median, squared = bundle.metric.median_squared, squared_distances(bundle)
    weights = rows_of(bundle.table, "santext", law)
    allowed = outputs(bundle, "santext")
    last = allowed[-1]
    weights[last][-1] += weights[last][-1] // 4
    assert any(
        finding.first == last and finding.output == len(allowed) - 1
        for finding in findings(weights, squared, median, claimed(law, bundle.table.grid))
    )

    bundle = opened("twins", 6)
    x, _ = nearest_pair(bundle)
    scores = bundle.table.scores.copy()
    scores[x, 4] = 0
    seen = found(bundle, replace(bundle.table, scores=scores), level=2)
    assert seen
    assert all(x in (finding.first, finding.second) for finding in seen)


@pytest.mark.parametrize("geometry", ["twins", "line"])
def test_one_missing_neighbor_is_found(opened: Callable[..., Bundle], geometry: str) -> None:
    """What approximate search does: the nearest neighbor of one word is missing from its row."""
    bundle = opened(geometry, 6)
    x, neighbor = nearest_pair(bundle)
    seen = found(bundle, shorter_row(bundle, x, neighbor), level=2)
    assert Finding(neighbor, x, outputs(bundle, "santext").index(neighbor), infinite=False) in seen
    assert all(x in (finding.first, finding.second) for finding in seen)


@pytest.mark.parametrize("geometry", ["twins", "line", "clusters"])
def test_rows_that_skip_the_word_itself_are_found(opened: Callable[..., Bundle], geometry: str) -> None:
    """The nearest neighbor of a word is the word itself. A table of 'the others' is no table of this mechanism."""
    bundle = opened(geometry, 6)
    table = bundle.table
    for x in outputs(bundle, "santext"):
        skipped = shorter_row(bundle, x, x)
        table = replace(
            table,
            neighbors=np.where(np.arange(len(table.neighbors))[:, None] == x, skipped.neighbors, table.neighbors),
            scores=np.where(np.arange(len(table.scores))[:, None] == x, skipped.scores, table.scores),
        )
    assert found(bundle, table, level=2)


@pytest.mark.parametrize("geometry", ["flat", "twins", "line", "clusters", "lopsided"])
def test_a_cap_that_is_not_lipschitz_is_found(opened: Callable[..., Bundle], geometry: str) -> None:
    """A cap at the k-th neighbor for one k is 1-Lipschitz; with another k for some of the words it is not.

    Every other row is cut after its first neighbor (a row by share of mass, or one that ran out of memory).
    """
    bundle = opened(geometry, 6)
    scores = bundle.table.scores.copy()
    scores[::2] = np.minimum(scores[::2], scores[::2, :1])
    assert found(bundle, replace(bundle.table, scores=scores), level=2)


def test_a_tail_below_the_last_neighbor_is_found(opened: Callable[..., Bundle]) -> None:
    """The tail's factor belongs to the k-th distance; a smaller one for a single row is a jump like any other."""
    bundle = opened("clusters", 6)
    law = bundle.levels[2].parameters["santext", CAPPED]
    x, _ = nearest_pair(bundle)
    weights = rows_of(bundle.table, "santext", law)
    stored = {outputs(bundle, "santext").index(y) for y in bundle.table.neighbors[x].tolist()}
    weights[x] = [w if y in stored else max(1, w // 50) for y, w in enumerate(weights[x])]
    median = bundle.metric.median_squared
    assert list(findings(weights, squared_distances(bundle), median, claimed(law, bundle.table.grid)))


# SanText+ as a whole.


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


def release(bundle: Bundle, level: Level, probability: str) -> Release:
    """All distributions of SanText+, as ``Sanitizer.distribution`` gives them."""
    sanitizer = Sanitizer(bundle)
    options: Any = {"mechanism": "santext+", "level": level.name, "replacement_probability": probability}
    whole = Release([], [], [])
    for x in range(bundle.symbols + 1):
        kept = x < bundle.symbols and bool(bundle.table.roles[x] & KEPT)
        word = bundle.vocabulary[x] if x < bundle.symbols else "quokka"
        for coin in (True, False) if kept else (False,):
            deny = [word] if kept and not coin else []
            law = sanitizer.distribution(word, deny=deny, **options)
            weights = [0] * bundle.symbols
            for y, weight in zip(law.words, law.weights, strict=True):
                weights[bundle.ids[y]] = weight
            whole.inputs.append(x)
            whole.coin.append(coin)
            whole.weights.append(weights)
    return whole


def wrong_with(whole: Release, bundle: Bundle, law: LevelParameters, epsilon_0: Any) -> list[str]:
    """Why a release is not ``(2 alpha, epsilon_0)``-UMLDP; empty if it is.

    Outputs in ``V_P`` (the outputs of SanText+) are within the bound for every two inputs, without ``epsilon_0`` where
    the second has no coin; outputs in ``V_U`` (the kept words) each come from themselves alone, and only by the coin;
    there are no other outputs.
    """
    wrong = []
    protected = outputs(bundle, "santext+")
    unprotected = np.flatnonzero(bundle.table.roles & KEPT).tolist()
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
@pytest.mark.parametrize(("geometry", "tokens"), [(g, "word") for g in GEOMETRIES] + [("scattered", "wordpiece")])
@pytest.mark.parametrize("probability", ["0.3", "1", "1e-9"])
def test_santext_plus_as_a_whole(opened: Callable[..., Bundle], geometry: str, tokens: str, probability: str) -> None:
    bundle = opened(geometry, 6, tokens)
    if tokens == "wordpiece":
        pieces = [role for role, piece in zip(bundle.table.roles, bundle.vocabulary, strict=True) if "##" in piece]
        assert pieces
        assert not any(role & KEPT for role in pieces)
    epsilon_0 = coin_epsilon(probability)
    for level in bundle.levels:
        whole = release(bundle, level, probability)
        if probability == "1":  # nothing is ever kept, and there is nothing to reveal
            whole = replace(whole, coin=[False] * len(whole.coin))
            assert {y for weights in whole.weights for y, w in enumerate(weights) if w} == set(
                outputs(bundle, "santext+")
            )
        assert [
            line
            for line in wrong_with(whole, bundle, level.parameters["santext+", CAPPED], epsilon_0)
            if probability != "1" or "never comes" not in line
        ] == []
        terms = Sanitizer(bundle).terms(mechanism="santext+", level=level.name, replacement_probability=probability)
        assert epsilon_0.b <= mpf(terms.epsilon_0) <= epsilon_0.b + mpf("1.1e-6")


def test_faults_in_the_whole_of_santext_plus_are_found(opened: Callable[..., Bundle]) -> None:
    bundle = opened("twins", 6)
    level = bundle.levels[0]
    law = level.parameters["santext+", CAPPED]
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
