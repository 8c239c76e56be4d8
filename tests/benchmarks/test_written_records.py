"""What each command writes is what the report reads: one run of each kind, as small as it can be."""

from collections.abc import Callable
from pathlib import Path

import pytest
import small_pretraining
from bounds import grid
from report.dpnr import LABELS, read_grid
from report.fairness import read_lines
from textveil_training.dpnr import train as dpnr
from tiny_training import QUICK_SEARCH, sentences, write_recipes

Command = Callable[..., None]

END = "=" * 20


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("place")
    small_pretraining.write_all(folder)
    write_recipes(folder, "trustpilot")
    rows = [f"{label}\t{text}\t{number % 2}" for number, (label, text, _) in enumerate(sentences())]
    (folder / "rows.txt").write_text("\n".join([*rows, END] * 3) + "\n")
    return folder


@pytest.fixture
def command(place: Path, monkeypatch: pytest.MonkeyPatch, run: Callable[..., tuple[int, str, str]]) -> Command:
    """Run a command in the folder; it must succeed."""
    monkeypatch.chdir(place)
    monkeypatch.setattr(dpnr, "SEARCH", QUICK_SEARCH)
    monkeypatch.setattr(grid, "_BOUND_SEARCH", QUICK_SEARCH)
    monkeypatch.setattr(grid, "_HEAD_SEARCH", QUICK_SEARCH)
    return lambda *arguments: _succeed(run(*arguments)[0])


def _succeed(code: int) -> None:
    assert code == 0


FINETUNE = ("--encoder", "encoder", "--max-tokens", 32, "--threads", 1, "--precision", "float32")


def test_fairness_of_a_fine_tuning(place: Path, command: Command) -> None:
    options = ("-b", "bundle", "-m", "santext", "-q", "--workers", 1)
    command("sanitize-corpus", "rows.txt", "--format", "trustpilot", "-o", "sanitized", *options)
    command("finetune", "sanitized/rows.txt", "--format", "trustpilot", "-o", "tuned", "--frozen", *FINETUNE)
    subject = ("sanitized/rows.txt", "--format", "trustpilot", "--model", "tuned", "--minimum", 2, "--threads", 1)
    command("fairness", *subject, "-o", "fairness.json")
    lines = read_lines(place / "fairness.json")
    assert len(lines) == 1
    assert 0 <= lines.accuracy.iloc[0] <= 1


def test_a_private_representation_and_a_grid(place: Path, command: Command) -> None:
    options = ("--data", "rows.txt", "--start", "clean", "--features", "clean", "--threads", 1)
    command("dpnr", "clean.toml", "--data", "rows.txt", "-o", "clean", "--write-features", "--threads", 1)
    command("grid", "heads.toml", *options, "-o", "grid.jsonl", "--cache", "cache", "--mode", "l1:1", "-e", "4")
    heads = read_grid(place / "grid.jsonl").heads
    assert heads.label_randomized_response.notna().all()
    assert heads.attack[0].keys() >= LABELS.keys()
