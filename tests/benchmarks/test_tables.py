"""Numbers in tables: means and deviations over seeds, paired differences, and the markers of generated parts."""

import json
import math
from pathlib import Path

import pandas as pd
import pytest
from report.nlp import only
from report.pages import filled, points, short, signed, spread, table
from report.pretraining import paired
from report.records import Frame, read_runs
from run_records import finetune, release

ACCURACY = "result.test.accuracy"


@pytest.fixture
def runs(tmp_path: Path) -> Frame:
    path = tmp_path / "runs.jsonl"
    pretrained = {"encoder": "/somewhere/mlm-raw"}
    records = [
        finetune(0.90),
        *(finetune(accuracy, release(), seed) for seed, accuracy in enumerate((0.70, 0.72, 0.77))),
        *(finetune(accuracy, release(), seed, **pretrained) for seed, accuracy in enumerate((0.72, 0.73, 0.81))),
    ]
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return read_runs(path)


def test_a_cell_is_mean_and_deviation_over_seeds(runs: Frame) -> None:
    # mean .73; deviations -.03, -.01, .04: sqrt(.0026 / 2) = .03606
    assert spread(only(runs, model="minilm", mechanism="santext")[ACCURACY]) == "73.0 ± 3.6"
    assert spread(only(runs, mechanism=None)[ACCURACY]) == "90.0"


def test_what_may_not_be_averaged_is_not(runs: Frame) -> None:
    with pytest.raises(LookupError, match="2 conditions"):
        only(runs, mechanism="santext")
    with pytest.raises(LookupError, match="0 conditions"):
        only(runs, mechanism="krr")


def test_differences_are_paired_by_seed(runs: Frame) -> None:
    first, second = (only(runs, model=model, mechanism="santext") for model in ("minilm", "mlm-raw"))
    mean, error, interval = paired(first, second.iloc[::-1], ACCURACY)
    # .02, .01, .04: mean .02333, sd .015275, over sqrt(3): .008819; t of two degrees of freedom 4.3027
    assert math.isclose(mean, 0.07 / 3)
    assert math.isclose(error, 0.0088192, rel_tol=1e-4)
    assert math.isclose(interval, 0.0379457, rel_tol=1e-4)
    assert signed(mean, interval) == "+2.3 ± 3.8"
    with pytest.raises(ValueError, match="two seeds"):
        paired(first[:1], second, ACCURACY)


def test_scores_are_no_per_cents() -> None:
    assert spread(pd.Series([0.5, 0.44]), shares=False) == "0.470 ± 0.042"
    assert spread(pd.Series([0.5, None])) == "50.0"
    assert spread(pd.Series([None], dtype=float)) == ""


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, ""), (math.nan, ""), (12.0, "12"), (20876.4, "20,876"), (2.302585, "2.303"), (0.00001, "0.00001")],
)
def test_numbers_are_short(value: float | None, text: str) -> None:
    assert short(value) == text


def test_missing_figures_are_empty_cells() -> None:
    assert points(None) == points(math.nan) == ""


def test_a_table_leaves_out_columns_without_a_figure() -> None:
    assert table(["a", "b", "c"], [["1", "", "2"]]) == "| a | c |\n| --- | --- |\n| 1 | 2 |\n"


PAGE = "By hand.\n<!-- generated: one -->\nold\n<!-- end -->\nMore.\n<!-- generated: two -->\n<!-- end -->\n"


def test_only_generated_parts_are_replaced() -> None:
    once = filled(PAGE, {"one": "| 1 |\n", "two": "| 2 |\n"})
    assert "old" not in once
    assert once.startswith("By hand.\n<!-- generated: one -->\n\n| 1 |\n\n<!-- end -->\nMore.\n")
    assert filled(once, {"one": "| 1 |\n", "two": "| 2 |\n"}) == once


@pytest.mark.parametrize(
    ("page", "parts", "reason"),
    [
        (PAGE, {"one": ""}, "two"),
        (PAGE, {"one": "", "two": "", "three": ""}, "three"),
        (PAGE + PAGE, {"one": "", "two": ""}, "twice"),
        (PAGE + "<!-- generated: three -->\n", {"one": "", "two": "", "three": ""}, "not closed"),
    ],
)
def test_markers_and_parts_belong_together(page: str, parts: dict[str, str], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        filled(page, parts)
