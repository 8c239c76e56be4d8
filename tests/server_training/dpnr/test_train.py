"""Training on made-up sentences learns, is interrupted and resumed, and refuses bad input by name."""

import json
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest
import torch
from interruption import ctrl_c
from safetensors.torch import load_file
from textveil.errors import TextveilError
from textveil_training.dpnr import train as train_module
from textveil_training.dpnr.checkpoint import read_checkpoint
from textveil_training.dpnr.classification_data import load_classification_task
from textveil_training.dpnr.losses import EncodedSplit, StageBuilder
from textveil_training.dpnr.recipe import RepresentationRecipe, read_recipe
from textveil_training.dpnr.train import RepresentationRunOptions, train_representation
from textveil_training.dpnr.training_noise import TrainingNoise
from textveil_training.engine import loop
from textveil_training.engine.run import STATE
from textveil_training.engine.stage import OptimizerUpdate
from textveil_training.engine.tokens import EncoderTokenizer
from textveil_training.errors import CheckpointError, DeviceError, EmptyClass, MissingLabel
from tiny_training import QUICK_SEARCH, private_recipe, recipe_text, write_data, write_encoder


@pytest.fixture(autouse=True)
def _quick_search(monkeypatch: pytest.MonkeyPatch) -> None:  # pyright: ignore[reportUnusedFunction]
    monkeypatch.setattr(train_module, "SEARCH", QUICK_SEARCH)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the data, an encoder, and a finished training without privacy."""
    torch.set_num_threads(1)
    folder = tmp_path_factory.mktemp("place")
    write_data(folder)
    write_encoder(folder)
    run(folder, recipe_text(source=str(folder / "encoder")), "clean", write_features=True)
    return folder


def recipe_of(place: Path, text: str) -> RepresentationRecipe:
    path = place / "recipe.toml"
    path.write_text(text, encoding="utf-8")
    return read_recipe(path)


def run(
    place: Path, text: str, name: str, report: Callable[[str, int, int], None] | None = None, **options: object
) -> Path:
    recipe = recipe_of(place, text)
    task = load_classification_task(recipe.data, place / "sentences.txt")
    chosen = RepresentationRunOptions(place / name, **options)  # type: ignore[arg-type]
    train_representation(recipe, task, chosen, *([] if report is None else [report]))
    return place / name


def private(place: Path, name: str, report: Callable[[str, int, int], None] | None = None, **values: object) -> Path:
    return run(place, private_recipe(**values), name, report, start=place / "clean")


@pytest.mark.slow
def test_twenty_steps_lower_the_loss_and_reach_every_layer_of_the_encoder(place: Path) -> None:
    recipe = recipe_of(place, private_recipe(dropout=0.0, levels='"4"'))
    task = load_classification_task(recipe.data, place / "sentences.txt")
    model, _ = read_checkpoint(run(place, private_recipe(num_epochs=1), "fresh", start=place / "clean"))
    tokenizer = EncoderTokenizer(place / "encoder" / "vocab.txt", lowercase=True, max_tokens=32)
    words = [tokenizer.split_into_pieces(text) for text in task.train.texts]
    texts = EncodedSplit(model, tokenizer, task.train, words, recipe, torch.device("cpu"))
    stage = StageBuilder(model, recipe, TrainingNoise("l1", 2, [4])).build_tuned(texts, texts, 1)
    update, everything = stage.updates[0], torch.arange(len(words))

    def loss() -> float:
        torch.manual_seed(1)
        return sum(update.loss(everything).item() for _ in range(20)) / 20

    before = loss()
    for step in range(20):
        torch.manual_seed(100 + step)
        update.optimizer.zero_grad()
        update.loss(everything).backward()
        for name, parameter in model.named_parameters():
            # A key's bias moves all scores of a softmax alike.
            if "position" not in name and not name.endswith("key.bias"):
                assert parameter.grad is not None, name
                assert float(parameter.grad.abs().max()) > 0, name
        update.optimizer.step()
    assert loss() < before - 0.1


@pytest.mark.full
@pytest.mark.slow
@pytest.mark.parametrize(
    "values",
    [
        {"placed_epochs": 2, "head_epochs": 2, "num_epochs": 2},
        pytest.param(
            {"placed_epochs": 2, "tuned": "false", "num_epochs": 0, "mode": "l2", "delta": "1e-3"},
            marks=pytest.mark.full,
        ),
        {"num_epochs": 2, "mode": "box", "dimension": 3, "head_hidden": 0, "word_dropout": "0.3"},
    ],
)
def test_an_interrupted_run_goes_on_to_the_same_result(place: Path, tmp_path: Path, values: dict[str, Any]) -> None:
    names = [tmp_path.name + end for end in ("-whole", "-broken")]
    whole = private(place, names[0], **values)
    steps = count(1)
    interrupt = ctrl_c(lambda stage, done, total: stage != "features" and next(steps) % 3 == 2)
    broken, interrupted = place / names[1], 0
    while True:
        try:
            run(place, private_recipe(**values), names[1], interrupt, start=place / "clean", resume=interrupted > 0)
        except KeyboardInterrupt:
            interrupted += 1
            assert (broken / STATE).is_file()
        else:
            break
    assert interrupted >= 2
    assert not (broken / STATE).exists()
    assert json.loads((broken / "record.json").read_text())["resumed"] == interrupted
    for name in ("extractor/model.safetensors", "head.safetensors", "classifier.safetensors"):
        assert (broken / name).read_bytes() == (whole / name).read_bytes()
    histories = [json.loads((folder / "record.json").read_text())["epochs"] for folder in (whole, broken)]
    for epochs in zip(*histories, strict=True):
        first, second = ({k: v for k, v in epoch.items() if not k.endswith("_s")} for epoch in epochs)
        assert first == second


@pytest.mark.full
@pytest.mark.slow
def test_a_run_that_broke_down_goes_on_from_its_last_state(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop, "SAVE_EVERY_S", 0.0)
    whole = private(place, "sound", placed_epochs=1, num_epochs=2)
    for breakdown in (2, 5, 9):  # in the placed stage, at the end of an epoch, after it
        name, steps = f"breakdown-{breakdown}", 0

        def report(stage: str, done: int, total: int, breakdown: int = breakdown) -> None:
            nonlocal steps
            steps += stage != "features"
            if steps == breakdown:
                raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            private(place, name, report, placed_epochs=1, num_epochs=2)
        run(place, private_recipe(placed_epochs=1, num_epochs=2), name, start=place / "clean", resume=True)
        for file in ("extractor/model.safetensors", "head.safetensors", "classifier.safetensors"):
            assert (place / name / file).read_bytes() == (whole / file).read_bytes()


def test_an_interruption_of_the_last_measurement_costs_no_training(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(train_module, "measure_accuracy", stop)
        with pytest.raises(KeyboardInterrupt):
            private(place, "unmeasured")
    record = place / "unmeasured" / "record.json"
    before = json.loads(record.read_text())
    assert (before["finished"], before["result"]) == (None, None)

    def refuse(stage: str, done: int, total: int) -> None:
        assert stage == "features"

    run(place, private_recipe(), "unmeasured", refuse, start=place / "clean", resume=True)
    after = json.loads(record.read_text())
    assert after["epochs"] == before["epochs"]
    assert set(after["result"]) == {"dev", "test"}
    assert not (place / "unmeasured" / STATE).exists()


def test_the_record_tells_everything_and_no_text(place: Path) -> None:
    folder = private(place, "recorded", placed_epochs=1, num_epochs=1)
    text = (folder / "record.json").read_text()
    record = json.loads(text)
    assert record["recipe"]["training"]["seed"] == 3
    assert record["data"]["train"]["examples"] == 28
    assert record["data"]["train"]["classes"] == [12, 12, 2, 2]
    assert [epoch["stage"] for epoch in record["epochs"]] == ["placed", "tuned"]
    assert set(record["result"]["test"]["levels"]) == {"1", "8"}
    assert record["result"]["dev"]["majority"] == 0.5
    assert record["finished"] >= record["begun"]
    assert record["software"]["torch"] in (torch.__version__, torch.__version__.partition("+")[0])
    assert record["wall_s"] >= 0
    assert not any(word in text for word in ("onions", "thunder", "garlic"))


def test_frozen_features_leave_the_encoder_as_it_was(place: Path) -> None:
    folder = run(
        place,
        private_recipe(tuned="false", num_epochs=0, placed_epochs=3),
        "frozen",
        start=place / "clean",
        features=place / "clean",
    )
    weights = [load_file(path / "extractor" / "model.safetensors") for path in (folder, place / "clean")]
    assert all(torch.equal(tensor, weights[1][name]) for name, tensor in weights[0].items())
    tuned = load_file(private(place, "tuned", num_epochs=1) / "extractor" / "model.safetensors")
    assert any(not torch.equal(tensor, weights[1][name]) for name, tensor in tuned.items())


def test_a_start_trained_under_noise_brings_its_head(place: Path) -> None:
    first = private(place, "first", placed_epochs=1, num_epochs=1)
    text = private_recipe(head_epochs=1, tuned="false", num_epochs=0).replace(
        "head_learning_rate = 1e-2", "head_learning_rate = 1e-9"
    )
    second = run(place, text, "second", start=first)
    heads = [load_file(folder / "head.safetensors") for folder in (first, second)]
    assert all(torch.allclose(heads[0][name], heads[1][name], atol=1e-6) for name in heads[0])


ADVERSARY = "\n[adversary]\nhidden = 8\nlearning_rate = 1e-2\nweight = 5.0\n"


def test_adversarial_training_leaves_a_record_and_a_checkpoint(place: Path) -> None:
    text = recipe_text(kind="adversarial", num_epochs=2) + ADVERSARY
    folder = run(place, text, "adversarial", start=place / "clean")
    record = json.loads((folder / "record.json").read_text())
    assert [epoch["stage"] for epoch in record["epochs"]] == ["adversarial"] * 2
    assert record["recipe"]["adversary"]["hidden"] == 8
    assert read_checkpoint(folder)[1].mode == "none"


def test_the_attacker_learns_the_attributes_and_the_encoder_turns_it_round(place: Path) -> None:
    recipe = recipe_of(place, recipe_text(kind="adversarial", dropout=0.0) + ADVERSARY)
    task = load_classification_task(recipe.data, place / "sentences.txt")
    model, _ = read_checkpoint(place / "clean")
    tokenizer = EncoderTokenizer(place / "encoder" / "vocab.txt", lowercase=True, max_tokens=32)
    words = [tokenizer.split_into_pieces(text) for text in task.train.texts]
    texts = EncodedSplit(model, tokenizer, task.train, words, recipe, torch.device("cpu"))
    stage = StageBuilder(model, recipe, None).build_adversarial(texts, texts, 1)
    defend, attack = stage.updates
    everything = torch.arange(len(words))

    def take(update: OptimizerUpdate, steps: int) -> None:
        for _ in range(steps):
            loss = update.loss(everything)
            update.optimizer.zero_grad()
            loss.backward()
            update.optimizer.step()

    before = attack.loss(everything).item()
    take(attack, 60)
    informed = attack.loss(everything).item()
    take(defend, 20)
    assert informed < before - 0.1
    assert attack.loss(everything).item() > informed + 0.1


@pytest.mark.parametrize(
    ("error", "text", "options"),
    [
        (CheckpointError, private_recipe(source="/nowhere/at/all"), {}),
        (DeviceError, private_recipe(), {"start": "clean", "device": "cuda:77"}),
        (
            CheckpointError,
            private_recipe(num_epochs=0, tuned="false", placed_epochs=1),
            {"start": "clean", "features": "."},
        ),
    ],
)
def test_what_cannot_start_says_so(place: Path, error: type[TextveilError], text: str, options: dict[str, Any]) -> None:
    paths: dict[str, Any] = {key: place / options[key] for key in ("start", "features") if key in options}
    with pytest.raises(error) as caught:
        run(place, text, "never", **{**options, **paths})
    assert "\n" not in str(caught.value)
    assert not (place / "never" / "checkpoint.json").exists()


def test_a_folder_with_a_checkpoint_is_not_overwritten(place: Path) -> None:
    with pytest.raises(CheckpointError, match="--resume"):
        run(place, recipe_text(source=str(place / "encoder")), "clean")


def test_a_start_of_another_architecture(place: Path) -> None:
    wide = private(place, "wide", dimension=3, num_epochs=1)
    with pytest.raises(CheckpointError, match="another mode, dimension or head than the recipe: pass"):
        run(place, private_recipe(), "narrow", start=wide)
    with pytest.raises(CheckpointError, match="placed_epochs needs --start with a checkpoint trained without noise"):
        run(place, private_recipe(dimension=3, placed_epochs=1), "narrow", start=wide)


def test_a_class_without_training_examples(place: Path, tmp_path: Path) -> None:
    lines = (place / "sentences.txt").read_text().splitlines()
    path = tmp_path / "less.txt"
    path.write_text("\n".join(line for line in lines if not line.startswith("3")) + "\n")
    with pytest.raises(EmptyClass, match="class 4 of 4"):
        load_classification_task(recipe_of(place, recipe_text()).data, path)


def test_texts_without_labels_and_classes_that_training_has_not(place: Path, tmp_path: Path) -> None:
    folder = tmp_path / "film"
    folder.mkdir()
    rows = "".join(f"film {number} is good\t1\nfilm {number} is bad\t0\n" for number in range(60))
    (folder / "train.tsv").write_text("sentence\tlabel\n" + rows)
    (folder / "dev.tsv").write_text("sentence\tlabel\nfine\t1\n")
    text = recipe_text().replace('"ag-entities"', '"sst2"').replace('dev = "dev"', 'dev = "train"')
    text = text.replace('test = "test"', 'test = "dev"').replace("dev_percent = 0", "dev_percent = 25")
    task = load_classification_task(recipe_of(place, text).data, folder)
    sizes = [len(part.texts) for part in task.get_splits().values()]
    assert (sum(sizes[:2]), sizes[2]) == (120, 1)
    assert 10 < sizes[1] < 50
    assert not set(task.train.texts) & set(task.dev.texts)
    (folder / "train.tsv").write_text("sentence\tlabel\nfilm\t\n")
    with pytest.raises(MissingLabel):
        load_classification_task(recipe_of(place, text).data, folder)


def test_a_start_that_the_recipe_has_no_use_for_is_refused(place: Path) -> None:
    with pytest.raises(CheckpointError, match="this recipe does not start from a checkpoint: omit --start"):
        run(place, recipe_text(source=str(place / "encoder")), "started", start=place / "clean")
