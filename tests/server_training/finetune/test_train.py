"""Fine-tuning on raw and sanitized text learns, is interrupted and resumed, and refuses bad input by name."""

import json
import random
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
import torch
from interruption import ctrl_c
from safetensors.torch import load_file, save_file
from textveil.bundle import find_artifact
from textveil.text.options import Options
from textveil_cli.errors import ResumeError
from textveil_training.corpus import sanitize_corpus
from textveil_training.data.corpus_release import compute_seal, read_release_terms
from textveil_training.engine.run import RunOptions
from textveil_training.engine.tokens import EncoderTokenizer
from textveil_training.errors import CheckpointError, InvalidScore, ReleaseMismatch, SettingError
from textveil_training.file_hashes import hash_file
from textveil_training.finetune.features import compute_pearson, fit_head, join_texts
from textveil_training.finetune.finetuning_data import FinetuningSplit, FinetuningTask, load_finetuning_task
from textveil_training.finetune.measure import measure_scores, predict
from textveil_training.finetune.settings import FinetuningSettings
from textveil_training.finetune.train import finetune
from textveil_training.progress import ProgressCallback, ignore_progress
from tiny_training import made_up, write_encoder


def settings(encoder: Path, **values: Any) -> FinetuningSettings:
    chosen = {"num_epochs": 4, "batch_size": 8, "learning_rate": 1e-2, "dropout": 0.0, "max_tokens": 32}
    return FinetuningSettings(encoder=str(encoder), precision="float32", **(chosen | values))


def divided(texts: list[tuple[str, ...]], targets: torch.Tensor, labels: tuple[str, ...]) -> FinetuningTask:
    cut = {"train": slice(0, 160), "dev": slice(160, 180), "test": slice(180, 220)}
    parts = {
        n: FinetuningSplit(
            texts=tuple(texts[part]), targets=targets[part], attributes=torch.zeros(len(targets[part]), 0), sha256=n
        )
        for n, part in cut.items()
    }
    return FinetuningTask(labels, len(texts[0]) == 2, parts)


def classes(labels: list[int] | None = None) -> FinetuningTask:
    chance = random.Random(2)
    kinds = [row % 2 for row in range(220)]
    texts: list[tuple[str, ...]] = [(made_up(kind, chance),) for kind in kinds]
    return divided(texts, torch.tensor(kinds if labels is None else labels), ("weather", "kitchen"))


def pairs() -> FinetuningTask:
    """Score 5 where the second sentence is about the weather, 1 where it is not; the first does not matter."""
    chance = random.Random(5)
    kinds = [(chance.randrange(2), chance.randrange(2)) for _ in range(220)]
    texts = [tuple(made_up(kind, chance) for kind in row) for row in kinds]
    return divided(texts, torch.tensor([1.0 + 4 * (second == 0) for _, second in kinds]), ())


def tuned(
    chosen: FinetuningSettings, task: FinetuningTask, place: RunOptions, report: ProgressCallback = ignore_progress
) -> dict[str, Any]:
    return finetune(chosen, task, {"data": task.describe("tsv"), "release": None}, place, report)


@pytest.mark.slow
@pytest.mark.parametrize("learns", [True, False], ids=["tuned", "frozen"])
def test_classes_are_learned_and_predicted_alike(encoder: Path, tmp_path: Path, learns: bool) -> None:
    task = classes()
    record = tuned(settings(encoder, tuned=learns), task, RunOptions(tmp_path / "model"))
    found = record["result"]["test"]
    assert found["accuracy"] >= 0.8
    assert found["majority"] == 0.5
    logits, description = predict(tmp_path / "model", task.splits["test"].texts)
    right = (logits.argmax(-1) == task.splits["test"].targets).double().mean().item()
    assert right == found["accuracy"]
    assert description.labels == ("weather", "kitchen")
    assert (tmp_path / "model" / "encoder").exists() == learns


def test_labels_without_meaning_are_not_learned(encoder: Path, tmp_path: Path) -> None:
    """The figure is of the test rows, not of what was trained on: labels by coin give a coin's accuracy there."""
    chance = random.Random(11)
    accuracies = []
    for number in range(4):
        labels = [chance.randrange(2) for _ in range(220)]
        record = tuned(settings(encoder, seed=number, tuned=False), classes(labels), RunOptions(tmp_path / str(number)))
        accuracies.append(record["result"]["test"]["accuracy"])
    assert 0.3 <= sum(accuracies) / 4 <= 0.7


@pytest.mark.full
@pytest.mark.slow
@pytest.mark.parametrize("learns", [True, False], ids=["tuned", "frozen"])
def test_scores_of_pairs_are_learned(encoder: Path, tmp_path: Path, learns: bool) -> None:
    record = tuned(settings(encoder, tuned=learns), pairs(), RunOptions(tmp_path / "model"))
    found = record["result"]["test"]
    assert found["pearson"] > (0.6 if learns else 0.4)
    assert 0 <= found["mse"] < 4
    assert record["data"]["target"] == "score"
    scores, _ = predict(tmp_path / "model", pairs().splits["test"].texts)
    assert measure_scores(scores[:, 0], pairs().splits["test"].targets)["pearson"] == pytest.approx(found["pearson"])
    with pytest.raises(CheckpointError, match="single texts and the model needs pairs, or the reverse: use data like"):
        predict(tmp_path / "model", [("one",)])


@pytest.mark.slow
@pytest.mark.parametrize("learns", [True, False], ids=["tuned", "frozen"])
def test_measuring_a_split_reports_progress(encoder: Path, tmp_path: Path, learns: bool) -> None:
    steps: dict[str, list[tuple[int, int]]] = {}

    def report(stage: str, done: int, total: int) -> None:
        steps.setdefault(stage.partition("\t")[0], []).append((done, total))

    tuned(settings(encoder, num_epochs=1, tuned=learns), classes(), RunOptions(tmp_path / "model"), report)

    assert steps["measure dev"][-1] == (20, 20)
    assert steps["measure test"][-1] == (40, 40)


@pytest.mark.full
@pytest.mark.slow
def test_an_interrupted_run_goes_on_to_the_same_result(encoder: Path, tmp_path: Path) -> None:
    chosen, task = settings(encoder, num_epochs=3, dropout=0.1), classes()
    whole = tuned(chosen, task, RunOptions(tmp_path / "whole"))
    broken = RunOptions(tmp_path / "broken")
    with pytest.raises(KeyboardInterrupt):
        tuned(chosen, task, broken, ctrl_c(lambda stage, done, total: done == 4))
    with pytest.raises(CheckpointError, match="--resume"):
        tuned(chosen, task, broken)
    with pytest.raises(ResumeError):
        tuned(settings(encoder, num_epochs=3, dropout=0.1, seed=9), task, RunOptions(broken.output, resume=True))
    record = tuned(chosen, task, RunOptions(broken.output, resume=True))
    assert record["result"] == whole["result"]
    assert record["resumed"] == 1
    heads = [(folder / "head.safetensors").read_bytes() for folder in (broken.output, tmp_path / "whole")]
    assert heads[0] == heads[1]
    assert not (broken.output / "unfinished.safetensors").exists()


def test_another_encoder_in_the_same_place_is_refused(tmp_path: Path) -> None:
    place = write_encoder(tmp_path)
    tuned(settings(place, tuned=False), classes(), RunOptions(tmp_path / "model"))
    (tmp_path / "other").mkdir()
    other = write_encoder(tmp_path / "other", layers=2)
    place.rename(tmp_path / "gone")
    other.rename(place)
    with pytest.raises(CheckpointError, match="not the one of the fine-tuned model: restore it, or fine-tune again"):
        predict(tmp_path / "model", [("rain",)])


def test_two_texts_are_one_sequence_cut_from_the_longer(encoder: Path) -> None:
    tokenizer = EncoderTokenizer(encoder / "vocab.txt", lowercase=True, max_tokens=10)
    whole = join_texts(tokenizer, ["cold rain", "warm"])
    assert whole.types.tolist() == [0, 0, 0, 0, 1, 1]
    assert whole.pieces[0] == tokenizer.first
    assert [whole.pieces[3], whole.pieces[5]] == [tokenizer.last, tokenizer.last]
    cut = join_texts(tokenizer, ["rain " * 20, "cold warm"])
    assert cut.types.tolist() == [0] * 7 + [1] * 3
    both = join_texts(tokenizer, ["rain " * 20, "cold " * 30])
    assert both.types.tolist().count(1) in (4, 5)
    assert len(both.pieces) == 10
    assert len(join_texts(tokenizer, ["rain " * 20]).pieces) == 10
    assert len(join_texts(tokenizer, ["", ""]).pieces) == 3


def test_a_linear_model_has_its_standardization_inside() -> None:
    torch.manual_seed(1)
    features = torch.randn(200, 3) * torch.tensor([1.0, 10.0, 0.1]) + torch.tensor([0.0, 5.0, -2.0])
    targets = (features[:, 1] > 5).long()
    head = fit_head(features[:150], targets[:150], features[150:], targets[150:], 2)
    assert (head(features).argmax(-1) == targets).double().mean() > 0.95
    scores = 3 * features[:, 2] + 7
    ridge = fit_head(features[:150], scores[:150], features[150:], scores[150:], 0)
    assert torch.allclose(ridge(features)[:, 0], scores, atol=0.01)


def test_pearson_of_a_constant_is_nothing() -> None:
    one = torch.ones(4).double().numpy()
    other = torch.arange(4).double().numpy()
    assert compute_pearson(one, other) == 0
    assert compute_pearson(other, -other) == pytest.approx(-1)
    assert measure_scores(torch.tensor([1.0, 2, 3, 100]), torch.tensor([1.0, 2, 3, 4]))["spearman"] == pytest.approx(1)


def test_rows_are_divided_by_their_number_alone(tmp_path: Path) -> None:
    raw, sanitized = tmp_path / "raw.tsv", tmp_path / "sanitized.tsv"
    raw.write_text("".join(f"{row % 2}\traw {row}\n" for row in range(300)))
    sanitized.write_text("".join(f"{row % 2}\tveiled {row}\n" for row in range(300)))
    numbers = [
        {
            name: [text.split()[1] for (text,) in rows.texts]
            for name, rows in load_finetuning_task("tsv", path).splits.items()
        }
        for path in (raw, sanitized)
    ]
    assert numbers[0] == numbers[1]
    assert sorted(chain.from_iterable(numbers[0].values()), key=int) == [str(row) for row in range(300)]
    some = [load_finetuning_task("tsv", path, train_examples=40).splits["train"].texts for path in (raw, sanitized)]
    assert len(some[0]) == 40
    assert [text.split()[1] for (text,) in some[0]] == [text.split()[1] for (text,) in some[1]]


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """SST-2 through krr in two copies, as ``sanitize-corpus`` writes it."""
    (tmp_path / "raw").mkdir()
    for name in ("train.tsv", "dev.tsv"):
        rows = "".join(f"a {name[0]} film\t{label}\n" for label in (0, 1) for _ in range(3))
        (tmp_path / "raw" / name).write_text("sentence\tlabel\n" + rows)
    options: Options = {"mechanism": "krr", "epsilon": "1"}
    bundle = find_artifact("english-santext")
    sanitize_corpus(
        [tmp_path / "raw"], tmp_path / "sanitized", "sst2", options=options, bundle=bundle, copies=2, workers=1
    )
    return tmp_path / "sanitized"


def test_the_release_of_a_sanitized_corpus_is_found(corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = read_release_terms("sst2", corpus / "copy-1")
    assert found is not None
    assert (found["mechanism"], found["epsilon"], found["releases"]) == ("krr", 1.0, 1)
    assert (
        found
        == read_release_terms("sst2", corpus / "copy-2")
        == read_release_terms("sst2", corpus / "copy-2" / "train.tsv")
    )
    assert read_release_terms("sst2", corpus.parent / "raw") is None
    (corpus / "copy-1" / "record.json").write_text("{}")
    assert read_release_terms("sst2", corpus / "copy-1") == found, "a record of something else is passed over"
    monkeypatch.chdir(corpus / "copy-2")
    assert read_release_terms("sst2", Path()) == found == read_release_terms("sst2", Path("train.tsv"))


def test_raw_text_beside_a_record_is_not_taken_for_sanitized(corpus: Path) -> None:
    raw = corpus.parent / "raw"
    (corpus / "copy-1" / "train.tsv").write_bytes((raw / "train.tsv").read_bytes())
    with pytest.raises(
        ReleaseMismatch,
        match=(
            "a file differs from the record that sanitize-corpus wrote in this folder or above it, so its privacy "
            "is unknown: restore the file, or, if it is raw text, move it to a folder without that record"
        ),
    ):
        read_release_terms("sst2", corpus / "copy-1")
    assert read_release_terms("sst2", corpus / "copy-1" / "dev.tsv") is not None
    (corpus / "copy-2" / "more.tsv").write_text("sentence\tlabel\nraw\t1\n")
    assert read_release_terms("sst2", corpus / "copy-2") is not None, "a file that the format does not read is nobody's"
    with pytest.raises(ReleaseMismatch):
        read_release_terms("sst2", corpus / "copy-2" / "more.tsv")
    (corpus / "raw").mkdir()
    (corpus / "raw" / "train.tsv").write_bytes((raw / "train.tsv").read_bytes())
    assert read_release_terms("sst2", corpus / "raw") is None, "a folder of no copy's name is none of the record's"


def test_copies_that_were_joined_are_told(corpus: Path) -> None:
    """Whoever trains on several outputs of a text is charged for each; the record of the joined file says so."""
    joined = corpus / "copy-1"
    record = json.loads((corpus / "record.json").read_text()) | {"releases": 2}
    rows = (corpus / "copy-2" / "train.tsv").read_text().split("\n", 1)[1]
    (joined / "train.tsv").write_text((joined / "train.tsv").read_text() + rows)
    record["files"][0]["sha256"] = [hash_file(joined / record["files"][0]["name"])]
    record["files"][1]["sha256"] = [hash_file(joined / record["files"][1]["name"])]
    (joined / "record.json").write_text(json.dumps(record | {"seal": compute_seal(record)}))
    found = read_release_terms("sst2", joined)
    assert found is not None
    assert found["releases"] == 2


def test_equal_scores_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "rows.txt"
    path.write_text("".join(f"one {row}\ttwo\t3\n" for row in range(60)))
    with pytest.raises(InvalidScore, match="equal"):
        load_finetuning_task("medsts", path)


def test_nothing_is_written_over(encoder: Path, tmp_path: Path) -> None:
    """Neither a corpus with its statement, nor a finished model, nor with --resume."""
    (tmp_path / "record.json").write_text("{}")
    for resume, kind in ((False, CheckpointError), (True, ResumeError)):
        with pytest.raises(kind):
            tuned(settings(encoder, tuned=False), classes(), RunOptions(tmp_path, resume=resume))
    assert (tmp_path / "record.json").read_text() == "{}"


def test_weights_of_another_architecture_are_refused(tmp_path: Path) -> None:
    place = write_encoder(tmp_path)
    weights = load_file(place / "model.safetensors")
    save_file({f"other.{name}": tensor for name, tensor in weights.items()}, place / "model.safetensors")
    with pytest.raises(CheckpointError, match="do not match its configuration: copy its folder again"):
        tuned(settings(place), classes(), RunOptions(tmp_path / "renamed"))
    save_file(
        {name: tensor[:, :8].contiguous() if tensor.ndim > 1 else tensor for name, tensor in weights.items()},
        place / "model.safetensors",
    )
    with pytest.raises(CheckpointError, match="do not match its configuration: copy its folder again"):
        tuned(settings(place), classes(), RunOptions(tmp_path / "cut"))


def test_a_record_says_what_has_an_effect(encoder: Path, tmp_path: Path) -> None:
    record = tuned(settings(encoder, tuned=False), classes(), RunOptions(tmp_path / "model"))
    assert record["settings"]["encoder"] == "encoder", "the name of the folder, not its place"
    assert "seed" not in record["settings"]
    assert str(tmp_path) not in json.dumps(record)


@pytest.mark.parametrize(
    "wrong", [{"num_epochs": 0}, {"learning_rate": 0.0}, {"learning_rate": float("nan")}, {"precision": "half"}]
)
def test_settings_out_of_range_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(SettingError, match=next(iter(wrong))):
        FinetuningSettings(**wrong)
