"""Numbers in tables: means and deviations over seeds, and the markers of generated parts."""

import math

import pandas as pd
import pytest
from report.pages import fill_page, points, short, spread, table


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
    once = fill_page(PAGE, {"one": "| 1 |\n", "two": "| 2 |\n"})
    assert "old" not in once
    assert once.startswith("By hand.\n<!-- generated: one -->\n\n| 1 |\n\n<!-- end -->\nMore.\n")
    assert fill_page(once, {"one": "| 1 |\n", "two": "| 2 |\n"}) == once


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
        fill_page(page, parts)
