"""Write the tables and pictures of docs/results/reproduced.md from the records of ``textveil-train reproduce``.

The record of a study on a data set is ``benchmarks/results/reproduced/STUDY-DATA.json``; adept-figure1 needs no data.
The figures of the papers are read from the code of the studies.
"""

import json
from pathlib import Path
from typing import Any

from textveil_training.reproduce import (
    STUDIES,
    Reproduction,
    collect_notes,
    draw_picture,
    make_table,
    read_record,
)

FOLDER = "reproduced"
DATA = {
    "adept-figure1": "",
    "dpnr-table2-ag": "AG News with entities",
    "dpnr-table4-ag": "AG News with entities",
    "dpnr-table7-ag": "AG News with entities",
    "fbdd-figure6-glove": "GloVe 6B, 50 dimensions",
    "santext-table1-sst2": "SST-2",
    "santext-table1-trec": "TREC",
    "santext-table1-sick": "SICK",
    "santext-table1-qnli": "QNLI, the dev file divided",
    "santext-table3-sst2": "SST-2",
    "santext-figure4-sst2": "SST-2",
}
"""Data of each record; a record that is missing leaves its part of the page empty."""


def read_runs(records: Path) -> dict[str, dict[str, Any]]:
    """Return the records by name."""
    found = {}
    for name in DATA:
        path = records / FOLDER / f"{name}.json"
        if path.is_file():
            found[name] = json.loads(path.read_text("utf-8"))
    return found


def tables(records: Path) -> dict[str, str]:
    """Return the generated parts of the page."""
    return {name: _make_part(name, record) for name, record in read_runs(records).items()}


def drawings(records: Path) -> dict[str, str]:
    """Return pictures as SVG by file name, for studies that have a picture."""
    runs = {name: read_record(record) for name, record in read_runs(records).items()}
    return {f"{FOLDER}/{name}.svg": draw_picture(found) for name, found in runs.items() if _has_picture(found)}


def _has_picture(found: Reproduction) -> bool:
    return any(row.series for row in found.rows)


def _make_part(name: str, record: dict[str, Any]) -> str:
    study, found = STUDIES[record["study"]], read_record(record)
    figures = study.get_figures(record.get("inputs", {}).get("format"))
    header, *rows = make_table(found, figures)
    lines = ["| " + " | ".join(cells) + " |" for cells in (header, ["---"] * len(header), *rows)]
    if _has_picture(found):
        lines += ["", f"![{study.place}, {DATA[name] or 'vectors alone'}]({FOLDER}/{name}.svg)"]
    return "\n".join([*lines, "", *(f"- {note}" for note in collect_notes(study, found, figures))])
