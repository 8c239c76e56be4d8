"""``textveil-train finetune`` works on the command line."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from overridden import overridden
from textveil.bundle import find_artifact
from tiny_training import sentences, write_encoder

Run = Callable[..., tuple[int, str, str]]
Refused = Callable[..., str]
HEADER = "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment\n"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("place")
    write_encoder(folder)
    rows = [f"{label}\t{text}\n" for label, text, _ in sentences()]
    (folder / "rows.tsv").write_text("".join(rows * 3))
    (folder / "test.tsv").write_text("".join(rows[:8]))
    return folder


@pytest.fixture(autouse=True)
def _here(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # pyright: ignore[reportUnusedFunction]
    monkeypatch.chdir(place)


OPTIONS = ("--encoder", "encoder", "--max-tokens", 32, "--threads", 1, "--num-epochs", 1, "--precision", "float32")


def test_a_table_a_model_and_a_record(place: Path, run: Run) -> None:
    code, out, err = run("finetune", "rows.tsv", "--format", "tsv", "-o", "model", *OPTIONS)
    assert (code, err) == (0, "")
    lines = [line.split() for line in out.splitlines()]
    assert lines[0] == ["split", "examples", "accuracy", "standard", "error", "majority"]
    assert [line[0] for line in lines[1:]] == ["dev", "test"]
    record = json.loads((place / "model" / "record.json").read_text())
    assert (record["kind"], record["release"], record["settings"]["num_epochs"]) == ("finetune", None, 1)
    assert record["finished"] is not None
    assert sum(part["examples"] for part in record["data"]["splits"].values()) == 96
    assert not any(text in json.dumps(record) for _, text, _ in sentences())


def test_a_test_file_of_its_own_and_json(run: Run) -> None:
    arguments = ("finetune", "rows.tsv", "--format", "tsv", "--test", "test.tsv", "--frozen", "--json")
    code, out, err = run(*arguments, "-o", "tested", *OPTIONS)
    assert (code, err, out.count("\n")) == (0, "", 1)
    assert json.loads(out)["test"]["examples"] == 8


@pytest.mark.parametrize("classes", [True, False])
def test_scored_pairs_by_score_or_by_class(place: Path, run: Run, classes: bool) -> None:
    texts = [text for _, text, _ in sentences()]
    judgments = ("NEUTRAL", "ENTAILMENT", "CONTRADICTION")
    rows = [
        f"{row}\t{texts[row % 32]}\t{texts[row * 7 % 32]}\t{1 + row % 5}\t{judgments[row % 3]}\n" for row in range(90)
    ]
    (place / "pairs.txt").write_text(HEADER + "".join(rows))
    more = ["--classes"] if classes else []
    output = f"pairs-{classes}"
    code, out, err = run("finetune", "pairs.txt", "--format", "sick", "--json", *more, "-o", output, *OPTIONS)
    assert (code, err) == (0, "")
    assert ("accuracy" in json.loads(out)["test"], "pearson" in json.loads(out)["test"]) == (classes, not classes)


@pytest.mark.parametrize(
    ("rows", "format_name", "code", "said"),
    [
        ("0\tgood\n\tquokkasecret\n", "tsv", "data-no-label", "rows.txt, line 2"),
        ("0\tquokkasecret\n" * 60, "tsv", "class-empty", "one class"),
        ("0\tquokkasecret\n", "tsv", "data-split", "too few"),
        ("sentence\tlabel\n" + "quokkasecret\t1\n" * 60, "sst2", "class-empty", "class 1 of 2"),
        ("quokkasecret\n" * 60, "text", "data-no-label", "no label"),
    ],
)
def test_bad_rows(
    refused: Refused, write: Callable[..., Path], rows: str, format_name: str, code: str, said: str
) -> None:
    path = write(rows)
    err = refused("finetune", path, "--format", format_name, "-o", path.parent / "model", *OPTIONS)
    assert err.startswith(f"{code}: ")
    assert said in err
    assert not (path.parent / "model").exists()


def test_training_and_test_rows_of_different_releases(place: Path, run: Run, refused: Refused) -> None:
    santext = ("-m", "santext+", "-b", find_artifact("english-santext"))
    assert run("sanitize-corpus", "rows.tsv", "--format", "tsv", "-o", "sanitized", *santext)[0] == 0
    arguments = ("finetune", "sanitized/rows.tsv", "--format", "tsv", "--test", "test.tsv", "-o", "mixed", *OPTIONS)
    assert "different releases" in refused(*arguments)
    (place / "sanitized" / "rows.tsv").write_text((place / "rows.tsv").read_text())
    said = refused("finetune", "sanitized/rows.tsv", "--format", "tsv", "-o", "mixed", *OPTIONS)
    assert said.startswith("data-release: ")
    assert not (place / "mixed").exists()


@pytest.mark.parametrize(
    ("more", "code"),
    [
        (["--encoder", "nowhere"], "checkpoint"),
        (["--max-tokens", 100], "checkpoint"),
        (["--precision", "half"], "setting"),
        (["--learning-rate", 0], "setting"),
        (["--device", "cuda:7"], "device"),
        (["--resume"], "resume"),
    ],
)
def test_bad_options(refused: Refused, tmp_path: Path, more: list[object], code: str) -> None:
    arguments = ["finetune", "rows.tsv", "--format", "tsv", "-o", tmp_path / "model", *OPTIONS]
    assert refused(*overridden(arguments, more)).startswith(f"{code}: ")
