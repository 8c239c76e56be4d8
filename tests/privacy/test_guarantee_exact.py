"""The promise holds on the finished integers: for every two inputs and every output, with no exception.

For small vocabularies, chosen to be difficult, all ordered pairs of inputs (``<unk>``, kept words and words that are
never an output among them) are compared in rational arithmetic; only the last step, a logarithm and a square root,
is taken in intervals that contain the truth. Shown is

    ln Pr[M(x) = y] - ln Pr[M(x') = y] <= 2 alpha d(x, x') + 2 alpha / grid + 2 ln((1 + rho) / (1 - rho))

for SanText and for the rows of SanText+ (as a whole: ``test_guarantee_santext_plus.py``). It could fail
where a row forgets a neighbor, where a cap jumps between neighboring words, where supports differ, or where
rounding of distances or weights adds up to more than is claimed. Each of these is planted, and the same check must
find it; and on the geometry that needs the whole bound, the check refuses an epsilon ten per cent lower.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
import small_bundles
from defined_weights import outputs, squared_distances
from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st
from mpmath import mpf
from privacy_bound import GEOMETRIES, Finding, Weights, claimed, findings
from textveil import Sanitizer
from textveil.bundle.text_bundle import TABLE, Bundle
from textveil.errors import BundleDamaged
from textveil.mechanisms.baselines.santext import CappedSanText, rounding_slack
from textveil.mechanisms.baselines.table import CAPPED, KEPT, SANTEXT_PLUS_OUTPUT, LevelParameters, Table
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
        published = mpf(terms.promise.rounding_slack)
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
