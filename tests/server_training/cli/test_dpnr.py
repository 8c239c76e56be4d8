"""``textveil-train dpnr`` and ``evaluate`` work on the command line."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from tiny_training import sentences

Run = Callable[..., tuple[int, str, str]]
Refused = Callable[..., str]


def test_training_prints_a_table_and_leaves_features(trained: Path, run: Run) -> None:
    assert (trained / "clean" / "features-test.safetensors").is_file()
    code, out, err = run("dpnr", "clean.toml", "--data", "rows.txt", "-o", "again", "--seed", 5, "--threads", 1)
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0].split() == ["split", "epsilon", "accuracy", "+-", "without", "noise"]
    assert [line.split()[:2] for line in lines[1:]] == [
        ["dev", "majority"],
        ["dev", "-"],
        ["test", "majority"],
        ["test", "-"],
    ]
    record = json.loads((trained / "again" / "record.json").read_text())
    assert record["recipe"]["training"]["seed"] == 5


def test_evaluate_in_json(trained: Path, run: Run) -> None:
    options = ["--data", "rows.txt", "--format", "ag-entities", "--draws", 4, "--json", "--threads", 1]
    code, out, err = run("evaluate", "l1", *options)
    assert (code, err, out.count("\n")) == (0, "", 1)
    found = json.loads(out)
    assert set(found["levels"]) == {"1", "8"}
    assert found["draws"] == 4
    code, out, err = run("evaluate", "l1", *options, "--epsilon", "2.5", "--word-dropout", "0.3")
    assert (code, set(json.loads(out)["levels"]), json.loads(out)["masks"]) == (0, {"2.5"}, 5)
    code, out, err = run("evaluate", "l1", *options, "--split", "dev", "-e", 4, "-e", 5)
    assert (code, set(json.loads(out)["levels"])) == (0, {"4", "5"})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["evaluate", "l1", "--epsilon", "0"], "option"),
        (["evaluate", "l1", "--epsilon", "much"], "option"),
        (["evaluate", "l1", "--epsilon", "17"], "option"),
        (["evaluate", "clean", "--epsilon", "4"], "checkpoint"),
        (["evaluate", "l1", "--word-dropout", "1"], "option"),
        (["evaluate", "l1", "--split", "CANARY"], "data-option"),
        (["evaluate", "CANARY"], "checkpoint"),
        (["dpnr", "CANARY.toml", "-o", "x"], "recipe"),
        (["dpnr", "heads.toml", "-o", "x"], "checkpoint"),
        (["dpnr", "heads.toml", "-o", "x", "--start", "CANARY"], "checkpoint"),
        (["dpnr", "heads.toml", "-o", "x", "--start", "clean", "--resume"], "resume"),
        (["dpnr", "clean.toml", "-o", "clean"], "checkpoint"),
        (["dpnr", "clean.toml", "-o", "rows.txt"], "checkpoint"),
        (["dpnr", "clean.toml", "-o", "x", "--device", "CANARY"], "device"),
        (["evaluate", "l1", "--device", "CANARY"], "device"),
    ],
)
def test_what_cannot_be_done_is_one_line_and_code_1(
    trained: Path, refused: Refused, canary: str, arguments: list[str], code: str
) -> None:
    named = [argument.replace("CANARY", canary) for argument in arguments]
    data = ["--data", "rows.txt", *(["--format", "ag-entities"] if arguments[0] == "evaluate" else [])]
    assert refused(*named, *data).startswith(f"{code}: ")


@pytest.mark.slow
def test_a_recipe_runs_on_a_table_of_ones_own(trained: Path, run: Run) -> None:
    """One file, columns by name: divided, close texts on one side; labels keep their names."""
    lines = ["topic,body", *(f'{("weather", "kitchen")[int(label)]},"{text}"' for label, text, _ in sentences())]
    (trained / "own.csv").write_text("\n".join(lines) + "\n", "utf-8")
    own = ("--data", "own.csv", "--format", "table", "--text", "body", "--label", "topic", "--threads", 1)
    code, out, err = run("dpnr", "clean.toml", "-o", "own", *own)
    assert (code, err) == (0, "")
    record = json.loads((trained / "own" / "record.json").read_text())
    sizes = {name: part["examples"] for name, part in record["data"].items()}
    assert sum(sizes.values()) == len(sentences())
    assert min(sizes.values()) >= 1
    assert json.loads((trained / "own" / "checkpoint.json").read_text())["labels"] == ["kitchen", "weather"]
    results = {}
    for split in ("test", "all"):
        code, out, _ = run("evaluate", "own", *own, "--split", split, "--json")
        assert code == 0
        results[split] = json.loads(out)
    assert results["test"] != results["all"]
    code, _, err = run("dpnr", "clean.toml", "-o", "no", *own[:-4], "--label", "zzz")
    assert (code, "data-column: own.csv, line 1: no column of the name given for the label" in err) == (1, True)
