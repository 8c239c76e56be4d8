"""``verify`` accepts sound bundles, and names planted faults."""

from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import small_bundles
from small_staircase import CASED_ROLES, CASED_WORDS, ROLES, WORDS, small_staircase
from textveil import Sanitizer, verify
from textveil.bundle import TextBundle, find_artifact, open_bundle
from textveil.errors import BundleDamaged
from textveil.mechanisms.baselines.randomized_response import RandomizedResponse
from textveil.mechanisms.baselines.table import LevelParameters
from textveil.mechanisms.randomizer import Randomizer
from textveil.mechanisms.staircase import make_staircase_randomizer
from textveil.verify import compute_largest_losses, exceeds_epsilon, verify_text
from textveil_cli import main as cli
from textveil_cli.console import run
from textveil_export.certify.certificate import certify_bundle
from wrong_staircases import put


@pytest.fixture
def bundle(tmp_path: Path) -> TextBundle:
    """Return a bundle with two levels of SanText, to damage."""
    vectors = small_bundles.scattered(60, 8, 1)
    return small_bundles.small_bundle(tmp_path / "b", vectors, k=8, exponents=["3", "8"])


# --- any channel ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["santext", "santext+", "krr", "staircase"])
def test_the_largest_loss_is_that_of_the_exact_rows(bundle: TextBundle, tmp_path: Path, name: str) -> None:
    """Of every mechanism with a channel, in exact rationals, over every output."""
    if name == "staircase":
        opened = open_bundle(small_staircase(tmp_path / "s"))
        channel: Randomizer = make_staircase_randomizer(Sanitizer(opened)._get_plan({}).mechanism.any_case)  # type: ignore[union-attr]
    elif name == "krr":
        channel = RandomizedResponse.from_table(bundle.table, Decimal(3)).randomizer
    else:
        channel = Sanitizer(bundle)._get_plan({"mechanism": name}).mechanism.get_randomizer(whole=False)  # type: ignore[union-attr]
    inputs = np.array([0, 3, 7, channel.symbol_count])
    rows = [[Fraction(weight, sum(row)) for weight in row] for row in map(channel.compute_exact_row, inputs.tolist())]
    wanted = [[max(a / b for a, b in zip(x, other, strict=True) if a) for other in rows] for x in rows]
    found = np.exp(compute_largest_losses(channel, inputs))
    np.testing.assert_allclose(found, np.array(wanted, dtype=np.float64), rtol=1e-9)


class _Rows(Randomizer):
    """A channel of some rows, as they are."""

    def __init__(self, probabilities: list[list[float]]) -> None:
        self.probabilities = np.array(probabilities)
        self.base = np.ones(self.probabilities.shape[1], dtype=np.int64)

    symbol_count = 2  # type: ignore[assignment]

    def compute_rows(self, inputs: Any) -> Any:
        return self.probabilities[inputs]

    compute_columns = compute_exact_row = None  # type: ignore[assignment]


def test_an_output_that_one_input_alone_has_is_a_loss_beyond_all_bounds() -> None:
    losses = compute_largest_losses(_Rows([[0.5, 0.5, 0.0], [0.5, 0.5, 0.0], [0.5, 0.25, 0.25]]), np.arange(3))
    assert losses[0, 1] == losses[1, 0] == 0
    assert losses[2, 0] > 1e6
    assert losses[0, 2] == pytest.approx(np.log(2))


@pytest.mark.parametrize(
    ("rows", "epsilon", "more"),
    [
        ([[1, 3], [3, 1]], "1.0987", False),
        ([[1, 3], [3, 1]], "1.0986", True),
        ([[1, 3], [6, 2]], "1.0987", False),  # totals differ
        ([[1, 0], [1, 1]], "30", True),
        ([[1, 0], [5, 0]], "0.001", False),
    ],
)
def test_exact_rows_exceed_an_epsilon_or_not(rows: list[list[int]], epsilon: str, more: bool) -> None:
    assert exceeds_epsilon(rows, Decimal(epsilon)) == more


# --- SanText -------------------------------------------------------------------------------------------------------


@pytest.mark.full  # every stored distance is computed again; tests/contract looks at some of them
def test_the_default_bundle_holds() -> None:
    lines = verify_text(Sanitizer.load(find_artifact("english-santext")).bundle, pairs=100_000).splitlines()
    assert "stored distances recomputed from the rows: equal, no nearer word missing" in lines[-2]
    assert int(lines[-1].partition(" ")[0].replace(",", "")) >= 80_000


def test_a_small_bundle_holds(bundle: TextBundle) -> None:
    lines = verify_text(bundle, pairs=12_000).splitlines()
    assert lines[1:3] == [
        "no certificate: textbook epsilons",
        "all 488 stored distances recomputed from the rows: equal, no nearer word missing",
    ]
    pairs = int(lines[3].partition(" ")[0].replace(",", ""))
    assert 4 * 15 * 14 <= pairs <= 4 * 54 * 53  # all pairs of at most 54 inputs, for four laws


def with_law(bundle: TextBundle, level: int, mechanism: str, law: LevelParameters) -> TextBundle:
    """Return the same bundle with one distribution replaced."""
    levels = list(bundle.santext_levels)
    levels[level] = levels[level]._replace(parameters={**levels[level].parameters, mechanism: law})
    return replace(bundle, santext_levels=tuple(levels))


def test_a_weight_one_per_cent_off(bundle: TextBundle) -> None:
    law = bundle.santext_levels[1].parameters["santext"]
    weights = law.weights.copy()
    weights[:4001] = np.maximum(weights[:4001], weights[4000] + weights[4000] // 100)  # stays non-increasing
    changed = with_law(bundle, 1, "santext", replace(law, weights=weights))
    with pytest.raises(BundleDamaged, match="level l1: the weight of score 39"):
        verify_text(changed, pairs=1000)


def test_a_distance_that_is_not_that_of_the_rows(bundle: TextBundle) -> None:
    scores = bundle.table.scores.copy()
    scores[7, 3:] += 1
    changed = replace(bundle, santext_table=replace(bundle.table, scores=scores))
    with pytest.raises(BundleDamaged, match="row 7 stores a wrong distance"):
        verify_text(changed, pairs=200)


def test_another_neighbor_is_seen(bundle: TextBundle) -> None:
    """The nearest neighbor of row 7 replaced by a far word with the same score."""
    neighbors = bundle.table.neighbors.copy()
    neighbors[7, 1] = next(y for y in range(60) if y not in neighbors[7] and bundle.table.roles[y] & 1)
    changed = replace(bundle, santext_table=replace(bundle.table, neighbors=neighbors))
    with pytest.raises(BundleDamaged, match="row 7 stores a wrong distance"):
        verify_text(changed, pairs=200)


@pytest.mark.parametrize("row", [0, 7, 60])
def test_a_single_row_that_lacks_a_neighbor_is_seen(bundle: TextBundle, row: int) -> None:
    """The row lacks its second neighbor and reaches one further instead, all distances right."""
    table, candidates = bundle.table, np.flatnonzero(bundle.table.roles & 1)
    neighbors, scores = table.neighbors.copy(), table.scores.copy()
    ((_, squared),) = bundle.metric.iterate_squared_blocks(np.array([row]))
    to_all = np.minimum(bundle.metric.compute_scores(squared[0]), table.scores.max())  # weights end there
    order = candidates[np.lexsort((candidates, to_all[candidates]))]
    kept = np.delete(order, 1)[:8]
    assert to_all[order[1]] < to_all[kept[-1]]
    neighbors[row], scores[row] = kept, to_all[kept]
    changed = replace(bundle, santext_table=replace(table, neighbors=neighbors, scores=scores))
    with pytest.raises(BundleDamaged, match=rf"row {row} lacks a neighbor"):
        verify_text(changed, pairs=200)


def test_a_loss_just_above_the_stated_epsilon(bundle: TextBundle) -> None:
    """A label two per cent below what is certified over all pairs is found with a sample of all inputs."""
    level = bundle.santext_levels[1]
    proven = {mechanism: found.epsilon_certified for mechanism, found in certify_bundle(bundle)["l1"].items()}

    def labeled(factor: float) -> TextBundle:
        labels = {("l1", mechanism): factor * epsilon for mechanism, epsilon in proven.items()}
        return replace(bundle, santext_levels=(level,), certified_epsilons=labels)

    assert f"{2 * 61 * 60:,} random pairs" in verify_text(labeled(1), pairs=20_000_000)
    with pytest.raises(BundleDamaged, match=r"level l1, santext: row \d+ exceeds the stated epsilon"):
        verify_text(labeled(0.98), pairs=20_000_000)


def test_a_draw_from_other_rows_is_seen(bundle: TextBundle, monkeypatch: pytest.MonkeyPatch) -> None:
    """The audit reads the channel of the mechanism: an output that some inputs never have is seen."""
    plan: Any = Sanitizer(bundle)._get_plan({"mechanism": "santext"})

    def dropped(self: Any, inputs: Any) -> Any:
        rows = np.zeros((len(inputs), self.symbol_count))
        np.put_along_axis(rows, bundle.table.neighbors[inputs].astype(np.intp), 1 / 8, axis=1)
        return rows

    monkeypatch.setattr(type(plan.mechanism.get_randomizer(whole=False)), "compute_rows", dropped)
    with pytest.raises(BundleDamaged, match="exceeds the stated epsilon"):
        verify_text(bundle, pairs=1000)


def test_the_command(bundle: TextBundle, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(cli.app, "textveil", ["verify", str(bundle.path), "--audit-pairs", "5000"]) == 0
    assert "all within the stated epsilon" in capsys.readouterr().out
    (bundle.path / "mechanism.json").write_bytes(b"{}")
    assert run(cli.app, "textveil", ["verify", str(bundle.path)]) == 1
    assert capsys.readouterr().err.count("\n") == 1


# --- the staircase -------------------------------------------------------------------------------------------------


def test_a_sound_staircase_passes(tmp_path: Path) -> None:
    found = verify_text(open_bundle(small_staircase(tmp_path), TextBundle)).splitlines()[1]
    assert found.startswith(
        "staircase: 15 words, each with at most 4 neighbors; privacy loss per word at most 6, 8.5 at "
    )


@pytest.mark.parametrize(
    ("word", "role"),
    [
        *(("the", 1), ("was", 1), ("'s", 2), (".", 2), ("john", 1), ("john", 2), ("monday", 2)),
        *(("the", 16), ("'s", 32), (".", 32), ("john", 16), ("monday", 32), ("mark", 1), ("mark", 2)),
    ],
)
def test_outputs_that_are_wrong_are_seen(tmp_path: Path, word: str, role: int) -> None:
    """A function word where these are visible, a member of a kind, a clitic or a mark may not come out."""
    words, roles = (CASED_WORDS, CASED_ROLES) if word == "mark" or role > 2 else (WORDS, ROLES)
    index = words.index(word)
    folder = small_staircase(tmp_path, words=words, roles=put(roles, (index,), int(roles[index]) | role))
    with pytest.raises(
        BundleDamaged, match=f"^staircase.safetensors: word {index} is an output that its mode forbids$"
    ):
        verify_text(open_bundle(folder, TextBundle))


def test_bits_of_older_bundles_say_nothing(tmp_path: Path) -> None:
    older = open_bundle(small_staircase(tmp_path / "older", roles=ROLES | np.uint8(12)), TextBundle)
    verify_text(older)
    plain = Sanitizer.load(small_staircase(tmp_path / "plain"))
    assert Sanitizer(older).distribution("doctor") == plain.distribution("doctor")


def test_a_rule_without_outputs_is_seen(tmp_path: Path) -> None:
    folder = small_staircase(tmp_path, roles=ROLES & 14)
    with pytest.raises(BundleDamaged, match="no output is possible, or the budget exceeds the sum of base weights"):
        verify_text(open_bundle(folder, TextBundle))


def test_a_staircase_that_draws_otherwise_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A factor twice as large in what is drawn, and the certificate of the smaller one."""
    bundle = open_bundle(small_staircase(tmp_path), TextBundle)
    monkeypatch.setattr(verify, "make_staircase_randomizer", lambda staircase: _twice(staircase, 2 * staircase.factor))
    with pytest.raises(BundleDamaged, match="the privacy loss of the staircase exceeds the stated epsilon"):
        verify_text(bundle)


def _twice(staircase: Any, factor: int) -> Randomizer:
    stored, budgets = staircase.distribute_budget(np.arange(staircase.table.symbol_count + 1))
    rows = np.tile(staircase.unit * staircase.base.astype(float), (len(stored), 1))
    np.put_along_axis(rows, stored, np.take_along_axis(rows, stored, 1) + factor * budgets, axis=1)
    return _Rows((rows / rows.sum(axis=1, keepdims=True)).tolist())
