"""``textveil levels --mechanism fbdd`` and ``textveil-export statistics --mechanism fbdd`` estimate its figures."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from textveil.bundle import TextBundle, find_artifact, open_bundle
from textveil_cli.console import run
from textveil_export import cli

SANTEXT = find_artifact("english-santext")
FEW = ("--words", "3", "--draws", "20")


def test_figures_by_epsilon(here: Callable, tiny_path: Path) -> None:
    ran = here("levels", "-b", tiny_path, "--mechanism", "fbdd", "--epsilon", "0.001, 1000", *FEW, "--json")
    assert (ran.code, ran.err) == (0, b"")
    found = json.loads(ran.text)
    assert (found["words"], found["draws"], found["eta"]) == (3, 20, 0)
    low, high = found["epsilons"]
    assert (low["epsilon"], high["epsilon"]) == (0.001, 1000)
    assert high["unchanged"]["mean"] == high["likely_outputs"]["mean"] == 1
    assert low["unchanged"]["mean"] < 1 < low["likely_outputs"]["mean"]
    plain = here("levels", "-b", tiny_path, "--mechanism", "fbdd", *FEW, "--eta", "0.05").text
    assert "0.95 of the samples" in plain
    assert max(map(len, plain.splitlines())) <= 120


def test_epsilons_in_the_unit_of_the_vectors(here: Callable, make_bundle: Callable[..., Path]) -> None:
    path = make_bundle()
    unit = open_bundle(path, TextBundle).median_distance
    assert unit is not None
    ran = here("levels", "-b", path, "-m", "fbdd", "--unit", "vectors", "-e", "2,3", *FEW, "--json")
    rows = json.loads(ran.text)["epsilons"]
    assert [row["epsilon_vectors"] for row in rows] == pytest.approx([2, 3])
    assert [row["epsilon"] for row in rows] == pytest.approx([2 * unit, 3 * unit])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-m", "fbdd", "-e", "0"], "fbdd needs an --epsilon above 0"),
        (["-m", "fbdd", "-e", "-1"], "fbdd needs an --epsilon above 0"),
        (["-m", "fbdd", "-e", "1e9"], "fbdd needs an --epsilon above 0"),
        (["-m", "fbdd", "-e", "canary"], "--epsilon must be numbers separated by commas"),
        (["-m", "fbdd", "-e", "nan"], "--epsilon must be numbers separated by commas"),
        (["-m", "fbdd", "-e", ""], "--epsilon must be numbers separated by commas"),
        (["-m", "fbdd", "--eta", "1"], "eta must be at least 0 and below 1"),
        (["-m", "fbdd", "--draws", "9999999"], "the number of draws must be between 1 and 1000000"),
        (["--epsilon", "3"], "--epsilon, --unit, --words, --draws and --eta need --mechanism fbdd"),
        (["--eta", "0.1"], "--epsilon, --unit, --words, --draws and --eta need --mechanism fbdd"),
    ],
)
def test_wrong_options_are_refused(here: Callable, tiny_path: Path, arguments: list[str], message: str) -> None:
    ran = here("levels", "-b", tiny_path, *arguments)
    assert (ran.code, ran.out) == (1, b"")
    assert message in ran.message
    assert "canary" not in ran.message


def test_a_bundle_without_vectors_or_without_their_unit_is_refused(here: Callable) -> None:
    ran = here("levels", "-m", "fbdd")
    assert ran.code == 1
    assert "this bundle contains staircase only: use --bundle artifacts/english-santext" in ran.message
    ran = here("levels", "-b", SANTEXT, "-m", "fbdd", "--unit", "vectors")
    assert ran.code == 1
    assert "this bundle does not state the median distance of its vectors" in ran.message


def test_the_exporter_writes_the_figures_to_a_file(
    tiny_path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = {path.name: path.read_bytes() for path in tiny_path.iterdir()}
    arguments = ["statistics", str(tiny_path), "-m", "fbdd", "-e", "1000", *FEW, "-o", str(tmp_path / "fbdd.json")]
    assert run(cli.app, "textveil-export", arguments) == 0
    assert "N_w: share of the samples that are the word itself" in capsys.readouterr().out
    assert json.loads((tmp_path / "fbdd.json").read_text())["epsilons"][0]["unchanged"]["mean"] == 1
    assert before == {path.name: path.read_bytes() for path in tiny_path.iterdir()}
    assert run(cli.app, "textveil-export", ["statistics", str(tiny_path), "-o", str(tmp_path / "x")]) == 1
    assert "--output needs --mechanism fbdd" in capsys.readouterr().err
