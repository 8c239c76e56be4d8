"""Exponents meet a target of *proven* epsilon, and base measures are used only if they help."""

from dataclasses import replace
from decimal import Decimal

import numpy as np
import pytest
import small_bundles
from brute_force import Losses as BruteForce
from defined_weights import defined_weights
from textveil import Sanitizer
from textveil.bundle.layout import TABLE_MECHANISMS
from textveil.mechanisms.baselines import MIN_WEIGHT, OUTPUT_ROLE, SanText
from textveil_cli.console import run
from textveil_export import cli
from textveil_export.certify.certificate import certify_bundle
from textveil_export.certify.loss_bounds import LossBounds
from textveil_export.certify.pair_scores import PairScores
from textveil_export.certify.pair_search import find_worst_ratios
from textveil_export.errors import ExportError
from textveil_export.text import calibration
from textveil_export.text.build import TextBundleRecipe, build_text_bundle
from textveil_export.text.calibration import compute_flat_base, round_base, smooth_totals
from textveil_export.text.level_weights import LevelSetting, fits_integers, make_level_parameters
from textveil_export.text.word_vectors import WordVectors
from textveil_export.text.write import write_bundle

#: Too long for each push: `make nightly` runs these tests.
pytestmark = pytest.mark.full

GEOMETRIES = {
    "scattered": (small_bundles.scattered(24, 6, 1), ("4", "7")),
    "clusters": (small_bundles.clusters(4), ("3", "6.5")),
    "lopsided": (small_bundles.lopsided(24), ("2", "4")),
}


def targets_of(geometry):
    _, (low, high) = GEOMETRIES[geometry]
    return {"low": Decimal(low), "high": Decimal(high)}


def table_and_scores(geometry, k=5):
    """Return the table of a small vocabulary and the scores of all pairs."""
    vectors, _ = GEOMETRIES[geometry]
    built = small_bundles.contents(vectors, k=k, exponents=("1",))
    return small_bundles.table_of(built), PairScores.compute(small_bundles.metric_of(built))


def certified(table, every, mechanism, setting):
    """Return the certified epsilon of a mechanism."""
    law = SanText.from_table(table, every.metric, mechanism, make_level_parameters(table, setting, every.max_score))
    (worst,) = find_worst_ratios(every, table, [LossBounds(law.make_randomizer(every))])
    return worst.overall.ratio


@pytest.mark.slow
@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_every_target_covers_the_truth(tmp_path, geometry):
    """Brute force over all pairs and outputs never exceeds what a level is called by, and what is certified is near."""
    vectors, _ = GEOMETRIES[geometry]
    words = small_bundles.spellings(len(vectors))
    targets = targets_of(geometry)
    recipe = TextBundleRecipe(
        name="small", policy=small_bundles.MIXED.policy(words), k=5, certified_epsilons=targets, default_level="low"
    )
    bundle = write_bundle(
        build_text_bundle(WordVectors(words=words, vectors=vectors.astype(np.float32), provenance={}), recipe),
        tmp_path / "b",
    )
    certificates = certify_bundle(bundle)
    for level in bundle.santext_levels:
        for mechanism, law in level.parameters.items():
            target = float(targets[level.name])
            truth = BruteForce.of(bundle, mechanism, defined_weights(bundle, mechanism, law)).per_distance()
            proven = certificates[level.name][mechanism].epsilon_certified
            assert truth <= proven <= target
            assert proven >= target - calibration.TOLERANCE - 1e-4


@pytest.mark.slow
@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_base_measures_are_bytes_and_help(geometry):
    """A mechanism has the flattened base measure of its first guess if it was certified lower with it than without."""
    table, every = table_and_scores(geometry)
    targets = targets_of(geometry)
    settings = calibration.calibrate_certified_epsilon(table, every.metric, targets)
    assert set(settings) == {(name, m) for name in ("low", "high") for m in TABLE_MECHANISMS}
    for (name, mechanism), setting in settings.items():
        guess = float(targets[name]) / calibration._FIRST_RATIO
        is_output = (table.roles & OUTPUT_ROLE[mechanism]) != 0
        outputs = np.flatnonzero(is_output)
        base = round_base(compute_flat_base(every, outputs, guess), outputs, table.symbol_count, 255)
        flat = LevelSetting(calibration._round_exponent(guess), base)
        helps = certified(table, every, mechanism, flat) < certified(table, every, mechanism, replace(flat, base=None))
        assert (setting.base is not None) == helps
        if helps:
            assert setting.base.dtype == np.uint8
            assert (setting.base == flat.base).all()
            assert (setting.base[is_output] >= 1).all()
            assert (setting.base[~is_output] == 0).all()
    assert any(setting.base is not None for setting in settings.values())


@pytest.mark.slow
def test_a_base_measure_that_does_not_help_is_not_used(monkeypatch):
    """One word a hundred times likelier than all others: the audit prefers none, and the dial does as without it."""

    def starving(every, outputs, exponent, progress, flatten_to):
        q = np.zeros(len(outputs), dtype=np.float32)
        q[0] = 1
        return q

    monkeypatch.setattr(calibration, "compute_flat_base", starving)
    table, every = table_and_scores("scattered")
    targets = targets_of("scattered")
    settings = calibration.calibrate_certified_epsilon(table, every.metric, targets)
    plain = calibration.calibrate_certified_epsilon(table, every.metric, targets, flatten_to=None)
    assert {key: setting.exponent for key, setting in settings.items()} == {
        key: setting.exponent for key, setting in plain.items()
    }
    assert all(setting.base is None for setting in settings.values())


@pytest.mark.parametrize("geometry", GEOMETRIES)
@pytest.mark.parametrize("mechanism", TABLE_MECHANISMS)
def test_flattening_makes_the_normalizer_more_even(geometry, mechanism):
    """Squared deviation of ``Z`` from its mean, relative to it: what the updates minimize, bytes and all."""
    table, every = table_and_scores(geometry)
    outputs = np.flatnonzero(table.roles & OUTPUT_ROLE[mechanism])
    factors = np.exp(-6.0 * every.scores[:, outputs] / every.metric.grid)
    base = round_base(compute_flat_base(every, outputs, 6.0), outputs, table.symbol_count, 255)
    assert base.dtype == np.uint8
    assert base.shape == (table.symbol_count,)
    assert base[outputs].max() == 255
    assert base[outputs].min() >= 1
    assert not base[(table.roles & OUTPUT_ROLE[mechanism]) == 0].any()

    def unevenness(q):
        z = factors @ q
        return float(1 - z.mean() ** 2 / (z**2).mean())

    assert unevenness(base[outputs].astype(float)) <= unevenness(np.ones(len(outputs))) + 1e-3


def test_targets_too_large_for_integers_are_refused():
    table, every = table_and_scores("scattered")
    with pytest.raises(ExportError, match="too large"):
        calibration.calibrate_certified_epsilon(table, every.metric, {"all": Decimal(1000)})


# The command.

#: Without the English lists, which take a second to read.
PLAIN = ("--mechanisms", "santext", "--lists", "none")


@pytest.fixture(scope="module")
def dialed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dial")
    path = folder / "vectors.txt"
    vectors = np.random.default_rng(0).standard_normal((120, 30)).astype(np.float32)
    words = small_bundles.spellings(120)
    path.write_text("".join(f"{w} {' '.join(map(str, v))}\n" for w, v in zip(words, vectors, strict=True)))
    arguments = "table --mechanisms santext --default-epsilon 9.50 --lists none -k 8".split()
    arguments += ["--vectors", str(path), "-o", str(folder / "b"), "--certified-epsilon", "6, 9.5,12"]
    assert run(cli.app, "textveil-export", arguments) == 0
    return Sanitizer.load(folder / "b").bundle


@pytest.mark.slow
class TestCommand:
    """``--certified-epsilon``: exponents whose proven epsilon meets the target."""

    def test_levels_are_labeled_with_their_targets(self, dialed):
        labels = {level.name: dialed.get_certified_epsilon(level, "santext+") for level in dialed.santext_levels}
        assert labels == {"6": 6, "9.5": 9.5, "12": 12}

    @pytest.mark.parametrize("targets", ["x", "a=3", "9,8", "6,6", "-1", "nan", ""])
    def test_wrong_targets_are_refused(self, tmp_path, capsys, targets):
        arguments = ["table", "-o", str(tmp_path / "b"), "--certified-epsilon", targets, *PLAIN]
        assert run(cli.app, "textveil-export", arguments) == 1
        assert capsys.readouterr().err.count("\n") == 1

    def test_exponents_and_targets_exclude_each_other(self, tmp_path, capsys):
        options = ["--certified-epsilon", "9", "--exponent", "3"]
        assert run(cli.app, "textveil-export", ["table", "-o", str(tmp_path / "b"), *PLAIN, *options]) == 1
        assert "pass only one of --epsilon, --exponent and --certified-epsilon" in capsys.readouterr().err


# Flattening to a slope.


def slope_of(every, totals):
    """Return the largest change of ``ln`` totals per unit of distance, over all pairs at a distance."""
    steps = every.scores.astype(float)
    changes = np.abs(np.log(totals)[:, None] - np.log(totals)[None, :])
    return float((changes[steps > 0] / steps[steps > 0]).max()) * every.metric.grid


@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_wanted_totals_keep_to_their_slope_and_change_nothing_else(geometry):
    _, every = table_and_scores(geometry)
    totals = np.exp(-5.0 * every.scores[:, :-1] / every.metric.grid).sum(axis=1).astype(np.float32)
    steepest = slope_of(every, totals)
    for share in (0.2, 0.5, 0.9):
        # one step of the grid more: scores are rounded down
        assert slope_of(every, smooth_totals(every, totals, share * steepest)) <= share * steepest * (1 + 1e-2)
    assert smooth_totals(every, totals, 1.02 * steepest) == pytest.approx(totals, rel=1e-5)


def test_aiming_higher_leaves_crowded_words_more():
    """Certified as aimed, below a uniform base measure, and the scarcest word has more the higher the aim."""
    table, every = table_and_scores("lopsided")
    outputs, exponent = np.flatnonzero(table.roles & OUTPUT_ROLE["santext"]), 2.0
    scarcest = {}
    for aim in (1.0, 1.1, 1.2):
        base = round_base(
            compute_flat_base(every, outputs, exponent, flatten_to=aim), outputs, table.symbol_count, 4095
        )
        assert base.dtype == np.uint16
        assert base.max() == 4095
        assert certified(table, every, "santext", LevelSetting(Decimal(2), base)) / exponent <= aim + 5e-3
        scarcest[aim] = base[outputs].min() / base.max()
    assert certified(table, every, "santext", LevelSetting(Decimal(2))) / exponent > 1.2
    assert scarcest[1.0] < scarcest[1.1] < scarcest[1.2] < 1


def test_steps_are_as_fine_as_totals_allow():
    """A larger exponent needs more of the 62 bits of a total for the reach of its weights."""
    table, every = table_and_scores("scattered")
    symbols = np.arange(table.symbol_count)
    q = np.ones(table.symbol_count, dtype=np.float32)
    finest = []
    for exponent in range(2, 30, 2):
        possible = []
        for largest in calibration._FINER_STEPS:
            setting = LevelSetting(Decimal(exponent), round_base(q, symbols, table.symbol_count, largest))
            possible.append(fits_integers(table, setting))
            if possible[-1]:
                assert make_level_parameters(table, setting, every.max_score).weights[-1] >= MIN_WEIGHT
            else:
                with pytest.raises(ExportError, match="too large"):
                    make_level_parameters(table, setting, every.max_score)
        assert possible == sorted(possible)
        finest.append(sum(possible))
    assert finest == sorted(finest, reverse=True)
    assert finest[0] == len(calibration._FINER_STEPS)
    assert finest[-1] == 0


@pytest.mark.slow
def test_calibration_flattens_to_a_slope():
    table, every = table_and_scores("lopsided")
    targets = {"only": Decimal("2.2")}
    settings = calibration.calibrate_certified_epsilon(
        table, every.metric, targets, mechanisms=["santext"], flatten_to=1.1
    )
    setting = settings["only", "santext"]
    assert setting.base is not None
    assert setting.base.max() == 4095
    assert 2.2 - calibration.TOLERANCE <= certified(table, every, "santext", setting) <= 2.2
