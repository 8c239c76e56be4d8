"""Grids of private representations on made-up features: lines, bounds, resuming, and detected faults."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from bounds import grid as grid_module
from bounds.channels import ceiling, reference
from bounds.figures import private_figures
from bounds.grid import Cell, Grid, read_lines
from textveil_training.attacks.vectors.attribute_inference import AttributeAttackSettings
from textveil_training.dpnr import accuracy
from textveil_training.dpnr.classification_data import ClassificationTask, ClassifiedSplit
from textveil_training.dpnr.code_search import CodeSearchSettings, search_codes
from textveil_training.dpnr.networks import RepresentationClassifier
from textveil_training.dpnr.noise_heads import replace_representation, train_head
from textveil_training.dpnr.recipe import RepresentationRecipe, read_recipe
from tiny_training import private_recipe

SIZES = {"train": 600, "dev": 300, "test": 500}
WIDTH = 6
FROZEN = {"tuned": "false", "dropout": 0.0, "num_epochs": 0, "placed_epochs": 8, "head_epochs": 2}


def split(size: int, seed: int) -> tuple[ClassifiedSplit, torch.Tensor]:
    """Two classes, told apart by the first feature in nine of ten texts, and an attribute that goes with the class."""
    generator = np.random.default_rng(seed)
    labels = generator.choice(2, size, p=[0.6, 0.4])
    features = generator.normal(size=(size, WIDTH)).astype(np.float32)
    features[:, 0] += 2.6 * labels - 1.3
    attributes = np.stack([generator.random(size) < 0.3 + 0.4 * labels, generator.random(size) < 0.5], axis=1)
    found = ClassifiedSplit(
        texts=("",) * size,
        labels=torch.from_numpy(labels),
        attributes=torch.from_numpy(attributes.astype(np.float32)),
        sha256=str(seed),
    )
    return found, torch.from_numpy(features)[None]


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:  # pyright: ignore[reportUnusedFunction]
    """Codes are looked for briefly; nothing here asks for the best ones."""
    quick = CodeSearchSettings(restarts=1, steps=20, draws=128, fresh_draws=2048)
    monkeypatch.setattr(grid_module, "_BOUND_SEARCH", quick)
    monkeypatch.setattr(grid_module, "_HEAD_SEARCH", quick)


@pytest.fixture(scope="module")
def task() -> ClassificationTask:
    return ClassificationTask(labels=("0", "1"), **{name: split(size, size)[0] for name, size in SIZES.items()})


@pytest.fixture(scope="module")
def features() -> dict[str, torch.Tensor]:
    return {name: split(size, size)[1] for name, size in SIZES.items()}


@pytest.fixture(scope="module")
def clean() -> RepresentationClassifier:
    classifier = RepresentationClassifier(WIDTH, 0, 2)
    with torch.no_grad():
        classifier.out.weight.zero_()[1, 0] = 1.0
        classifier.out.bias.zero_()
    return classifier


@pytest.fixture
def recipe(tmp_path: Path) -> RepresentationRecipe:
    path = tmp_path / "small.toml"
    path.write_text(private_recipe(dimension=1, head_hidden=0, **FROZEN))
    return read_recipe(path)


def grid(
    recipe: RepresentationRecipe,
    task: ClassificationTask,
    features: dict,
    clean: RepresentationClassifier,
    output: Path,
    attack: bool = True,
) -> Grid:
    settings = AttributeAttackSettings(hidden=8, num_epochs=1, draws=1) if attack else None
    return Grid(recipe, task, lambda _: features, clean, output, settings)


@pytest.mark.full
def test_lines_of_a_grid(
    recipe: RepresentationRecipe,
    task: ClassificationTask,
    features: dict,
    clean: RepresentationClassifier,
    tmp_path: Path,
) -> None:
    output = tmp_path / "runs.jsonl"
    cells = [
        Cell(mode="l1", dimension=1, levels=("2",)),
        Cell(mode="l1", dimension=1, levels=("2", "6"), word_dropout="0.5", seed=1),
    ]
    grid(recipe, task, features, clean, output).run(cells)
    lines = read_lines(output)
    kinds = [line["kind"] for line in lines.values()]
    assert sorted(kinds) == ["baselines", "bounds", "bounds", "bounds", "cell", "cell"]
    first = lines["baselines"]
    assert 0.85 < first["clean"]["accuracy"] < 0.95
    assert first["majority"]["accuracy"] == pytest.approx(np.mean(task.test.labels.numpy() == 0))
    assert first["majority"]["attack"]["auc"] == 0.5
    bounds = lines["bounds l1 2  0"]
    prior = np.bincount(task.test.labels.numpy())
    assert bounds["ceiling"] == ceiling(prior, 2.0)
    confusion = np.array(first["clean"]["confusion"])
    assert bounds["reference"] == pytest.approx(reference(confusion, 2.0))
    assert bounds["placed"]["accuracies"][0] < bounds["reference"] < bounds["ceiling"]
    one, both = (line for line in lines.values() if line["kind"] == "cell")
    for line, level in ((one, "2"), (both, "2"), (both, "6")):
        found = line["levels"][level]
        assert found["epsilon_whole_text"] == float(level)
        assert not found["exceeds_ceiling"]
        assert found["accuracy"] > 0.9 * lines[f"bounds l1 {level}  {line['word_dropout']}"]["placed"]["accuracies"][0]
        assert np.sum(found["confusion"]) == pytest.approx(SIZES["test"], abs=0.1)
        assert found["attack"]["vectors"]["auc"] > 0.3
    assert one["levels"]["2"]["epsilon_per_word"] == 2.0
    assert both["levels"]["2"]["epsilon_per_word"] == pytest.approx(np.log(0.5 * np.exp(2) + 0.5))
    part = one["levels"]["2"]["by_attribute"][0]
    texts = part["texts_present"], part["texts_absent"]
    assert np.average([part["present"], part["absent"]], weights=texts) == pytest.approx(one["levels"]["2"]["accuracy"])


@pytest.mark.full
def test_a_grid_is_taken_up_where_it_was(
    recipe: RepresentationRecipe,
    task: ClassificationTask,
    features: dict,
    clean: RepresentationClassifier,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    output = tmp_path / "runs.jsonl"
    grid(recipe, task, features, clean, output, attack=False).run([Cell(mode="l1", dimension=1, levels=("2",))])
    before = output.read_text()
    calls: list[str] = []
    monkeypatch.setattr(Grid, "_cell", lambda self, cell: calls.append(cell.levels[0]) or {"kind": "cell"})
    monkeypatch.setattr(Grid, "_bounds", lambda self, cell, level: {"kind": "bounds"})
    again = grid(recipe, task, features, clean, output, attack=False)
    again.run([Cell(mode="l1", dimension=1, levels=("2",)), Cell(mode="l1", dimension=1, levels=("3",))])
    assert calls == ["3"]
    assert output.read_text().startswith(before)
    assert "attack" not in json.loads(before.splitlines()[0])["clean"]


@pytest.mark.slow
def test_too_little_noise_is_told(
    recipe: RepresentationRecipe,
    task: ClassificationTask,
    features: dict,
    clean: RepresentationClassifier,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A release with a sixteenth of the noise exceeds the ceiling of its level, and its line reports that."""
    chosen = replace_representation(
        recipe, levels=("1",), seed=3
    )  # with few passes not every head tells the classes apart
    placement = search_codes(
        np.eye(2), [1.0], 1, search=CodeSearchSettings(restarts=1, steps=20, draws=64, fresh_draws=64)
    )
    head = train_head(chosen, task, features, clean, placement)
    bound = ceiling(np.bincount(task.test.labels.numpy()), 1.0)

    def exceeds() -> bool:
        found = private_figures(head.model, head.description, features, task, "1", bound)
        return found["exceeds_ceiling"]

    assert not exceeds()
    honest = accuracy.make_release_parameters
    monkeypatch.setattr(accuracy, "make_release_parameters", lambda description, level: honest(description, "16"))
    assert exceeds()


@pytest.mark.full
def test_a_seed_gives_the_same_head(
    recipe: RepresentationRecipe, task: ClassificationTask, features: dict, clean: RepresentationClassifier
) -> None:
    placement = search_codes(
        np.eye(2), [4.0], 1, search=CodeSearchSettings(restarts=1, steps=20, draws=64, fresh_draws=64)
    )
    heads = [
        train_head(replace_representation(recipe, seed=seed), task, features, clean, placement) for seed in (0, 0, 1)
    ]
    weights = [head.model.classifier.out.weight for head in heads]
    assert torch.equal(weights[0], weights[1])
    assert not torch.equal(weights[0], weights[2])
    assert replace(heads[0].description, levels=()) == replace(heads[2].description, levels=())
    assert heads[0].dev > 0.7
