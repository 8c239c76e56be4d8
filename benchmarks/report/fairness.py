"""Write the tables of docs/results/fairness.md from ``fairness_ag-l1.json`` and ``fairness_ag-balanced.json``."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
from report.pages import points, short, table
from report.records import Frame, RecordError, read_objects

Attribute = dict[str, Any]
Cell = Callable[[Attribute], str]


def tables(results: Path) -> dict[str, str]:
    """Return the generated parts of the page by name."""
    vectors = read_lines(results / "fairness_ag-l1.json")
    texts = read_lines(results / "fairness_ag-balanced.json")
    text_rows = texts.assign(label=["raw text", "balanced"])
    changed = text_rows[1:].assign(label="")
    return {
        "accuracy": _with_all(vectors, _sides),
        "gaps": _by_person(vectors, _gap()),
        "changes": _by_person(vectors[vectors.kind != "clean"], _gap("change_from_clean")),
        "gaps-same-topics": _by_person(vectors, _gap("within_classes")),
        "sanitized-text": table(
            ["", "all texts", *_names(texts)],
            [
                *_lines(text_rows, ", with / without", _sides, whole=True),
                *_lines(text_rows, ", gap", _gap()),
                *_lines(changed, "change of the gap", _gap("change_from_clean")),
                *_lines(text_rows, ", gap with the same topics", _gap("within_classes")),
            ],
        ),
    }


def read_lines(path: Path) -> Frame:
    """Return the measurements of a record, a row for each model and epsilon.

    The private model without noise is the same at every level, so only the first of its lines is kept.

    Returns:
        Columns ``kind`` (``clean``, ``without noise`` or ``private``), ``label``, ``accuracy``, ``standard_error`` and
        ``attributes``.

    Raises:
        RecordError: The model without noise differs between levels.
    """
    (_, record), *_ = read_objects(path)
    lines = pd.json_normalize(record["result"]["lines"], max_level=1)
    lines = lines.rename(columns=lambda name: name.removeprefix("result."))
    levels = lines["release.epsilon"].map(short)
    named = {"clean": "clean model", "without noise": "private model, no noise"}
    lines["label"] = [named.get(kind, level) for kind, level in zip(lines.kind, levels, strict=True)]
    if lines[lines.kind == "without noise"].accuracy.nunique() > 1:
        raise RecordError(f"{path.name}: the model without noise differs between levels")
    order = lines.kind.map({"clean": 0, "no privacy": 0, "without noise": 1, "private": 2})
    return lines.assign(order=order).sort_values("order", kind="stable").drop_duplicates("label")


def _names(lines: Frame) -> list[str]:
    return [one["name"] for one in lines.attributes.iloc[0]]


def _with_all(lines: Frame, cell: Cell) -> str:
    columns = ["epsilon of the whole text", "all texts", *_names(lines)]
    return table(columns, _lines(lines, "", cell, whole=True))


def _by_person(lines: Frame, cell: Cell) -> str:
    rows = [[label, *rest] for label, _, *rest in _lines(lines, "", cell)]
    return table(["epsilon", *_names(lines)], rows)


def _lines(lines: Frame, more: str, cell: Cell, *, whole: bool = False) -> list[list[str]]:
    return [
        [
            f"{line.label}{more}",
            f"{points(line.accuracy)} ± {points(line.standard_error)}" if whole else "",
            *map(cell, line.attributes),
        ]
        for _, line in lines.iterrows()
    ]


def _sides(attribute: Attribute) -> str:
    return " / ".join(points(attribute[side]["accuracy"]) for side in ("with", "without"))


def _gap(part: str | None = None) -> Cell:
    """Return the cell of a gap with its error; a star marks a joint 95 % interval that excludes 0."""

    def cell(attribute: Attribute) -> str:
        found = attribute if part is None else attribute[part]
        star = " *" if found["differs"] else ""
        return f"{100 * found['gap']:+.1f} ± {points(found['gap_standard_error'])}{star}"

    return cell
