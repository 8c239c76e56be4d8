"""``fairness/run.py`` measures representations and classifiers of sanitized text, with a tiny encoder."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from fairness import measure as fairness_measure
from fairness.correctness import CLEAN, OPEN, PRIVATE, divide_by_attribute, of_texts
from fairness.subgroups import SubgroupError
from overridden import overridden
from textveil.bundle import find_artifact
from textveil_training.dpnr import train as train_module
from textveil_training.dpnr.classification_data import ClassifiedSplit
from tiny_training import QUICK_SEARCH, sentences, train_checkpoints, write_recipes

Run = Callable[..., tuple[int, str, str]]

END = "=" * 20
COMMAND = ("fairness", "--format", "trustpilot", "--threads", 1, "--minimum", 10)
PRIVATE_MODEL = ("sanitized/copy-1/fair.txt", "--model", "private")


def rows(count: int, *, flipped: bool = False) -> list[str]:
    """Sentences with their class, the first attribute in every second pair of rows, the second in every third row.

    Flipped, the class of the texts with the first attribute is the wrong one: whoever is right elsewhere fails there.
    """
    made = []
    for number in range(count):
        label, text, _ = sentences()[number % 32]
        held = [number // 2 % 2 == 0, number % 3 == 0]
        shown = str(1 - int(label)) if flipped and held[0] else label
        made.append(f"{shown}\t{text}\t{' '.join(str(index) for index in range(2) if held[index])}")
    return made


def data(test: list[str]) -> str:
    return "\n".join([*rows(64), END, *rows(32), END, *test, END]) + "\n"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("place")
    (folder / "fair.txt").write_text(data(rows(96)))
    (folder / "unfair.txt").write_text(data(rows(96, flipped=True)))
    return write_recipes(folder, "trustpilot")


@pytest.fixture(autouse=True)
def _here(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # pyright: ignore[reportUnusedFunction]
    monkeypatch.chdir(place)
    monkeypatch.setattr(train_module, "SEARCH", QUICK_SEARCH)


@pytest.fixture
def trained(place: Path, run: Run) -> Path:
    return train_checkpoints(place, run, "fair.txt")


@pytest.fixture
def tuned(place: Path, run: Run) -> Path:
    if not (place / "model").exists():
        options = ("--encoder", "encoder", "--max-tokens", 32, "--threads", 1, "--precision", "float32", "--frozen")
        assert run("finetune", "fair.txt", "--format", "trustpilot", "-o", "model", *options)[0] == 0
        options_of_corpus = ("--format", "trustpilot", "-o", "sanitized", "--copies", 2)
        law = ("-b", find_artifact("english-santext"), "-m", "santext+")
        assert run("sanitize-corpus", "fair.txt", *options_of_corpus, *law)[0] == 0
        copy = ("sanitized/copy-1/fair.txt", "--format", "trustpilot", "-o", "private")
        assert run("finetune", *copy, *options)[0] == 0
    return place


def lines(run: Run, *arguments: object) -> list[dict[str, Any]]:
    code, out, err = run(*COMMAND, *arguments, "--json")
    assert (code, err, out.count("\n")) == (0, "", 1)
    return json.loads(out)["lines"]


def test_a_checkpoint_with_noise_without_and_a_clean_one(trained: Path, run: Run) -> None:
    clean, *others = lines(run, "fair.txt", "--checkpoint", "l1", "--clean", "clean", "--draws", 3, "-o", "record.json")
    kinds = ["private", "without noise"] * 2
    assert [(line["kind"], line["draws"]) for line in others] == [
        (kind, 3 if kind == "private" else 1) for kind in kinds
    ]
    assert (clean["kind"], clean["release"], clean["result"]["examples"]) == ("clean", None, 96)
    assert [line["release"]["epsilon"] for line in others] == [1.0, 1.0, 8.0, 8.0]
    assert {line["release"]["mechanism"] for line in others} == {"representation-l1"}
    assert all("whole text" in line["release"]["epsilon_notion"] for line in others)
    assert all(one["change_from_clean"] is None for one in clean["result"]["attributes"])
    assert all(one["change_from_clean"] for line in others for one in line["result"]["attributes"])
    named = [
        [one["name"], one["with"]["examples"], one["without"]["examples"]] for one in clean["result"]["attributes"]
    ]
    assert named == [["female", 48, 48], ["younger than 35", 32, 64]]
    record = json.loads((trained / "record.json").read_text())
    assert (record["format"], record["kind"], record["settings"]["draws"]) == ("textveil-run", "fairness", 3)
    assert record["finished"] is not None
    assert record["data"]["splits"]["test"]["examples"] == 96
    assert [line["kind"] for line in record["result"]["lines"]] == [CLEAN, *kinds]
    assert not any(text in json.dumps(record) for _, text, _ in sentences())


def test_figures_are_those_of_evaluate(trained: Path, run: Run) -> None:
    options = ("--data", "fair.txt", "--format", "trustpilot", "--threads", 1, "--json")
    clean = json.loads(run("evaluate", "clean", *options)[1])
    private = json.loads(run("evaluate", "l1", *options, "--draws", 40)[1])["levels"]["8"]
    found = lines(run, "fair.txt", "--checkpoint", "l1", "--clean", "clean", "--draws", 40, "-e", 8)
    accuracies = [line["result"]["accuracy"] for line in found]
    assert accuracies[0] == pytest.approx(clean["accuracy"], abs=1e-5)
    assert accuracies[2] == pytest.approx(private["without_noise"], abs=1e-5)
    assert accuracies[1] == pytest.approx(private["accuracy"], abs=5 * (0.5 / (40 * 96)) ** 0.5)


def test_features_of_other_texts_are_not_used(trained: Path, run: Run) -> None:
    """The clean checkpoint has features of the test split of one file; those of the other are computed."""
    stored, computed = (lines(run, name, "--checkpoint", "clean")[0] for name in ("fair.txt", "unfair.txt"))
    assert (stored["kind"], computed["kind"]) == ("no privacy", "no privacy")
    fair, unfair = (line["result"]["attributes"][0] for line in (stored, computed))
    assert unfair["without"] == fair["without"]
    assert unfair["with"]["accuracy"] == pytest.approx(1 - fair["with"]["accuracy"])


@pytest.mark.slow
def test_sanitized_text_in_copies_beside_raw(tuned: Path, run: Run) -> None:
    copies = [f"sanitized/copy-{number}/fair.txt" for number in (1, 2)]
    clean, private = lines(run, *copies, "--model", "private", "--clean", "model", "--clean-data", "fair.txt")
    assert (clean["kind"], private["kind"], private["draws"]) == ("clean", "private", 2)
    assert private["release"]["mechanism"] == "santext+"
    assert private["release"]["bundle_name"].startswith("English")
    single = [lines(run, copy, "--model", "private")[0]["result"]["accuracy"] for copy in copies]
    assert private["result"]["accuracy"] == pytest.approx(sum(single) / 2, abs=1e-5)
    assert clean["result"]["accuracy"] > 0.8


def test_planted_unfairness_is_starred(tuned: Path, run: Run) -> None:
    tables = {name: run(*COMMAND, f"{name}.txt", "--model", "model")[1] for name in ("fair", "unfair")}
    female = {name: table.splitlines()[2] for name, table in tables.items()}
    assert tables["fair"].splitlines()[0].startswith("without privacy: accuracy ")
    assert all(line.startswith("female") for line in female.values())
    assert ("*" in female["fair"], "*" in female["unfair"]) == (False, True)
    found = lines(run, "unfair.txt", "--model", "model")[0]["result"]
    assert found["largest_gap"]["name"] == "female"
    assert found["largest_gap"]["interval"][1] < -0.3


def test_a_subgroup_that_is_too_small_has_no_figures(tuned: Path, run: Run) -> None:
    code, out, err = run(*COMMAND[:-1], 40, "fair.txt", "--model", "model")
    assert (code, err) == (0, "")
    younger = out.splitlines()[3]
    assert (younger.startswith("younger"), younger.count("too few"), "*" in younger) == (True, 2, False)


def texts(attributes: list[int]) -> ClassifiedSplit:
    labels = torch.arange(len(attributes)) % 2
    return ClassifiedSplit(
        texts=tuple(map(str, range(len(attributes)))),
        labels=labels,
        attributes=torch.tensor(attributes)[:, None].float(),
        sha256="",
    )


def test_any_classifier_of_texts_is_measured() -> None:
    """What ``finetune`` gives is one way to come by predictions."""
    split = texts([0, 0, 1, 1] * 15)

    def knows(seen: tuple[str, ...]) -> np.ndarray:
        return np.array([int(text) % 2 if int(text) % 4 < 2 else 0 for text in seen])

    answers = of_texts([split, split], knows, None)
    assert (answers.kind, answers.right.shape) == (OPEN, (2, 60))
    found = divide_by_attribute(answers, split, ["one"]).attributes[0]
    assert (found.lacking.accuracy, found.having.accuracy) == (1.0, 0.5)
    assert of_texts([split], knows, {"epsilon": 1}).kind == PRIVATE
    with pytest.raises(SubgroupError, match="the same texts"):
        of_texts([split, texts([0, 1] * 30)], knows, None)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("fair.txt",), "subgroup"),
        (("fair.txt", "--checkpoint", "l1", "--model", "model"), "subgroup"),
        (("fair.txt", "--model", "model", "-e", "1"), "subgroup"),
        (("fair.txt", "unfair.txt", "--model", "model"), "subgroup"),
        (("sanitized/copy-1/fair.txt", "--model", "model"), "subgroup"),
        (("fair.txt", "--model", "private"), "subgroup"),
        ((*PRIVATE_MODEL, "--clean", "private"), "checkpoint"),
        ((*PRIVATE_MODEL, "--clean", "model"), "subgroup"),
        (("fair.txt", "--model", "model", "--minimum", "60"), "subgroup"),
        (("fair.txt", "--checkpoint", "l1", "--format", "sst2"), "subgroup"),
        (("fair.txt", "--checkpoint", "l1", "--clean", "l1"), "checkpoint"),
        (("quokkasecret", "--checkpoint", "l1"), "data-file"),
        (("fair.txt", "--checkpoint", "l1", "-e", "quokkasecret"), "option"),
        (("other.txt", "--checkpoint", "l1"), "class-empty"),
    ],
)
def test_what_cannot_be_measured(trained: Path, tuned: Path, run: Run, arguments: tuple[str, ...], code: str) -> None:
    (trained / "other.txt").write_text(data([*rows(95), "9\tquokkasecret\t"]))
    found, out, err = run(*overridden(COMMAND, arguments))
    assert (found, out, err.split(": ")[1], err.count("\n")) == (1, "", code, 1)
    assert "quokkasecret" not in err


def test_models_of_scores_and_altered_ones_are_refused(tuned: Path, run: Run) -> None:
    shutil.copytree(tuned / "model", tuned / "altered")
    described = next(path for path in (tuned / "altered").glob("*.json") if path.name != "record.json")
    described.write_text(described.read_text().replace('"labels": [', '"labels": [ "2", '))
    header = "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment\n"
    pairs = [f"{row}\ta cold wind\tthe soup\t{1 + row % 5}\tNEUTRAL\n" for row in range(90)]
    (tuned / "pairs.txt").write_text(header + "".join(pairs))
    options = ("--encoder", "encoder", "--max-tokens", 32, "--threads", 1, "--precision", "float32", "--frozen")
    assert run("finetune", "pairs.txt", "--format", "sick", "-o", "scores", *options)[0] == 0
    for name, said in (
        ("altered", "fairness: checkpoint: the tensors of the fine-tuned model do not match its"),
        ("scores", "scores"),
    ):
        found, out, err = run(*COMMAND, "fair.txt", "--model", name)
        assert (found, out, err.split(": ")[1]) == (1, "", "checkpoint")
        assert said in err


def test_a_measurement_that_ends_early_leaves_no_record(
    trained: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run(*COMMAND[:-1], 60, "fair.txt", "--checkpoint", "l1", "-o", "stopped.json")[0] == 1
    assert not (trained / "stopped.json").exists()

    def interrupted(*_: object, **__: object) -> None:
        assert json.loads((trained / "stopped.json").read_text())["finished"] is None
        raise KeyboardInterrupt

    monkeypatch.setattr(fairness_measure, "of_checkpoint", interrupted)
    assert run(*COMMAND, "fair.txt", "--checkpoint", "l1", "-o", "stopped.json")[0] == 130
    assert not (trained / "stopped.json").exists()


def test_a_record_is_written_over_nothing(trained: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fairness_measure, "of_checkpoint", lambda *_, **__: pytest.fail("found out before the work"))
    (trained / "earlier.json").write_text("earlier")
    (trained / "link.json").symlink_to(trained / "nothing.json")
    for name in ("earlier.json", "link.json", "l1"):
        code, out, err = run(*COMMAND, "fair.txt", "--checkpoint", "l1", "-o", name)
        assert (code, out, err.split(": ")[1], err.count("\n")) == (1, "", "output", 1)
    assert (trained / "earlier.json").read_text() == "earlier"
    assert not (trained / "nothing.json").exists()
