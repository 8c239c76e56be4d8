"""Titles of pictures follow the records, and labels at lines keep apart."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from report import charts, dpnr, dpnr_chart, frontier, vectors, write
from report.records import Frame, read_objects

Fault = Callable[[dict[str, Any]], None]


def titles(pictures: dict[str, Figure]) -> dict[str, str]:
    return {name: figure.get_suptitle() for name, figure in pictures.items()}


def worse_heads(line: dict[str, Any]) -> None:
    if line["kind"] == "cell" and "4" in line["levels"]:
        line["levels"]["4"]["accuracy"] -= 0.1


def a_better_attack(line: dict[str, Any]) -> None:
    if line["row"] == "shipped-10" and line["job"] == "attack":
        line["sum"]["content"] += 0.1


def worse_classes(line: dict[str, Any]) -> None:
    for figures in line.get("figures", {}).get("counts", {}).values():
        figures["accuracy"] -= 0.1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("pictures", "file", "fault", "changed"),
    [
        (dpnr.pictures, "dpnr_sst2_shared.jsonl", worse_heads, "dpnr_sst2.png"),
        (frontier.pictures, "frontier.jsonl", a_better_attack, "text_frontier.png"),
        (vectors.pictures, "vectors.jsonl", worse_classes, "vectors.png"),
    ],
)
def test_another_record_makes_another_title(
    pictures: Callable[[Path], dict[str, Figure]], file: str, fault: Fault, changed: str, tmp_path: Path
) -> None:
    shutil.copytree(write.RECORDS, tmp_path, dirs_exist_ok=True)
    lines = [line for _, line in read_objects(tmp_path / file)]
    for line in lines:
        fault(line)
    (tmp_path / file).write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    before, after = (titles(pictures(folder)) for folder in (write.RECORDS, tmp_path))
    assert [name for name in before if before[name] != after[name]] == [changed]
    assert all(title.count("\n") <= 1 for title in (before | after).values())


def heads(accuracy: float) -> Frame:
    seeds = [accuracy - 0.01, accuracy, accuracy + 0.01]
    return pd.DataFrame({"mode": "l1", "epsilon": 4.0, "accuracy": seeds, "label_randomized_response": 0.7})


@pytest.mark.parametrize(
    ("accuracy", "said"), [(0.75, "5.0 points above"), (0.705, "level with"), (0.65, "5.0 points below")]
)
def test_a_title_has_the_direction_that_the_records_have(accuracy: float, said: str) -> None:
    assert f"{100 * accuracy:.1f} %: {said} randomized" in dpnr_chart.finding(heads(accuracy), 0.8)


def test_a_title_is_neutral_where_the_records_do_not_say() -> None:
    assert dpnr_chart.finding(heads(0.7).assign(epsilon=3.0), 0.8) == "Accuracy by epsilon of the whole text"


def test_labels_keep_apart_and_in_order() -> None:
    heights = [0.1, 0.5, 0.5, 0.51, 0.9]
    found = np.array(charts.apart(heights, 0.05))
    assert (np.diff(found) >= 0.05 - 1e-12).all()
    assert found[[0, 4]] == pytest.approx([0.1, 0.9])
    assert found[1:4].mean() == pytest.approx(np.mean(heights[1:4]))
