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
from report import charts, dpnr, dpnr_chart, frontier, nlp, nlp_chart, vectors, write
from report.records import Frame, read_objects

Fault = Callable[[dict[str, Any]], None]


def titles(pictures: dict[str, Figure]) -> dict[str, str]:
    return {name: figure.get_suptitle() for name, figure in pictures.items()}


def worse_heads(line: dict[str, Any]) -> None:
    if line["kind"] == "cell" and "4" in line["levels"]:
        line["levels"]["4"]["accuracy"] -= 0.1


def better_capped_tails(line: dict[str, Any]) -> None:
    if "santext-capped" in line["name"] and line["kind"] == "finetune":
        line["result"]["test"]["accuracy"] = 0.9


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
        (nlp.pictures, "nlp_frozen.jsonl", better_capped_tails, "nlp/accuracy_by_epsilon.png"),
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
    ("accuracy", "said"),
    [(0.75, "5.0 points above"), (0.705, "level with"), (0.65, "5.0 points below")],
)
def test_a_title_has_the_direction_that_the_records_have(accuracy: float, said: str) -> None:
    assert f"{100 * accuracy:.1f} %: {said} randomized" in dpnr_chart.finding(heads(accuracy), 0.8)


def test_a_title_is_neutral_where_the_records_do_not_say() -> None:
    assert dpnr_chart.finding(heads(0.7).assign(epsilon=3.0), 0.8) == "Accuracy by epsilon of the whole text"
    assert nlp_chart.epsilon_finding(levels(shift=9)) == "Accuracy by certified epsilon and by pure LDP level"


def levels(shift: float, accuracy: float = 0.7, level: str = "veil") -> Frame:
    exact = pd.DataFrame({
        "mechanism": "santext", "tail": "exact", "level": ["noise", level], "epsilon": [7.0, 12.0],
        "pure_ldp": [7.0, 12.0], nlp_chart.ACCURACY: 0.6, "data.splits.test.examples": 900.0,
        nlp_chart.UNCHANGED: [0.1, 0.9], nlp_chart.OUTPUTS: [900, 500],
    })  # fmt: skip
    capped = exact.assign(
        tail="capped", level=["noise", "veil"], epsilon=exact.epsilon + shift, pure_ldp=exact.pure_ldp + shift
    )
    return pd.concat([exact, capped.assign(**{nlp_chart.ACCURACY: accuracy})])


def test_tails_are_compared_where_both_have_an_epsilon() -> None:
    assert "10.0 points above the exact one at equal certified" in nlp_chart.epsilon_finding(levels(shift=2))
    assert "and 10.0 points below it" in nlp_chart.epsilon_finding(levels(shift=2, accuracy=0.5))


def test_the_level_with_the_fewest_outputs_is_named_if_it_is_one() -> None:
    assert "at least 900 words at every level but veil" in nlp_chart.words_finding(levels(shift=2))
    assert "over 500 to 900 words" in nlp_chart.words_finding(levels(shift=2, level="light"))


def test_labels_keep_apart_and_in_order() -> None:
    heights = [0.1, 0.5, 0.5, 0.51, 0.9]
    found = np.array(charts.apart(heights, 0.05))
    assert (np.diff(found) >= 0.05 - 1e-12).all()
    assert found[[0, 4]] == pytest.approx([0.1, 0.9])
    assert found[1:4].mean() == pytest.approx(np.mean(heights[1:4]))
