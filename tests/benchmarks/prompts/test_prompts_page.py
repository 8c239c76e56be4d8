"""The page has what was measured, and nothing else."""

import json
import shutil
from pathlib import Path

import pytest
from prompts.tools import TOOLS
from report import prompts
from report.write import RECORDS


@pytest.fixture
def results(tmp_path: Path) -> Path:
    shutil.copytree(RECORDS / "prompts", tmp_path / "prompts")
    for path in (tmp_path / "prompts").glob("names-*.json"):
        if not path.name.startswith("names-none-"):
            path.unlink()
    verdicts = tmp_path / "prompts" / "verdicts.json"
    verdicts.write_text(json.dumps({**json.loads(verdicts.read_text("utf-8")), "runs": []}), "utf-8")
    return tmp_path


def change(path: Path, **changes: object) -> None:
    path.write_text(json.dumps({**json.loads(path.read_text("utf-8")), **changes}), "utf-8")


def add_run(results: Path, *, counts: bool) -> None:
    run = {"reader": "second", "kappa": 0.7, "counts": counts, "tools": {"names-none-tag": {"pupa": [1, 2, 7]}}}
    change(results / "prompts" / "verdicts.json", runs=[run])


def test_every_tool_has_a_name() -> None:
    assert all(prompts.name_tool(name) for name in TOOLS)


def test_settings_without_a_record_are_left_out(results: Path) -> None:
    tables = prompts.tables(results)
    assert "facts `none`" in tables["leak"]
    assert "useful" not in "".join(tables.values())


def test_styles_share_a_row_only_where_they_are_equal(results: Path) -> None:
    assert "surrogates" not in prompts.tables(results)["damage"]
    path = results / "prompts" / "names-none-tag.json"
    found = json.loads(path.read_text("utf-8"))["prompts"]
    found["pupa"]["words_changed"] += 1
    change(path, prompts=found)
    assert "| `names`, facts `none`, surrogates |" in prompts.tables(results)["damage"]


def test_a_run_that_does_not_count_is_in_the_table_and_not_in_the_picture(results: Path) -> None:
    before = prompts.find_points(results)
    add_run(results, counts=False)
    assert "second, kappa 0.70: does not count" in prompts.tables(results)["answerable"]
    assert prompts.find_points(results) == before
    add_run(results, counts=True)
    assert [point.label for point in prompts.find_points(results)][len(before) :] == ["names, facts none, tags"]


def test_a_tool_without_a_measured_leak_is_not_in_the_picture(results: Path) -> None:
    (results / "prompts" / "presidio.json").unlink()
    assert {point.ours for point in prompts.find_points(results)} == {True}
    assert set(prompts.pictures(results)) == {"prompts.png"}
