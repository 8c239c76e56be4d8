"""``textveil-export table --epsilon``: levels by the epsilon of a paper, per unit of distance of the vectors."""

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from small_bundles import spellings
from textveil import Sanitizer
from textveil.bundle import TextBundle, layout, open_bundle
from textveil.errors import UnknownLevel
from textveil.text import summarize_levels
from textveil_cli.console import run
from textveil_cli.main import app
from textveil_export import cli
from textveil_export.text.build import TextBundleRecipe, build_text_bundle
from textveil_export.text.level_weights import LevelSetting, find_largest_exponent, fits_integers
from textveil_export.text.word_roles import WordPolicy
from textveil_export.text.word_vectors import WordVectors
from textveil_export.text.write import write_bundle

POLICY = WordPolicy(share=1.0, sensitive=frozenset(), allow=frozenset(), never_output=frozenset())
WORDS = 150


def make_vectors(scale: float = 1.0) -> np.ndarray[Any, np.dtype[np.float32]]:
    return (scale * np.random.default_rng(3).standard_normal((WORDS, 20))).astype(np.float32)


def build(folder: Path, epsilons: str, scale: float = 1.0, **settings: Any) -> TextBundle:
    source = WordVectors(words=spellings(WORDS), vectors=make_vectors(scale), provenance={})
    numbers = tuple(map(Decimal, epsilons.split(",")))
    recipe = TextBundleRecipe(name="made up", policy=POLICY, k=8, vector_epsilons=numbers, **settings)
    return write_bundle(build_text_bundle(source, recipe), folder / f"{epsilons}-{scale}")


def published_probabilities(vectors: np.ndarray[Any, Any], epsilon: float) -> np.ndarray[Any, Any]:
    """SanText as its paper defines it: exp(-epsilon/2 times the Euclidean distance of the given vectors)."""
    distances = np.linalg.norm(vectors[:, None].astype(float) - vectors[None], axis=2)
    weights = np.exp(-epsilon / 2 * distances)
    return weights / weights.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("scale", [0.01, 1.0, 40.0])
def test_probabilities_are_those_of_the_paper(tmp_path: Path, scale: float) -> None:
    epsilon = 2 / scale
    bundle = build(tmp_path, f"{epsilon / 2:g},{epsilon:g}", scale)
    sanitizer = Sanitizer.load(bundle.path)
    expected = published_probabilities(make_vectors(scale), epsilon)
    for word in (0, 70):
        found = sanitizer.distribution(bundle.vocabulary[word], mechanism="santext", epsilon=epsilon)
        shares = dict(found.list_likeliest(WORDS))
        computed = np.array([shares[other] for other in bundle.vocabulary])
        assert np.abs(computed - expected[word]).sum() / 2 < 0.03


def test_a_wrong_unit_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted fault: epsilons per median distance."""
    monkeypatch.setattr("textveil_export.text.build.compute_median_distance", lambda median, step: 1.0)
    bundle = build(tmp_path, "2")
    found = dict(
        Sanitizer.load(bundle.path).distribution(bundle.vocabulary[0], mechanism="santext").list_likeliest(WORDS)
    )
    computed = np.array([found[other] for other in bundle.vocabulary])
    assert np.abs(computed - published_probabilities(make_vectors(), 2)[0]).sum() / 2 > 0.2


def test_the_median_distance_is_that_of_the_vectors(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bundle = build(tmp_path, "0.5,1")
    vectors = make_vectors().astype(float)
    distances = np.linalg.norm(vectors[:, None] - vectors[None], axis=2)[np.triu_indices(WORDS, 1)]
    assert bundle.median_distance == pytest.approx(np.median(distances), rel=0.01)
    assert run(app, "textveil", ["info", "--json", "-b", str(bundle.path)]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["median_distance"] == bundle.median_distance
    assert [level["santext"]["epsilon_vectors"] for level in facts["epsilons"]] == pytest.approx([0.5, 1], rel=2e-4)
    assert run(app, "textveil", ["info", "-b", str(bundle.path)]) == 0
    assert f"{bundle.median_distance:.6g} in units of the vectors" in capsys.readouterr().out
    card = (bundle.path / layout.CARD).read_text()
    assert f"median distance: {bundle.median_distance}" in card


@pytest.mark.parametrize("value", ["5", None, True, 0, -1.0, float("nan"), float("inf"), 10**400])
def test_a_median_distance_that_is_no_length_is_ignored(tmp_path: Path, value: object) -> None:
    bundle = build(tmp_path, "1")
    manifest = {**bundle.manifest, "provenance": {layout.MEDIAN_DISTANCE: value}}
    object.__setattr__(bundle, "manifest", manifest)
    assert bundle.median_distance is None


def select(sanitizer: Sanitizer, epsilon: object, mechanism: str = "santext") -> float:
    return sanitizer.terms(mechanism=mechanism, epsilon=epsilon).epsilon  # type: ignore[arg-type]


def test_certification_keeps_the_old_epsilons_as_aliases(tmp_path: Path) -> None:
    bundle = build(tmp_path, "0.5,1")
    before = Sanitizer.load(bundle.path)
    textbook = [select(before, name) for name in ("0.5", "1")]
    assert textbook == pytest.approx([0.5 * bundle.median_distance, bundle.median_distance], rel=2e-4)  # type: ignore[operator]
    assert run(cli.app, "textveil-export", ["certify", str(bundle.path)]) == 0
    after = Sanitizer.load(bundle.path)
    certified = [level.epsilon for level in summarize_levels(after.bundle, "santext")]
    assert all(one < other for one, other in zip(certified, textbook, strict=True))
    for name, old, new in zip(("0.5", "1"), textbook, certified, strict=True):
        assert select(after, name) == select(after, old) == select(after, new) == new
    with pytest.raises(UnknownLevel):
        select(after, "0.75")


def test_a_name_that_is_the_epsilon_of_another_level_is_not_used(tmp_path: Path) -> None:
    """With a median distance of 2, the paper's 1 is 2, which is another level's name."""
    vectors = make_vectors()
    bundle = build(tmp_path, "1")
    unit = bundle.median_distance
    assert unit is not None
    source = WordVectors(words=spellings(WORDS), vectors=(vectors / np.float32(unit / 2)), provenance={})
    middle = f"{2 * float(build_levels(source, '1')[0]):g}"
    names = [level.name for level in write(source, f"1,{middle}", tmp_path / "b", default=middle).santext_levels]
    opened = open_bundle(tmp_path / "b", TextBundle)
    assert names == [f"{2 * level.parameters['santext'].exponent}" for level in opened.santext_levels]
    assert opened.default_level == names[1]


def build_levels(source: WordVectors, epsilons: str) -> list[Decimal]:
    recipe = TextBundleRecipe(name="a", policy=POLICY, k=8, vector_epsilons=tuple(map(Decimal, epsilons.split(","))))
    levels = build_text_bundle(source, recipe).definition["santext"]["levels"]
    return [Decimal(level["parameters"]["santext"]["exponent"]) for level in levels]


def write(source: WordVectors, epsilons: str, folder: Path, default: str) -> TextBundle:
    numbers = tuple(map(Decimal, epsilons.split(",")))
    recipe = TextBundleRecipe(name="a", policy=POLICY, k=8, vector_epsilons=numbers, default_level=default)
    return write_bundle(build_text_bundle(source, recipe), folder)


@pytest.fixture(scope="module")
def vector_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("vectors") / "vectors.txt"
    rows = zip(spellings(WORDS), make_vectors(), strict=True)
    path.write_text("".join(f"{word} {' '.join(map(str, row))}\n" for word, row in rows))
    return path


def run_table(path: Path, folder: Path, *arguments: str) -> int:
    fixed = "table --mechanisms santext --lists none -k 8 --no-statistics --vectors".split()
    return run(cli.app, "textveil-export", [*fixed, str(path), "-o", str(folder / "b"), *arguments])


def test_the_command_takes_epsilons_of_a_paper(vector_file: Path, tmp_path: Path) -> None:
    assert run_table(vector_file, tmp_path, "--epsilon", "0.5, 1,2", "--default-epsilon", "2") == 0
    bundle = open_bundle(tmp_path / "b", TextBundle)
    assert [level.name for level in bundle.santext_levels] == ["0.5", "1", "2"]
    assert bundle.default_level == "2"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--epsilon", "0"], "--epsilon: the number of a level must be above 0"),
        (["--epsilon", "-1,2"], "--epsilon: the number of a level must be above 0"),
        (["--epsilon", "one"], "--epsilon: the number of a level must be above 0"),
        (["--epsilon", ""], "--epsilon: the number of a level must be above 0"),
        (["--epsilon", "1e-9"], "--epsilon 1E-9 is too small: the median distance of two words is"),
        (["--epsilon", "3,2"], "--epsilon: list levels strictest first, so numbers must ascend"),
        (["--epsilon", "1,900"], "--epsilon 900 is too large for these vectors: the largest that fits is "),
        (["--epsilon", "1", "--exponent", "3"], "pass only one of --epsilon, --exponent and --certified-epsilon"),
        (["--epsilon", "1", "--default-epsilon", "2"], "the default level is not one of the levels"),
        (["--exponent", "500"], "exponent 500 is too large for this vocabulary: the largest that fits is "),
    ],
)
def test_wrong_epsilons_are_refused(
    vector_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    assert run_table(vector_file, tmp_path, *arguments) == 1
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert not (tmp_path / "b").exists()


def test_a_staircase_has_no_epsilon_of_a_paper(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["table", "--mechanisms", "staircase", "--epsilon", "1", "-o", str(tmp_path / "b")]
    assert run(cli.app, "textveil-export", arguments) == 1
    assert "--epsilon needs --mechanisms santext" in capsys.readouterr().err


def test_the_largest_epsilon_of_the_message_fits(
    vector_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_table(vector_file, tmp_path, "--epsilon", "900") == 1
    largest = capsys.readouterr().err.split("the largest that fits is ")[1].split(";")[0]
    assert run_table(vector_file, tmp_path, "--epsilon", largest) == 0
    assert run_table(vector_file, tmp_path, "--force", "--epsilon", str(float(largest) * 1.001)) == 1


def test_words_beyond_the_reach_of_integers_keep_the_smallest_weight(tmp_path: Path) -> None:
    """The bound of SanText holds for them too: the constant cap of a distance is 1-Lipschitz."""
    bundle = build(tmp_path, "1")
    largest = find_largest_exponent(bundle.table)
    assert fits_integers(bundle.table, LevelSetting(largest))
    assert not fits_integers(bundle.table, LevelSetting(largest + Decimal("0.0001")))
    near = Decimal("0.98") * 2 * largest / Decimal(bundle.median_distance or 0)
    steep = build(tmp_path, f"{near:.4f}")
    level = steep.santext_levels[0].parameters["santext"]
    scores = Sanitizer.load(steep.path).distance(steep.vocabulary[0], steep.vocabulary[1]) * steep.table.grid
    assert len(level.weights) < 2 * scores + steep.table.grid * 10
    sanitizer = Sanitizer.load(steep.path)
    promise: Any = sanitizer.terms(mechanism="santext").promise
    rows = [sanitizer.distribution(word, mechanism="santext") for word in steep.vocabulary[:40]]
    logs = np.log([[dict(row.list_likeliest(WORDS))[word] for word in steep.vocabulary] for row in rows])
    for one in range(40):
        for other in range(one):
            bound = promise.epsilon * sanitizer.distance(steep.vocabulary[one], steep.vocabulary[other])
            assert np.abs(logs[one] - logs[other]).max() <= bound + promise.rounding_slack + 1e-6
