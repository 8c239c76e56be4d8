"""Recipes of fine-tuning and pretraining: whole files, names that exist, and commands that read them."""

import json
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from textveil_training.errors import RecipeError, SettingError
from textveil_training.finetune import settings as finetuning
from textveil_training.pretrain import settings as pretraining
from tiny_training import sentences, write_encoder

ROOT = Path(__file__).parents[2]
RECIPES = ROOT / "server_training" / "recipes"
READERS: dict[str, Callable[[Path], Any]] = {
    "finetune": finetuning.read_recipe,
    "pretrain": pretraining.read_recipe,
}
KIND = {path.stem: tomllib.loads(path.read_text(encoding="utf-8"))["kind"] for path in RECIPES.glob("*.toml")}
NAMED = {kind: sorted(name for name in KIND if KIND[name] == kind) for kind in (*READERS, "attack-text")}
Run = Callable[..., tuple[int, str, str]]


@pytest.mark.parametrize("name", [*NAMED["finetune"], *NAMED["pretrain"]])
def test_the_shipped_recipes(name: str) -> None:
    recipe = READERS[KIND[name]](RECIPES / f"{name}.toml")
    assert (recipe.name, recipe.kind) == (name, KIND[name])
    assert recipe.note
    assert recipe.runs


def test_what_recipes_name_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    monkeypatch.delitem(sys.modules, "nlp_recipes", raising=False)
    import nlp_recipes

    known, bundles = nlp_recipes.releases(), nlp_recipes.bundles()
    assert {release.bundle for release in known.values()} - {None} == set(bundles)
    used = set()
    for name in NAMED["finetune"]:
        cells: list[Any] = nlp_recipes.runs_of(name)
        assert len({cell.name for cell in cells}) == len(cells)
        used |= {cell.release.name for cell in cells if cell.release is not None}
        assert {cell.start for cell in cells} <= {"minilm", *NAMED["pretrain"]}
    for name in NAMED["attack-text"]:
        attacks: list[Any] = nlp_recipes.runs_of(name)
        used |= {attack.release.name for attack in attacks}
        assert {attack.runs.model for attack in attacks} <= set(NAMED["pretrain"])
    for name in NAMED["pretrain"]:
        recipe = pretraining.read_recipe(RECIPES / f"{name}.toml")
        used.add(recipe.runs.release)
        assert recipe.training.start in ("minilm", *NAMED["pretrain"])
    assert used == set(known)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('kind = "finetune"', 'kind = "pretrain"', "kind has a value that makes no sense here"),
        ("seeds = 3", 'seeds = "3"', "runs.seeds has a value of another type"),
        ("[[runs]]", "[runs]", "runs has a value of another type"),
    ],
)
def test_a_recipe_of_another_kind_or_type(tmp_path: Path, old: str, new: str, said: str) -> None:
    text = (RECIPES / "nlp-headline.toml").read_text(encoding="utf-8")
    assert old in text
    (tmp_path / "mine.toml").write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(RecipeError) as caught:
        finetuning.read_recipe(tmp_path / "mine.toml")
    assert str(caught.value) == f"mine.toml: {said}"


def test_a_setting_out_of_range(tmp_path: Path) -> None:
    text = (RECIPES / "nlp-headline.toml").read_text(encoding="utf-8")
    (tmp_path / "mine.toml").write_text(text.replace("batch_size = 64", "batch_size = 0"), encoding="utf-8")
    with pytest.raises(SettingError, match="batch_size"):
        finetuning.read_recipe(tmp_path / "mine.toml")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_encoder(tmp_path)
    (tmp_path / "rows.tsv").write_text("".join(f"{label}\t{text}\n" for label, text, _ in sentences()) * 3)
    (tmp_path / "rows.txt").write_text("".join(f"{text}\n" for _, text, _ in sentences()))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_fine_tuning_takes_its_settings_from_a_recipe_and_from_options(place: Path, run: Run) -> None:
    recipe = RECIPES / "nlp-table1.toml"
    common = ("--format", "tsv", "--encoder", "encoder", "--max-tokens", 32, "--precision", "float32", "--threads", 1)
    assert run("finetune", recipe, "--data", "rows.tsv", "-o", "frozen", *common)[0] == 0
    assert json.loads((place / "frozen" / "record.json").read_text())["settings"]["tuned"] is False
    recipe = RECIPES / "nlp-headline.toml"
    assert run("finetune", recipe, "--data", "rows.tsv", "-o", "tuned", "--seed", 3, *common)[0] == 0
    record = json.loads((place / "tuned" / "record.json").read_text())
    assert (record["format_version"], record["release"]) == (2, None)
    found = record["settings"]
    assert (found["num_epochs"], found["batch_size"], found["learning_rate"], found["seed"]) == (1, 64, 1e-4, 3)
    for arguments in ((recipe,), ("rows.tsv", "--data", "rows.tsv")):
        code, out, err = run("finetune", *arguments, "-o", "never", *common)
        assert (code, out, err.count("\n")) == (1, "", 1)
        assert "--data" in err
    assert not (place / "never").exists()


def test_a_pretraining_takes_its_settings_from_a_recipe(place: Path, run: Run) -> None:
    options = ("--start", "encoder", "--max-tokens", 32, "--steps", 2, "--held-out-percent", 20, "--threads", 1)
    data = ("--data", "rows.txt:text", "-o", "mlm", "--raw", "--precision", "float32")
    code, _, err = run("pretrain", RECIPES / "mlm-denoise.toml", *data, *options)
    assert (code, err) == (0, "")
    found = json.loads((place / "mlm" / "record.json").read_text())["settings"]
    assert (found["mask_probability"], found["unchanged_share"], found["learning_rate"]) == (0.3, 0.5, 3e-4)
    assert (found["batch_size"], found["steps"]) == (64, 2)
