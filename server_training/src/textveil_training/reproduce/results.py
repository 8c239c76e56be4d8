"""Store the result of a reproduction, and format it as a table, a JSON record and a report."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from textveil.storage import open_atomic_text

from textveil_training.errors import DataOptionError, InvalidJson
from textveil_training.reproduce.published import SECOND_HAND, SECOND_HAND_NOTE, PublishedStudy
from textveil_training.terminal_tables import format_table

FORMAT, VERSION = "textveil-reproduction", 1
SAMPLE_NOTE = (
    "Small form: this run uses a sample (504 invented messages, 3,000 words) and only shows that the code runs. "
    "Its figures have no relation to the paper's, which are therefore omitted. Pass --data or --vectors to reproduce."
)


@dataclass(frozen=True, kw_only=True)
class ReproducedRow:
    """A row of a reproduced table, with the position of its point in the picture.

    Attributes:
        name: Name of the row, by which the paper's figures are stored.
        figures: Figures by column.
        error: Standard error of the first figure, if it is known.
        series: Name of the line in the picture to which the point belongs; empty for a point without a line.
        position: Position of the point on the horizontal axis.
    """

    name: str
    figures: Mapping[str, float]
    error: float | None = None
    series: str = ""
    position: float | None = None


@dataclass(frozen=True, kw_only=True)
class Reproduction:
    """The result of computing a table or figure of a paper again.

    Attributes:
        rows: Rows of the table.
        axes: Titles of the horizontal and the vertical axis of the picture.
        notes: Sentences about this run.
        facts: Settings, data and measurements, for the JSON record.
    """

    rows: Sequence[ReproducedRow]
    axes: tuple[str, str]
    notes: Sequence[str] = ()
    facts: Mapping[str, Any] = field(default_factory=dict[str, Any])


def read_paper_figures(path: Path) -> dict[str, str]:
    """Read the numbers of a paper from a JSON object that maps the name of each row to its number.

    Raises:
        InvalidJson: The file cannot be read, or is not such an object.
    """
    try:
        content = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise InvalidJson("the figures of --paper cannot be read: pass a JSON object, {ROW: FIGURE}") from error
    if not isinstance(content, dict) or not all(isinstance(one, str | int | float) for one in content.values()):
        raise InvalidJson("the figures of --paper must be a JSON object, {ROW: FIGURE}")
    return {name: str(figure) for name, figure in content.items()}


def check_paper_figures(figures: Mapping[str, str], record: Mapping[str, Any]) -> None:
    """Check that each given number of the paper has the name of a row of the computed table.

    The names of the rows are known only at the end of a study, which may take hours. Call this function after writing
    the record, so that an error does not lose the results.

    Raises:
        DataOptionError: The name of a figure is not the name of a row.
    """
    names = [row["name"] for row in record["rows"]]
    if unknown := [name for name in figures if name not in names]:
        raise DataOptionError(
            f"--paper has {len(unknown)} figures of unknown rows, which are ignored; this study has the rows: "
            + "; ".join(names)
        )


def make_table(found: Reproduction, paper: Mapping[str, str] | None) -> list[list[str]]:
    """Return the cells of a study's table (a table of a paper, computed again), the header first.

    Args:
        found: The outcome of the study.
        paper: The paper's figures by the name of a row; ``None`` to omit the paper's column.
    """
    columns = list(dict.fromkeys(column for row in found.rows for column in row.figures))
    table = [["", *columns, *(["the paper's"] if paper is not None else [])]]
    for row in found.rows:
        cells = [_format_figure(row.figures.get(column)) for column in columns]
        if row.error is not None and row.figures:
            cells[columns.index(next(iter(row.figures)))] += f" ± {_format_figure(row.error)}"
        table.append([row.name, *cells, *([paper.get(row.name, "")] if paper is not None else [])])
    return table


def format_report(study: PublishedStudy, found: Reproduction, paper: Mapping[str, str] | None) -> str:
    """Format the computed table beside the paper's figures, with notes, for a terminal."""
    lines = [f"{study.paper}: {study.place}", study.question, "", format_table(make_table(found, paper), 1), ""]
    return "\n".join([*lines, *(f"- {note}" for note in collect_notes(study, found, paper))])


def make_record(
    study: PublishedStudy, found: Reproduction, paper: Mapping[str, str] | None, software: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the record of a run (settings, figures and software versions) for JSON; it contains no texts."""
    return {
        "format": FORMAT,
        "format_version": VERSION,
        "study": study.name,
        "paper": study.paper,
        "place": study.place,
        "sample": paper is None,
        "rows": [asdict(row) for row in found.rows],
        "paper_figures": paper,
        "axes": list(found.axes),
        "notes": list(found.notes),
        "facts": found.facts,
        "software": software,
    }


def read_record(record: Mapping[str, Any]) -> Reproduction:
    """Recreate the computed table of a study (a table of a paper, computed again) from the JSON record of its run.

    Args:
        record: Content of a record's file.

    Raises:
        InvalidJson: The content is not the record of a reproduction.
    """
    if record.get("format") != FORMAT or record.get("format_version") != VERSION:
        raise InvalidJson("the file is not a record that textveil-train reproduce wrote: pass such a record")
    return Reproduction(
        rows=[ReproducedRow(**row) for row in record["rows"]],
        axes=(record["axes"][0], record["axes"][1]),
        notes=record["notes"],
        facts=record["facts"],
    )


def write_record(path: Path, record: Mapping[str, Any]) -> None:
    """Write the record of a computed table to a JSON file.

    Raises:
        OutputError: The file cannot be written.
    """
    with open_atomic_text(path) as write:
        write(json.dumps(record, indent=2, ensure_ascii=False) + "\n")


def collect_notes(study: PublishedStudy, found: Reproduction, paper: Mapping[str, str] | None) -> list[str]:
    """Return the notes below a table: missing numbers of the paper, settings, and reasons for differences."""
    if paper is None:
        return [SAMPLE_NOTE, *found.notes]
    empty = sum(row.name not in paper for row in found.rows)
    missing = "No figure of the paper is stored for this table and these data: pass those of your copy with --paper."
    some = "An empty cell: the paper has no such row, or its figure is not stored; --paper fills it in."
    notes = [] if not empty else [missing if empty == len(found.rows) else some]
    if any(SECOND_HAND in text for text in (*paper.values(), *study.differences)):
        notes.append(SECOND_HAND_NOTE)
    return [*notes, *found.notes, *study.differences]


def _format_figure(figure: float | None) -> str:
    if figure is None:
        return ""
    return f"{figure:,.0f}" if abs(figure) >= 1000 or figure == int(figure) else f"{figure:.3g}"
