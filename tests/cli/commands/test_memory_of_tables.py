"""No cell and no row of a table needs more memory than twelve times its bytes, for any content.

As in ``test_memory.py``. The longest row of the file is measured; other rows are short.
"""

import json
import os
import re
import string
from collections.abc import Callable
from pathlib import Path

import pytest
from memory_of_lines import MOST, shrink, times_its_bytes
from signs import run_of
from textveil import Sanitizer
from textveil_cli.files import blocks, delimited, json_keys

UNITS = {
    "English": "The doctor in Boston said the scan was clean, and Mary agreed. ",
    "letters": "a",
    "letters and commas": "a,",
    "capitals": "A ",
    "quotes": '"',
    "domains": "www.a.com ",
    "umlauts": "é,",
    "U+FDFA apart": "\ufdfa ",
    "escapes": "\\",
    "full stops": ".",
}
Table = Callable[[str, int], str]


def quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def one_cell(unit: str, size: int) -> str:
    return f"name,note\nx,{quoted(run_of(unit, size))}\n"


def one_plain_cell(unit: str, size: int) -> str:
    return "name\tnote\nx\t" + run_of(unit, size).replace('"', "'") + "\n"


def many_columns(unit: str, size: int) -> str:
    cells = size // (len(unit.encode()) + 3) + 1
    return f"note{',x' * cells}\nA{(',' + quoted(unit)) * cells}\n"


def many_columns_of_nothing(unit: str, size: int) -> str:
    return f"note{',' * size}\nA{',' * size}\n"


def one_value(unit: str, size: int) -> str:
    return json.dumps({"note": run_of(unit, size)}, ensure_ascii=False) + "\n"


def escaped_value(unit: str, size: int) -> str:
    return json.dumps({"note": unit * (size // len(json.dumps(unit)[1:-1]) + 1)}) + "\n"


def many_values(unit: str, size: int) -> str:
    return json.dumps({"note": [unit] * (size // (len(unit.encode()) + 4) + 1)}, ensure_ascii=False) + "\n"


def many_keys(unit: str, size: int) -> str:
    keys = {f"{number}{unit}": 1 for number in range(size // (len(unit.encode()) + 10) + 1)}
    return json.dumps({**keys, "note": unit}, ensure_ascii=False) + "\n"


def deep_values(unit: str, size: int) -> str:
    return json.dumps({"else": [{}] * (size // 4), "note": unit}, ensure_ascii=False) + "\n"


CSV, TSV, JSON = ("--csv", "--column", "note"), ("--tsv", "--column", "note"), ("--jsonl", "--key", "note")
#: Rows with one long text, or none.
LONG: dict[str, tuple[Table, tuple[str, ...]]] = {
    "CSV, one cell": (one_cell, CSV),
    "TSV, one cell": (one_plain_cell, TSV),
    "CSV, a cell that stays": (one_cell, ("--csv", "--column", "name")),
    "JSON, one text": (one_value, JSON),
    "JSON, one text with escapes": (escaped_value, JSON),
    "JSON, many keys": (many_keys, JSON),
}
#: Rows of very many parts, each of which would be an object in memory.
MANY: dict[str, tuple[Table, tuple[str, ...]]] = {
    "CSV, many columns": (many_columns, CSV),
    "CSV, many empty columns": (many_columns_of_nothing, CSV),
    "JSON, many texts": (many_values, ("--jsonl", "--key", "note[]")),
    "JSON, empty objects": (deep_values, JSON),
}


@pytest.fixture(autouse=True)
def _small_chunks(monkeypatch: pytest.MonkeyPatch, small: Sanitizer) -> None:
    monkeypatch.setattr(Sanitizer, "load", lambda *given, **more: small)
    shrink(monkeypatch.setattr)


def times(folder: Path, unit: str, table: Table, options: tuple[str, ...], ends: int = 0) -> float:
    """Return the peak memory of ``textveil sanitize`` divided by the bytes of a table of one row."""
    path, out = folder / "in", folder / "out"
    arguments = ["sanitize", "-q", os.fspath(path), "-o", os.fspath(out), *options]
    return times_its_bytes(path, lambda size: table(unit, size), arguments, ends=ends)


@pytest.mark.slow
@pytest.mark.parametrize("row", ["CSV, one cell", "JSON, one text"])
def test_no_long_cell_costs_more(row: str, tmp_path: Path) -> None:
    assert times(tmp_path, UNITS["capitals"], *LONG[row]) <= MOST


@pytest.mark.full
@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("row", LONG)
def test_no_long_cell_of_all_costs_more(row: str, unit: str, tmp_path: Path) -> None:
    assert times(tmp_path, UNITS[unit], *LONG[row]) <= MOST


@pytest.mark.slow
@pytest.mark.parametrize("row", ["JSON, one text"])
def test_no_cell_of_marks_that_are_drawn_costs_more(row: str, tmp_path: Path) -> None:
    table, options = LONG[row]
    assert times(tmp_path, ".", table, (*options, "--sanitize-punctuation")) <= MOST


@pytest.mark.full
@pytest.mark.parametrize("sign", string.punctuation)
@pytest.mark.parametrize("row", LONG)
def test_no_cell_of_any_mark_costs_more(row: str, sign: str, tmp_path: Path) -> None:
    table, options = LONG[row]
    assert times(tmp_path, sign, table, (*options, "--sanitize-punctuation")) <= MOST


@pytest.mark.slow
@pytest.mark.parametrize("row", MANY)
def test_too_many_cells_are_refused_before_they_cost_more(
    row: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for module in (delimited, json_keys):
        monkeypatch.setattr(module, "MAX_CELLS", 1 << 8)
    assert times(tmp_path, "a", *MANY[row], ends=1) <= MOST
    what = "values" if row.startswith("JSON") else "cells"
    where = r": in, (?:row 1 \(line 1\)|the header)"
    assert re.search(rf"{where}: more than 256 {what}( \(--rejected-rows .*)?$", capsys.readouterr().err, re.M)


@pytest.mark.slow
def test_cells_within_texts_are_not_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (delimited, json_keys):
        monkeypatch.setattr(module, "MAX_CELLS", 3)
    for table, options in ((one_cell, CSV), (one_value, JSON)):
        assert times(tmp_path, 'a,"', table, options) <= MOST


@pytest.mark.slow
def test_a_cell_that_is_held_whole_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (blocks, delimited):
        monkeypatch.setattr(module, "LONG_TEXT", 1 << 30)
    assert times(tmp_path, UNITS["capitals"], *LONG["CSV, one cell"]) > MOST
