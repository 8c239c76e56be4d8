"""``textveil-train attack text`` writes and resumes a record, and refuses bad input."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from neighbor_models import write_bert
from small_bundles import scattered, small_bundle, spellings
from small_staircase import WORDS as SAID
from small_staircase import small_staircase
from textveil_training.attacks.text import run as run_module
from textveil_training.file_hashes import hash_file

Run = Callable[..., tuple[int, str, str]]
Refused = Callable[..., str]

COUNT = 40
WORDS = spellings(COUNT)
ATTACK = ("attack", "text", "rows.tsv", "--format", "tsv", "-b", "words", "--threads", 1)
STAIRCASE = (
    "attack",
    "text",
    "said.tsv",
    "--format",
    "tsv",
    "-b",
    "staircase",
    "--threads",
    1,
    "--known-texts",
    "more.tsv",
)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("place")
    options: dict[str, Any] = {"k": 6, "exponents": ("4", "9")}
    small_bundle(folder / "words", scattered(COUNT, 12, 3), **options)
    generator = np.random.default_rng(6)
    rows = [f"{n % 2}\t{' '.join(generator.choice(WORDS, 6))}, quokkasecret\n" for n in range(20)]
    (folder / "rows.tsv").write_text("".join(rows))
    known = [f"0\t{' '.join(generator.choice(WORDS, 6))}\n" for _ in range(400)]
    (folder / "known.tsv").write_text("".join(known))
    small_staircase(folder / "staircase")
    said = [f"0\tthe {' '.join(generator.choice(SAID, 6))}, quokkasecret\n" for _ in range(430)]
    (folder / "said.tsv").write_text("".join(said[:30]))
    (folder / "more.tsv").write_text("".join(said[30:]))
    (folder / "gaps.tsv").write_text("1\t...\n0\t!\n")
    write_bert(folder / "lm", [*WORDS, ",", "q", "##uokkasecret"])
    write_bert(folder / "headless", WORDS, head=False)
    return folder


@pytest.fixture(autouse=True)
def _here(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # pyright: ignore[reportUnusedFunction]
    monkeypatch.chdir(place)


def test_all_attacks_stand_in_one_record(place: Path, run: Run, tmp_path: Path) -> None:
    record = tmp_path / "record.json"
    options = ("--model", place / "lm", "--max-tokens", 32, "--precision", "float32")
    code, out, err = run(*ATTACK, *options, "-o", record)
    assert code == 0
    assert err.splitlines() == [
        "textveil-train: skipped the attack frequent: without a mode every token is randomized, and words have no "
        "types (use bayes)",
        "textveil-train: skipped the attack words: the attacker has fewer than 40 raw texts (--known-texts)",
    ]
    lines = [line.split() for line in out.splitlines()]
    assert [line[0] for line in lines[:3]] == ["attack", "unchanged", "nearest"]
    assert {line[0] for line in lines[1:]} == {"unchanged", "nearest", "bayes", "repeated", "mask", "contextual"}
    found = json.loads(record.read_text())
    assert (found["format"], found["format_version"], found["kind"]) == ("textveil-run", 2, "attack-text")
    assert found["release"]["mechanism"] == "santext+"
    assert found["release"]["bundle_name"] == "small"
    assert found["data"]["splits"]["all"]["examples"] == 20
    assert len(found["start"]) == len(found["data"]["splits"]["all"]["sha256"]) == 64
    assert found["finished"] >= found["begun"]
    result = found["result"]
    assert (result["tokens"], result["sampled_tokens"], result["texts"]) == (140, 140, 20)
    assert result["unknown_share"] == pytest.approx(1 / 7, abs=1e-6)
    assert set(result["skipped"]) == {"frequent", "words"}
    assert 0 <= result["mask"]["defense"] <= 1
    assert list(result["repeated"]) == ["1", "2", "5", "10", "20"]
    assert found["settings"]["model"] == "lm"
    assert found["start"] == hash_file(place / "lm" / "model.safetensors")
    assert not any(word in record.read_text() + out for word in ("quokka", str(place)))


@pytest.mark.full
def test_without_a_model_two_attacks_are_left_out(run: Run) -> None:
    code, out, err = run(*ATTACK, "--json", "--tokens", 10, "--known-texts", "known.tsv")
    assert code == 0
    assert err.splitlines()[1:] == [
        f"textveil-train: skipped the attack {name}: --model names no masked language model"
        for name in ("mask", "contextual")
    ]
    result = json.loads(out)["result"]
    assert set(result["skipped"]) == {"frequent", "mask", "contextual"}
    assert result["words"]["known_texts"]["texts"] == 400
    assert result["sampled_tokens"] == 10
    assert result["nearest"]["tokens"] == 140


def test_a_mechanism_without_weights_is_attacked_as_far_as_it_goes(run: Run) -> None:
    options = ("-m", "fbdd", "-e", "20", "--model", "lm", "--max-tokens", 32, "--json")
    code, out, err = run(*ATTACK, *options)
    assert (code, err.count("fbdd has no table of weights")) == (
        0,
        4,
    )
    result = json.loads(out)["result"]
    assert set(result["skipped"]) == {"bayes", "repeated", "frequent", "contextual", "words"}
    assert {"nearest", "mask"} <= set(result)


@pytest.mark.parametrize("mechanism", [("santext",), ("krr", "-e", "2.5"), ("random",)])
def test_a_record_says_what_a_mechanism_promises(run: Run, mechanism: tuple[str, ...]) -> None:
    code, out, err = run(*ATTACK, "-m", *mechanism, "--attacks", "nearest", "--json")
    assert (code, err) == (0, "")
    release = json.loads(out)["release"]
    assert release["mechanism"] == mechanism[0]
    assert {"epsilon", "epsilon_notion", "rounding_slack", "bundle_name"} <= set(release)


@pytest.mark.slow
def test_the_staircase_is_attacked_by_naming_words(run: Run, tmp_path: Path) -> None:
    (tmp_path / "public.txt").write_text(f"the {SAID[0]} is here\n\n{SAID[1]}\n")
    code, out, err = run(*STAIRCASE, "--json", "--prior", tmp_path / "public.txt")
    record = json.loads(out)
    assert (code, err.count("it attacks single tokens, but in the mode 'words'")) == (0, 4)
    assert (record["release"]["mechanism"], record["release"]["mode"]) == ("staircase", "words")
    assert set(record["result"]["skipped"]) == {"nearest", "bayes", "repeated", "contextual", "mask"}
    assert record["result"]["frequent"]["counted_from"] == "known texts"
    assert set(record["data"]) == {"format", "splits", "known", "prior"}
    found = record["result"]["words"]
    assert (found["known_texts"]["texts"], found["prior_texts"]["texts"], found["draws"]) == (400, 2, 3)
    assert found["known_texts"]["left_out"] == 0
    for name in ("unchanged", "bayes", "trigrams", "network", "sum"):
        assert 0 <= found["known"][name] <= 1
        assert found["known"]["deviations"][name] >= 0
    assert "quokka" not in out


@pytest.mark.full
def test_a_network_starts_from_vectors_that_are_named(run: Run, tmp_path: Path) -> None:
    vectors = tmp_path / "vectors.txt"
    rows = np.random.default_rng(1).integers(-9, 10, (len(SAID), 8)).tolist()
    lines = (f"{word} {' '.join(map(str, row))}\n" for word, row in zip(SAID, rows, strict=True))
    vectors.write_text("".join(lines))
    code, out, err = run(*STAIRCASE, "--attacks", "words", "--vectors", vectors, "--draws", 2)
    assert (code, err) == (0, "")
    assert "sum of these three" in out
    assert "+- over 2 draws" in out


def test_an_interrupted_run_keeps_what_is_done(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    record = tmp_path / "record.json"

    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(run_module, "attack_repeated", interrupt)
    code, out, err = run(*ATTACK, "--attacks", "nearest,bayes,repeated", "-o", record)
    assert (code, out) == (130, "")
    assert "--attacks" in err
    found = json.loads(record.read_text())
    assert found["finished"] is None
    assert set(found["result"]) >= {"nearest", "bayes"}
    assert "repeated" not in found["result"]
    assert run(*ATTACK, "-o", record)[0] == 1, "the record exists already: choose another file with -o"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--attacks", "nearest,guess"), "setting: --attacks must list names among nearest, bayes"),
        (("--attacks", ""), "setting: --attacks must list names among nearest, bayes, repeated, frequent"),
        (("--attacks", "mask"), "setting: mask and contextual need a masked language model"),
        (
            ("--attacks", "frequent"),
            "setting: the attack frequent cannot run: without a mode every token is randomized",
        ),
        (("--attacks", "words"), "setting: the attack words cannot run: the attacker has fewer than 40 raw texts"),
        (("--tokens", 0), "setting: tokens is out of range"),
        (
            ("--max-tokens", 100, "--model", "lm"),
            "setting: --max-tokens exceeds the number of positions of the masked language",
        ),
        (("--precision", "half"), "setting: precision"),
        (("--model", "headless", "--max-tokens", 32), "checkpoint: the model of --model has no trained head"),
        (("--model", "words"), "checkpoint: "),
        (("--model", "lm", "--max-tokens", 32, "--device", "cuda:99"), "device: "),
        (("-o", "missing/record.json"), "output: "),
        (("--split", "dev"), "data-option: "),
        (("--text-key", "body"), "data-option: this format has no keys"),
        (("-m", "fbdd"), "option: --mechanism fbdd needs --epsilon"),
        (("-e", "5"), "no such level"),
    ],
    ids=lambda value: " ".join(map(str, value)) if isinstance(value, tuple) else None,
)
def test_what_makes_no_sense_is_refused(refused: Refused, arguments: tuple[object, ...], said: str) -> None:
    assert said in refused(*ATTACK, *arguments)


def test_data_that_cannot_be_attacked_are_refused(refused: Refused, write: Callable[..., Path]) -> None:
    for path, said in (
        (Path("gaps.tsv"), "data-empty: no text has a token"),
        (write("", "empty.tsv"), "data-empty"),
        (Path("missing.tsv"), "data-file"),
    ):
        assert said in refused("attack", "text", path, "--format", "tsv", "-b", "words", "--attacks", "nearest")
