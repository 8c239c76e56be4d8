"""Runs resume, stale figures are measured anew, and no record contains a text."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from names import run

SCRIPT = Path(run.__file__)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    rows = [
        {"text": f"Wilhelmina{number} paid 20 to Oslo", "spans": [{"type": "PERSON", "start": 0, "end": 11}]}
        for number in range(6)
    ]
    (tmp_path / "pii").mkdir()
    (tmp_path / "pii" / "records.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return tmp_path


def ran(data: Path, *options: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, str(SCRIPT), "--data", str(data), "--fetched", str(data), "--sets", "made-up"]
    return subprocess.run([*command, "-o", str(data / "records"), *options], capture_output=True, text=True, check=True)


@pytest.mark.slow
def test_a_run(data: Path) -> None:
    first = ran(data, "--only", "capitals", "nothing")
    assert first.stderr.count("made-up") == 8
    assert "| nothing | 100.0 (100.0-100.0) |" in first.stdout
    assert "| capitals | 0.0 (0.0-0.0) |" in first.stdout
    assert "-O-" not in first.stdout
    record = (data / "records" / "capitals.json").read_text("utf-8")
    assert "ilhelmina" not in record.lower()
    figure = json.loads(record)["figures"]["made-up"]["as is"]
    assert figure["rows"] == 3
    assert figure["measures"]["changed"]["share"] == pytest.approx(2 / 3, abs=1e-4)  # 20 and Oslo, not paid
    assert ran(data, "--only", "capitals", "nothing").stderr == ""
    assert ran(data, "--only", "capitals", "--limit", "2").stderr.count("made-up") == 4


@pytest.mark.slow
def test_a_figure_of_another_rule_is_measured_anew(data: Path) -> None:
    ours = ("--only", "names", "--variants", "as is", "lower")
    assert ran(data, *ours).stderr.count("made-up") == 2
    assert ran(data, *ours).stderr == ""
    path = data / "records" / "names.json"
    for of in ("lists", "shown"):
        record = json.loads(path.read_text("utf-8"))
        record["figures"]["made-up"]["lower"]["of"][of] = "0" * 16
        path.write_text(json.dumps(record), "utf-8")
        again = ran(data, *ours).stderr
        assert (again.count("made-up"), again.count("lower")) == (1, 1)  # figures of this rule stay


def test_a_tool_that_cannot_run_is_named(data: Path) -> None:
    done = ran(data, "--only", "philter")
    assert "not run: philter: " in done.stdout
