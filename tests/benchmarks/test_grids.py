"""Tables of private representations: every accuracy beside its bounds, every attacker beside one who sees a label."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from report.dpnr import LABELS, PERSONS, accuracy, attackers, persons, read_grid, word_dropout
from report.records import RecordError

Line = dict[str, Any]
LEAK = {"privacy": 0.6, "demographic_privacy": 0.25, "f_tuned": 0.41, "auc": 0.61}
BASELINES: Line = {
    "kind": "baselines",
    "data": {"test": {"examples": 100, "sha256": "0"}},
    "clean": {
        "accuracy": 0.8,
        "confusion": [[50, 5], [15, 30]],
        "by_attribute": [{"present": 0.9, "absent": 0.7}] * len(PERSONS),
        "attack": {"privacy": 0.1, "demographic_privacy": 0.2, "f_tuned": 0.9, "auc": 0.99},
    },
    "majority": {
        "accuracy": 0.55,
        "attack": {"privacy": 0.5, "demographic_privacy": 0.3, "f_tuned": 0.4, "auc": 0.5},
    },
}


def bounds(level: str, dropout: str = "0") -> Line:
    return {
        "kind": "bounds",
        **{"mode": "l1", "level": level, "delta": "", "word_dropout": dropout},
        **{"clean": 0.8, "ceiling": 0.91, "reference": 0.77, "label_randomized_response": 0.76},
        "placed": {"accuracies": [0.75]},
    }


def cell(value: float, seed: int, level: str = "4", dropout: str = "0", **changes: Any) -> Line:
    more = {"auc": -0.012, "auc_standard_error": 0.004, "f_tuned": 0.002, "f_standard_error": 0.003}
    found: Line = {
        **{"accuracy": value, "exceeds_ceiling": False, "epsilon_per_word": 3.2501},
        "by_attribute": [{"present": value + 0.1, "absent": value - 0.1}] * len(PERSONS),
        "attack": {"vectors": LEAK} | dict.fromkeys(LABELS, LEAK) | {f"over_{name}": more for name in LABELS},
    }
    described = {"mode": "l1", "dimension": 2, "levels": [level], "delta": None, "word_dropout": dropout}
    return {"kind": "cell", "seed": seed, "description": described, "levels": {level: found | changes}}


LINES = [BASELINES, bounds("4"), bounds("1"), bounds("4", "0.5"), cell(0.74, 0), cell(0.76, 1), cell(0.6, 0, "1")]


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    def lines(*found: Line, name: str = "grid.jsonl") -> Path:
        (tmp_path / name).write_text("".join(json.dumps(line) + "\n" for line in found), encoding="utf-8")
        return tmp_path / name

    return lines


def test_accuracies_stand_beside_their_bounds(write: Callable[..., Path]) -> None:
    rows = accuracy(read_grid(write(*LINES))).splitlines()
    assert rows[2:] == [
        "| 1 | l1, k = 2 | 60.0 | 80.0% | 75.0 | 77.0 | 91.0 | 76.0 |",
        "| 4 | l1, k = 2 | 75.0 ± 1.4 | 100.0% | 75.0 | 77.0 | 91.0 | 76.0 |",
    ]


def test_the_epsilon_of_a_word_is_rounded_up(write: Callable[..., Path]) -> None:
    rows = word_dropout(read_grid(write(*LINES[:4], cell(0.7, 0, "4", "0.5")))).splitlines()
    assert rows[2] == "| 4 | 0.5 | 3.251 | l1, k = 2 | 70.0 | 75.0 | 80.0 | 60.0 | 61.0 |"


def test_attackers_stand_beside_those_who_see_a_label(write: Callable[..., Path]) -> None:
    rows = attackers(read_grid(write(*LINES))).splitlines()
    assert rows[2] == "| - | nothing | 50.0 | 30.0 | 40.0 | 50.0 |  |  |"
    assert rows[3] == "| - | the clean model's vectors | 10.0 | 20.0 | 90.0 | 99.0 |  |  |"
    assert rows[7] == "| 4 | released vectors | 60.0 ± 0.0 | 25.0 ± 0.0 | 41.0 ± 0.0 | 61.0 ± 0.0 |  |  |"
    assert rows[8].startswith("| 4 | its label, randomized response | 60.0 ± 0.0 ")
    assert rows[8].endswith("| -1.2 ± 0.4 | +0.2 ± 0.3 |")


def test_accuracy_with_and_without_each_person(write: Callable[..., Path]) -> None:
    rows = persons(read_grid(write(*LINES))).splitlines()
    assert rows[2] == "| clean model |" + " 90.0 / 70.0 |" * len(PERSONS)
    assert rows[4] == "| 4 |" + " 85.0 / 65.0 |" * len(PERSONS)


def test_files_are_read_together(write: Callable[..., Path]) -> None:
    first, second = write(*LINES[:5]), write(BASELINES, *LINES[5:], name="more.jsonl")
    assert accuracy(read_grid(first, second)) == accuracy(read_grid(write(*LINES, name="all.jsonl")))


NO_RESULTS: dict[str, tuple[list[Line], str]] = {
    "above its ceiling": (
        [*LINES, cell(0.95, 2, exceeds_ceiling=True)],
        r"^grid\.jsonl, line 8: .* exceeds its ceiling",
    ),
    "without its bounds": ([BASELINES, bounds("4"), cell(0.6, 0, "1")], "no ceiling"),
    "nothing": ([], "no baselines or no heads"),
    "no heads": ([BASELINES], "no baselines or no heads"),
    "no baselines": ([bounds("4"), cell(0.74, 0)], "no baselines or no heads"),
    "another line": ([BASELINES, {"kind": "walk"}], r"^grid\.jsonl, line 2: "),
}


@pytest.mark.parametrize(("lines", "message"), NO_RESULTS.values(), ids=NO_RESULTS)
def test_what_is_no_result(write: Callable[..., Path], lines: list[Line], message: str) -> None:
    with pytest.raises(RecordError, match=message):
        read_grid(write(*lines))


def test_grids_of_different_clean_models_are_refused(write: Callable[..., Path]) -> None:
    other = {**BASELINES, "clean": {**BASELINES["clean"], "confusion": [[55, 0], [15, 30]]}}
    with pytest.raises(RecordError, match="different clean models"):
        read_grid(write(*LINES), write(other, name="other.jsonl"))
