"""Sheets hide the tool, and a run counts only if the reader agrees with the known verdicts."""

import json
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from prompts import make_sheets, score
from prompts.make_sheets import Sheet, check_clone, rewrite, write_sheets
from prompts.score import VerdictError, count_by_tool, read_verdicts, score_run, weighted_kappa, wilson_interval

TAGS, PRESIDIO = "textveil names, tag", "presidio default"


def lines(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def write(path: Path, rows: Sequence[Mapping[str, object]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def test_a_reader_gets_neither_tool_nor_id(tmp_path: Path) -> None:
    sheets = [Sheet(f"pupa-{n}", tool, f"text {n}", f"out {n}") for n in range(9) for tool in ("names-x", TAGS)]
    write_sheets(sheets, tmp_path)
    pages, key = lines(tmp_path / "reader" / "sheets.jsonl"), lines(tmp_path / "key.jsonl")
    assert all(set(page) == {"sheet", "original", "rewritten"} for page in pages)
    assert [page["sheet"] for page in pages] == [row["sheet"] for row in key] == list(range(1, 19))
    assert [row["tool"] for row in key] != sorted(str(row["tool"]) for row in key)
    assert {path.name for path in (tmp_path / "reader").iterdir()} == {"sheets.jsonl", "form.md"}
    write_sheets(sheets[::-1], tmp_path / "again")
    assert lines(tmp_path / "again" / "key.jsonl") == key


def test_a_process_of_its_own_rewrites() -> None:
    assert rewrite("names-none-tag", {"pupa-1": "Greet Wilhelmina Kowalski.\u2028Now."}) == {
        "pupa-1": "Greet [person 1].\u2028Now."
    }
    with pytest.raises(SystemExit, match="did not run"):
        rewrite("no-tool", {})


def test_the_command_takes_each_tool_and_the_known_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    prompts = [{"id": f"pupa-{n}", "text": f"prompt {n}"} for n in range(4)]
    write(tmp_path / "pupa.jsonl", prompts)
    drawn = {"seed": "", "new": ["pupa-0", "pupa-1"], "known": {TAGS: ["pupa-2"], PRESIDIO: ["pupa-3"]}}
    (tmp_path / "drawn.json").write_text(json.dumps(drawn), "utf-8")
    monkeypatch.setattr(make_sheets, "check_clone", lambda clone: None)
    used = {}

    def fake(tool: str, texts: dict[str, str], source: Path | None = None) -> dict[str, str]:
        used[tool, tuple(texts)] = source
        return {one: f"{tool}: {text}" for one, text in texts.items()}

    monkeypatch.setattr(make_sheets, "rewrite", fake)
    options = ["--prompts", tmp_path, "--clone", tmp_path, "--drawn", tmp_path / "drawn.json", "-o", tmp_path / "out"]
    monkeypatch.setattr(sys, "argv", ["make_sheets.py", "names-none-surrogate", *map(str, options)])
    make_sheets.main()
    assert used == {
        ("names-none-surrogate", ("pupa-0", "pupa-1")): None,
        ("names-none-tag", ("pupa-2",)): tmp_path / "runtime" / "src",
        ("presidio", ("pupa-3",)): None,
    }
    assert {(row["id"], row["tool"]) for row in lines(tmp_path / "out" / "key.jsonl")} == {
        ("pupa-0", "names-none-surrogate"), ("pupa-1", "names-none-surrogate"), ("pupa-2", TAGS), ("pupa-3", PRESIDIO)
    }  # fmt: skip


def test_another_commit_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="is not a clone at commit 95b7d308"):
        check_clone(tmp_path)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    key = [{"sheet": n, "id": f"pupa-{n}", "tool": TAGS if n <= 6 else "names-none-tag"} for n in range(1, 13)]
    key[11]["id"] = "arena-12"
    write(tmp_path / "key.jsonl", key)
    write_outputs(tmp_path, [f"out {n}" for n in range(1, 13)])
    return tmp_path


def write_outputs(folder: Path, outputs: Sequence[str]) -> None:
    (folder / "reader").mkdir(exist_ok=True)
    write(folder / "reader" / "sheets.jsonl", [{"sheet": n, "rewritten": out} for n, out in enumerate(outputs, 1)])


KNOWN = {(TAGS, f"pupa-{n}"): n % 3 for n in range(1, 7)}


def judge(folder: Path, verdicts: list[int]) -> Path:
    rows: list[dict[str, object]] = [
        {"sheet": n, "verdict": verdict, "reason": "secret", "causes": [] if verdict == 2 else ["NUM"]}
        for n, verdict in enumerate(verdicts, 1)
    ]
    return write(folder / "verdicts.jsonl", rows)


def test_a_run_that_agrees_counts(folder: Path) -> None:
    run = score_run(folder, judge(folder, [1, 2, 0, 1, 2, 0, 2, 2, 1, 0, 2, 2]), KNOWN, "first")
    assert (run["kappa"], run["kappa_quadratic"], run["known"], run["counts"]) == (1.0, 1.0, 6, True)
    assert run["tools"] == {"names-none-tag": {"pupa": [1, 1, 3], "arena": [0, 0, 1]}}
    assert run["causes"] == {"names-none-tag": {"NUM": 2}}
    assert "secret" not in json.dumps(run)


def test_a_run_that_disagrees_does_not_count(folder: Path) -> None:
    run = score_run(folder, judge(folder, [2, 2, 2, 0, 0, 0, 2, 2, 1, 0, 2, 2]), KNOWN, "first")
    assert run["kappa"] < score.LEAST_KAPPA
    assert not run["counts"]


def test_runs_over_the_same_outputs_have_the_same_hash(folder: Path) -> None:
    first, verdicts = score_run(folder, judge(folder, [2] * 12), KNOWN, "first"), judge(folder, [0] * 12)
    assert score_run(folder, verdicts, KNOWN, "second")["outputs"] == first["outputs"]
    write_outputs(folder, [f"out {n}" for n in range(1, 12)] + ["another"])
    assert score_run(folder, verdicts, KNOWN, "third")["outputs"] != first["outputs"]


def test_a_run_without_known_outputs_is_refused(folder: Path) -> None:
    write(folder / "key.jsonl", [{"sheet": 1, "id": "pupa-1", "tool": "names-none-tag"}])
    with pytest.raises(VerdictError, match="no sheet has a known output"):
        score_run(folder, judge(folder, [2]), KNOWN, "first")


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([{"sheet": 1, "verdict": 2}], "1 sheets have no verdict, the first is 2"),
        ([{"sheet": 1, "verdict": 2}, {"sheet": 1, "verdict": 2}], "two lines"),
        ([{"sheet": 3, "verdict": 2}], "sheet 3 is not a sheet"),
        ([{"sheet": 1, "verdict": 3}], "no verdict of 0, 1 or 2"),
        ([{"sheet": 1, "verdict": True}], "no verdict of 0, 1 or 2"),
    ],
)
def test_verdicts_that_do_not_fit_are_refused(tmp_path: Path, rows: list[dict[str, object]], message: str) -> None:
    with pytest.raises(VerdictError, match=message):
        read_verdicts(write(tmp_path / "verdicts.jsonl", rows), (1, 2))


def test_weighted_kappa() -> None:
    pairs = [(0, 0), (0, 1), (1, 1), (1, 1), (2, 2), (2, 1), (2, 2), (2, 0)]
    # Linear: disagreements 1 + 1 + 2 of 8; by chance the sum of first * second * distance is 56 of 64.
    assert weighted_kappa(pairs) == pytest.approx(1 - (4 / 8) / (56 / 64))
    assert weighted_kappa([(2, 2), (0, 0)], 2) == 1
    assert weighted_kappa([(1, 1), (1, 1)]) == 1
    assert weighted_kappa([(0, 2), (2, 0)]) == -1


def test_wilson_interval() -> None:
    low, high = wilson_interval(30, 150)
    assert (low, high) == (pytest.approx(0.1438, abs=1e-4), pytest.approx(0.2711, abs=1e-4))
    assert wilson_interval(0, 10)[0] == 0
    assert wilson_interval(10, 10)[1] == 1
    with pytest.raises(ValueError, match="above 0"):
        wilson_interval(0, 0)


def test_the_command_replaces_a_run_of_the_same_reader(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    known = write(folder / "known.jsonl", [{"tool": t, "id": i, "verdict": v} for (t, i), v in KNOWN.items()])
    record = folder / "new" / "record.json"

    def run(*options: object) -> None:
        words = ["score.py", "--known", known, "-o", record, *options]
        monkeypatch.setattr(sys, "argv", list(map(str, words)))
        score.main()

    run()
    assert "textveil names, tag, pupa: 33 % as well" in capsys.readouterr().out
    judge(folder, [1, 2, 0, 1, 2, 0, 2, 2, 1, 0, 2, 2])
    for _ in range(2):
        run("--sheets", folder, "--verdicts", folder / "verdicts.jsonl", "--reader", "first")
    assert "the run counts" in capsys.readouterr().out
    found = json.loads(record.read_text("utf-8"))
    assert [one["reader"] for one in found["runs"]] == ["first"]
    assert found["known"] == count_by_tool((tool, one, verdict) for (tool, one), verdict in KNOWN.items())
    shutil.copyfile(known, folder / "verdicts.jsonl")
    with pytest.raises(SystemExit, match="not a sheet of this folder"):
        run("--sheets", folder, "--verdicts", folder / "verdicts.jsonl")
