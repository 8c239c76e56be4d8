"""Tables and pictures of a grid: what stands where, and what is refused."""

import json
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from textveil.cli.main import console
from textveil_training import cli
from textveil_training.dpnr.figures import accuracy_by_epsilon, maps_of_texts
from textveil_training.dpnr.report import LABELS, markdown, read_runs, tables
from textveil_training.errors import ReportError

Line = dict[str, Any]
BASELINES: Line = {
    "key": "baselines",
    "kind": "baselines",
    "data": {"test": {"examples": 100, "sha256": "0"}},
    "clean": {
        "accuracy": 0.8,
        "standard_error": 0.04,
        "confusion": [[50, 5], [15, 30]],
        "by_attribute": [{"present": 0.9, "absent": 0.7}],
        "attack": {"privacy": 0.1, "demographic_privacy": 0.2, "f_tuned": 0.9, "auc": 0.99},
    },
    "majority": {
        "accuracy": 0.55,
        "by_attribute": [{"present": 0.5, "absent": 0.6}],
        "attack": {"privacy": 0.5, "demographic_privacy": 0.3, "f_tuned": 0.4, "auc": 0.5},
    },
}


def bounds(level: str, dropout: str = "0") -> Line:
    return {
        "key": f"bounds l1 {level}  {dropout}",
        "kind": "bounds",
        **{"mode": "l1", "level": level, "delta": "", "word_dropout": dropout},
        **{"clean": 0.8, "ceiling": 0.91, "reference": 0.77, "label_randomised_response": 0.76},
        "placed": {"accuracies": [0.75]},
    }


def cell(accuracy: float, seed: int, level: str = "4", dropout: str = "0", **changes: Any) -> Line:
    leak = {"privacy": 0.6, "demographic_privacy": 0.25, "f_tuned": 0.41, "auc": 0.61}
    more = {"auc": -0.012, "auc_standard_error": 0.004, "f_tuned": 0.002, "f_standard_error": 0.003}
    found: Line = {
        **{"accuracy": accuracy, "exceeds_ceiling": False, "epsilon_per_word": 3.25},
        "by_attribute": [{"present": accuracy + 0.1, "absent": accuracy - 0.1}],
        "attack": {"vectors": leak} | dict.fromkeys(LABELS, leak) | {f"over_{name}": more for name in LABELS},
    }
    return {
        **{"key": f"cell {level} {dropout} {seed}", "kind": "cell", "seed": seed},
        "description": {"mode": "l1", "dimension": 2, "levels": [level], "delta": None, "word_dropout": dropout},
        "levels": {level: found | changes},
    }


@pytest.fixture
def write_lines(tmp_path: Path) -> Callable[..., Path]:
    def write(*lines: Line, name: str = "runs.jsonl") -> Path:
        path = tmp_path / name
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        return path

    return write


@pytest.fixture
def lines() -> list[Line]:
    cells = [cell(0.74, 0), cell(0.76, 1), cell(0.6, 0, "1"), cell(0.7, 0, "4", "0.5")]
    other = {**BASELINES["clean"], "key": "checkpoint adversarial", "kind": "baseline", "name": "adversarial"}
    return [BASELINES, bounds("4"), bounds("1"), bounds("4", "0.5"), *cells, other]


def test_the_tables(write_lines: Callable[..., Path], lines: list[Line]) -> None:
    found = tables(read_runs([write_lines(*lines)]), ["Somebody"]).splitlines()
    assert "| 1 | l1, k = 2 | 60.0 | 80.0% | 75.0 | 77.0 | 91.0 | 76.0 |" in found
    assert "| 4 | l1, k = 2 | 75.0 ± 1.4 | 100.0% | 75.0 | 77.0 | 91.0 | 76.0 |" in found
    assert "| 4 | 0.5 | 3.250 | l1, k = 2 | 70.0 | 75.0 | 80.0 |" in found
    assert "| - | nothing | 50.0 | 30.0 | 40.0 | 50.0 |  |  |" in found
    assert "| - | the clean model's vectors | 10.0 | 20.0 | 90.0 | 99.0 |  |  |" in found
    assert "| - | vectors without privacy: adversarial | 10.0 | 20.0 | 90.0 | 99.0 |  |  |" in found
    assert "majority class 55.0, adversarial 80.0;" in found[2]
    vectors = "| 4 | released vectors: l1, k = 2 | 60.0 ± 0.0 | 25.0 ± 0.0 | 41.0 ± 0.0 | 61.0 ± 0.0 |  |  |"
    place = found.index(vectors)
    assert found[place + 1].startswith("| 4 | its label, randomised response: l1, k = 2 | 60.0 ± 0.0 ")
    assert found[place + 1].endswith("| -1.2 ± 0.4 | +0.2 ± 0.3 |")
    assert "| epsilon | mode | Somebody |" in found
    assert "| 4 | l1, k = 2 | 85.0 / 65.0 |" in found
    assert [line for line in found if line.startswith("#")] == [
        "## Accuracy",
        "## Word dropout",
        "## Attackers",
        "## With and without each attribute",
    ]


def test_files_are_read_together(write_lines: Callable[..., Path], lines: list[Line]) -> None:
    first, second = write_lines(*lines[:5]), write_lines(BASELINES, *lines[5:], name="more.jsonl")
    assert read_runs([first, second]) == read_runs([write_lines(*lines, name="all.jsonl")])


def test_an_accuracy_above_its_ceiling_is_no_result(write_lines: Callable[..., Path], lines: list[Line]) -> None:
    with pytest.raises(ReportError, match="exceeds its ceiling"):
        read_runs([write_lines(*lines, cell(0.95, 2, exceeds_ceiling=True))])


def test_an_accuracy_without_its_bounds_is_no_result(write_lines: Callable[..., Path], lines: list[Line]) -> None:
    with pytest.raises(ReportError, match="no ceiling"):
        tables(read_runs([write_lines(BASELINES, *lines[4:])]))


@pytest.mark.parametrize("kept", [[], [0], [1, 4]])
def test_nothing_to_report(write_lines: Callable[..., Path], lines: list[Line], kept: list[int]) -> None:
    with pytest.raises(ReportError, match="nothing to report"):
        read_runs([write_lines(*(lines[number] for number in kept))])


def test_grids_of_different_clean_models_are_kept_apart(write_lines: Callable[..., Path], lines: list[Line]) -> None:
    other = {**BASELINES, "clean": {**BASELINES["clean"], "confusion": [[55, 0], [15, 30]]}}
    with pytest.raises(ReportError, match="different clean models"):
        read_runs([write_lines(*lines), write_lines(other, name="other.jsonl")])


def test_a_table_of_markdown() -> None:
    assert markdown([["a", "b"], ["1", "2"]]) == "| a | b |\n| --- | --- |\n| 1 | 2 |\n"


def size(png: bytes) -> tuple[int, int]:
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    return struct.unpack(">II", png[16:24])


def test_pictures(write_lines: Callable[..., Path], lines: list[Line]) -> None:
    runs = read_runs([write_lines(*lines)])
    width, height = size(accuracy_by_epsilon(runs, runs.kinds(), "title"))
    assert width > height > 500
    assert accuracy_by_epsilon(runs, runs.kinds(), "title") == accuracy_by_epsilon(runs, runs.kinds(), "title")
    with pytest.raises(ReportError):
        accuracy_by_epsilon(runs, [], "title")
    generator = np.random.default_rng(1)
    panels = [(str(k), generator.normal(size=(40, k))) for k in (1, 2, 5)]
    one = maps_of_texts(panels, [("class", np.arange(40) % 2, ["a", "b"])])
    two = maps_of_texts(panels, [("class", np.arange(40) % 2, ["a", "b"])] * 2)
    assert size(one)[0] == size(two)[0]
    assert size(one)[1] < size(two)[1]


def test_the_command(write_lines: Callable[..., Path], lines: list[Line], tmp_path: Path) -> None:
    path, tables_at, picture = write_lines(*lines), tmp_path / "tables.md", tmp_path / "accuracy.png"
    options = ["-o", str(tables_at), "--picture", str(picture)]
    assert console.run(cli.app, "textveil-train", ["report", "dpnr", str(path), *options]) == 0
    assert tables_at.read_text() == tables(read_runs([path]))
    assert size(picture.read_bytes())[0] > 1000
    assert sorted(found.name for found in tmp_path.iterdir()) == ["accuracy.png", "runs.jsonl", "tables.md"]


def test_without_matplotlib_the_error_names_the_extra() -> None:
    """In a process of its own, where matplotlib cannot be imported."""
    code = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "from textveil_training.errors import ReportError\n"
        "try:\n    import textveil_training.dpnr.figures\n"
        "except ReportError as error:\n    print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "textveil-training with the extra report" in done.stdout
