"""Accuracy by subgroup, from records of kind ``fairness``."""

from collections.abc import Mapping, Sequence
from typing import Any

from textveil_training.errors import RecordError
from textveil_training.report.charts import Section, Table
from textveil_training.report.fields import Fields
from textveil_training.report.laws import Law, law_of
from textveil_training.report.records import Run
from textveil_training.report.tables import plain, points

_WITHOUT_LAW = {"clean": "clean model", "no privacy": "without privacy"}


def section(runs: Sequence[Run]) -> Section | None:
    """A table for each record; None without records."""
    if not runs:
        return None
    text = (
        "Accuracy of the main task on texts with and without each private attribute, with standard errors over texts. "
        "A gap is accuracy with it minus accuracy without; its interval holds together with those of the other "
        "attributes of the same model, and a star marks gaps whose interval leaves 0 out. The gap of the same class "
        "gives both sides the same mixture of classes; the change is that of the gap against the clean model, on the "
        "same texts.",
    )
    return Section("fairness", "Accuracy by subgroup", text, [_table(run, n) for n, run in enumerate(runs, 1)])


def _table(run: Run, number: int) -> Table:
    rows: list[tuple[str, ...]] = []
    lines = run.result.get("lines")
    if not isinstance(lines, list) or not all(isinstance(line, Mapping) for line in lines):
        raise RecordError("result.lines is not a list of objects", run.place)
    for line in lines:
        fields = Fields(line, run.place)
        law = law_of(fields, needs_bundle=False)
        attributes = fields.at("result.attributes")
        if not isinstance(attributes, list) or not all(isinstance(one, Mapping) for one in attributes):
            raise RecordError("result.attributes is not a list of objects", run.place)
        for one in attributes:
            rows.append((*_model(fields, law), *_cells(Fields(one, run.place))))
    sizes = ", ".join(f"{part['examples']:,} texts" for part in run.splits.values() if part.get("examples"))
    of = run.settings.get("of")
    caption = ", ".join(str(part) for part in (run.task, of, sizes) if part)
    columns = (
        "model",
        "epsilon",
        "kind of epsilon",
        "draws",
        "attribute",
        "texts with",
        "accuracy with",
        "texts without",
        "accuracy without",
        "gap",
        "interval",
        "gap, same class",
        "change of the gap",
    )
    return Table(f"fairness-{number}", f"{caption}: accuracy by subgroup, per cent", columns, tuple(rows)).trimmed()


def _model(fields: Fields, law: Law | None) -> list[str]:
    kind, draws = fields.text("kind") or "", fields.number("draws", 1)
    if law is None:
        return [_WITHOUT_LAW.get(kind, "without privacy"), "", "", ""]
    name = ", ".join(part for part in (law.mechanism, f"{law.tail} tail" if law.tail else "") if part)
    said = "before the noise" if kind == "without noise" else "" if draws is None else f"{draws:.0f}"
    return [name, plain(law.epsilon), law.kind if law.learns else "", said]


def _cells(fields: Fields) -> list[str]:
    cells = [fields.needed("name", fields.text("name"))]
    for side in ("with", "without"):
        examples = fields.needed(f"{side}.examples", fields.number(f"{side}.examples", 0))
        accuracy, error = fields.number(f"{side}.accuracy", 0, 1), fields.number(f"{side}.standard_error", 0, 1)
        cells += [f"{examples:,.0f}", "too few" if accuracy is None else points(accuracy) + _error(error)]
    interval = fields.pair("interval")
    ends = "" if interval is None else f"[{100 * interval[0]:+.1f}, {100 * interval[1]:+.1f}]"
    return [*cells, _gap(fields, ""), ends, _gap(fields, "within_classes."), _gap(fields, "change_from_clean.")]


def _gap(fields: Fields, prefix: str) -> str:
    gap = fields.number(f"{prefix}gap", -2, 2)
    if gap is None:
        return ""
    star: Any = fields.at(f"{prefix}differs")
    return f"{100 * gap:+.1f}{_error(fields.number(f'{prefix}gap_standard_error', 0))}{' *' if star is True else ''}"


def _error(error: float | None) -> str:
    return "" if error is None else f" ± {100 * error:.1f}"
