"""The notebooks in examples/ run, cell by cell, and contain the outputs of such a run."""

import contextlib
import io
import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import matplotlib
import pytest

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))


def cells(notebook: Path) -> list[dict[str, Any]]:
    return [cell for cell in json.loads(notebook.read_text("utf-8"))["cells"] if cell["cell_type"] == "code"]


def test_there_are_notebooks() -> None:
    assert NOTEBOOKS


@pytest.mark.slow
@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_cell_runs(notebook: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    matplotlib.use("Agg")
    if "from IPython" in notebook.read_text("utf-8"):  # which the tests do not install
        display = SimpleNamespace(HTML=str)
        monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(display=display))
        monkeypatch.setitem(sys.modules, "IPython.display", display)
    names: dict[str, Any] = {}
    for cell in cells(notebook):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile("".join(cell["source"]), notebook.name, "exec"), names)
        streams = [output for output in cell["outputs"] if output["output_type"] == "stream"]
        assert bool(printed.getvalue()) == bool(streams), "the outputs in the notebook are of other code"


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_outputs_are_there_and_are_no_errors(notebook: Path) -> None:
    outputs = [output for cell in cells(notebook) for output in cell["outputs"]]
    assert outputs
    assert not [output for output in outputs if output["output_type"] == "error"]
    assert str(ROOT) not in notebook.read_text("utf-8")
