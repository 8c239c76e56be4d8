"""``bounds/run.py`` and the map of texts work with a tiny encoder."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from bounds import grid
from bounds.run import parse_mode
from overridden import overridden
from textveil_training.dpnr import train as train_module
from textveil_training.errors import RecipeError
from tiny_training import QUICK_SEARCH, train_checkpoints, write_recipes

Run = Callable[..., tuple[int, str, str]]

GRID = ("--data", "rows.txt", "--start", "clean", "--cache", "cache", "--threads", 1)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_recipes(tmp_path_factory.mktemp("place"))


@pytest.fixture(autouse=True)
def _here(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # pyright: ignore[reportUnusedFunction]
    monkeypatch.chdir(place)
    monkeypatch.setattr(train_module, "SEARCH", QUICK_SEARCH)
    monkeypatch.setattr(grid, "_BOUND_SEARCH", QUICK_SEARCH)
    monkeypatch.setattr(grid, "_HEAD_SEARCH", QUICK_SEARCH)


@pytest.fixture
def trained(place: Path, run: Run) -> Path:
    return train_checkpoints(place, run)


@pytest.mark.full
@pytest.mark.slow
def test_a_grid_of_modes_levels_dropouts_and_a_checkpoint(trained: Path, run: Run) -> None:
    options = ("--mode", "l1:1", "--mode", "l2:2", "--mode", "box:2", "-e", "4", "--word-dropout", "0.5", "--no-attack")
    code, out, err = run("grid", "heads.toml", *GRID, "-o", "runs.jsonl", *options)
    assert (code, out, err) == (0, "", "")
    lines = [json.loads(line) for line in (trained / "runs.jsonl").read_text().splitlines()]
    assert sorted(line["kind"] for line in lines) == ["baselines", *["bounds"] * 3, *["cell"] * 3]
    cells = {line["mode"]: line["levels"]["4"] for line in lines if line["kind"] == "cell"}
    assert cells["l2"]["delta_whole_text"] == 1e-6
    assert cells["box"]["epsilon_per_coordinate"] == 2.0
    assert all(cell["epsilon_per_word"] < 4 for cell in cells.values())
    assert (trained / "cache" / "features-test-dropout-0.5.safetensors").exists()
    before = (trained / "runs.jsonl").read_bytes()
    again = ("--together", "--checkpoint", "l1", "--checkpoint", "clean", *options)
    assert run("grid", "heads.toml", *GRID, "-o", "runs.jsonl", *again)[0] == 0
    after = (trained / "runs.jsonl").read_bytes()
    assert after.startswith(before)
    added = [json.loads(line) for line in after[len(before) :].splitlines()]
    assert [(line["kind"], line["name"]) for line in added] == [("checkpoint", "l1"), ("baseline", "clean")]


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (("-e", "quokka"), "recipe"),
        (("-e", "-1"), "recipe"),
        (("--word-dropout", "1"), "recipe"),
        (("--mode", "l3:2"), "recipe"),
        (("-o", "clean.toml"), "resume"),
    ],
)
def test_a_grid_that_cannot_be(trained: Path, run: Run, options: tuple[str, ...], code: str) -> None:
    before = (trained / "clean.toml").read_text()
    ended, out, err = run(*overridden(["grid", "heads.toml", *GRID, "-o", "none.jsonl"], options))
    assert (ended, out, err.split(": ")[1]) == (1, "", code)
    assert "quokka" not in err
    assert not (trained / "none.jsonl").exists()
    assert (trained / "clean.toml").read_text() == before
    assert run("grid", "clean.toml", *GRID, "-o", "none.jsonl")[0] == 1


@pytest.mark.parametrize("name", ["l3:2", "l1", "l1:", "l1:x", "l1:0", "l2:-1", "box:1", "l1:²"])
def test_modes_that_are_none(name: str) -> None:
    with pytest.raises(RecipeError):
        parse_mode(name)
