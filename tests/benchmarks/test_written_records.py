"""What each command writes is what the report reads: one run of each kind, as small as it can be."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import small_pretraining
from bounds import grid
from neighbor_models import write_bert
from report.dpnr import LABELS, read_grid
from report.records import FORMAT, RELEASE, SHARES, VERSION, read_runs
from textveil_training.dpnr import train as dpnr
from tiny_training import QUICK_SEARCH, private_recipe, recipe_text, sentences, write_encoder

Command = Callable[..., None]

END = "=" * 20


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("place")
    small_pretraining.write_all(folder)
    rows = [f"{label}\t{text}\t{number % 2}" for number, (label, text, _) in enumerate(sentences())]
    (folder / "rows.txt").write_text("\n".join([*rows, END] * 3) + "\n")
    texts = [f"{label}\t{text}\n" for label, text, _ in sentences()]
    (folder / "rows.tsv").write_text("".join(texts))
    write_bert(folder / "lm", sorted({word for _, text, _ in sentences() for word in text.split()}))
    write_encoder(folder / "encoders")
    recipes = {"clean": recipe_text(source=str(folder / "encoders" / "encoder"), num_epochs=1)}
    recipes["heads"] = private_recipe(tuned="false", num_epochs=0, placed_epochs=1, head_epochs=1)
    for name, recipe in recipes.items():
        (folder / f"{name}.toml").write_text(recipe.replace("ag-entities", "trustpilot"))
    return folder


@pytest.fixture
def command(place: Path, monkeypatch: pytest.MonkeyPatch, run: Callable[..., tuple[int, str, str]]) -> Command:
    """Runs a command in the folder, which must succeed."""
    monkeypatch.chdir(place)
    monkeypatch.setattr(dpnr, "SEARCH", QUICK_SEARCH)
    monkeypatch.setattr(grid, "_BOUND_SEARCH", QUICK_SEARCH)
    monkeypatch.setattr(grid, "_HEAD_SEARCH", QUICK_SEARCH)
    return lambda *arguments: _succeed(run(*arguments)[0])


def _succeed(code: int) -> None:
    assert code == 0


FINETUNE = ("--encoder", "encoders/encoder", "--max-tokens", 32, "--threads", 1, "--precision", "float32")


def test_fine_tunings_on_raw_and_on_sanitized_text_and_their_fairness(place: Path, command: Command) -> None:
    command("finetune", "rows.txt", "--format", "trustpilot", "-o", "raw", "--num-epochs", 1, *FINETUNE)
    options = ("-b", "bundle", "-m", "santext", "--sanitize-punctuation", "-q", "--workers", 1)
    command("sanitize-corpus", "rows.txt", "--format", "trustpilot", "-o", "sanitized", *options)
    command("finetune", "sanitized/rows.txt", "--format", "trustpilot", "-o", "private", "--frozen", *FINETUNE)
    runs = read_runs(place / "raw" / "record.json", place / "private" / "record.json")
    assert runs.mechanism.fillna("raw").tolist() == ["raw", "santext"]
    assert (runs["settings.num_epochs"][0], runs["settings.batch_size"][0]) == (1, 64)
    released = json.loads((place / "private" / "record.json").read_text())["release"]
    assert released["sanitize_punctuation"] is True
    assert RELEASE.keys() - {"releases", "tail"} <= released.keys()

    subject = ("sanitized/rows.txt", "--format", "trustpilot", "--model", "private", "--minimum", 2, "--threads", 1)
    command("fairness", *subject, "-o", "fairness.json")
    assert list(read_runs(place / "fairness.json").kind) == ["fairness"]


@pytest.mark.parametrize("raw", [True, False])
def test_a_pretraining(place: Path, raw: bool) -> None:
    small_pretraining.run(place, f"pretrained-{raw}", raw=raw, steps=2)
    path = place / f"pretrained-{raw}" / "record.json"
    assert read_runs(path).mechanism.fillna("raw").tolist() == ["raw" if raw else "santext"]
    record = json.loads(path.read_text())
    assert (record["measured_release"] or record["release"])["sanitize_punctuation"] is False


def test_attacks_on_text(place: Path, command: Command) -> None:
    options = ("--model", "lm", "--attacks", "nearest,mask", "--max-tokens", 32, "--precision", "float32")
    command("attack", "text", "rows.tsv", "--format", "tsv", "-b", "bundle", *options, "-o", "attack.json")
    runs = read_runs(place / "attack.json")
    assert (runs.mechanism[0], runs.model[0]) == ("santext+", "lm")
    figures = [name.rpartition(".")[2] for name in runs.columns if name.startswith("result.")]
    assert {"defense", "top1", "top10", "unchanged"} <= set(figures) & set(SHARES)


def test_a_private_representation_and_a_grid(place: Path, command: Command) -> None:
    options = ("--data", "rows.txt", "--start", "clean", "--features", "clean", "--threads", 1)
    command("dpnr", "clean.toml", "--data", "rows.txt", "-o", "clean", "--write-features", "--threads", 1)
    command("grid", "heads.toml", *options, "-o", "grid.jsonl", "--cache", "cache", "--mode", "l1:1", "-e", "4")
    record = json.loads((place / "clean" / "record.json").read_text())
    assert (record["format"], record["format_version"]) == (FORMAT, VERSION)
    assert {"num_epochs", "batch_size"} <= record["recipe"]["training"].keys()
    heads = read_grid(place / "grid.jsonl").heads
    assert heads.label_randomized_response.notna().all()
    assert heads.attack[0].keys() >= LABELS.keys()
