"""Result of a reproduction: rows of a table, a record, and a page with a table and a picture."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from html import escape
from pathlib import Path
from typing import Any

from textveil.storage import open_atomic_text

from textveil_training.errors import DataOptionError, InvalidJson
from textveil_training.reproduce.published import PublishedStudy
from textveil_training.terminal_tables import format_table

FORMAT, VERSION = "textveil-reproduction", 1
SAMPLE_NOTE = (
    "Small form: it runs on a sample (504 invented messages, 3,000 words) and shows that the code runs. Its figures "
    "say nothing about the paper, so none of the paper's stands beside them. Pass --data or --vectors to reproduce."
)


@dataclass(frozen=True, kw_only=True)
class ReproducedRow:
    """A row of a reproduced table.

    Attributes:
        name: Name of the row, which the paper's figures are stored under.
        figures: Figures by column.
        error: Standard error of the first figure, if it is known.
        series: Name of the line of the picture that the row is a point of; empty for none.
        position: Position of the point on the horizontal axis.
    """

    name: str
    figures: Mapping[str, float]
    error: float | None = None
    series: str = ""
    position: float | None = None


@dataclass(frozen=True, kw_only=True)
class Reproduction:
    """The outcome of a study.

    Attributes:
        rows: Rows of the table.
        axes: Titles of the horizontal and the vertical axis of the picture.
        notes: Sentences about this run.
        facts: Settings, data and measurements for the record.
    """

    rows: Sequence[ReproducedRow]
    axes: tuple[str, str]
    notes: Sequence[str] = ()
    facts: Mapping[str, Any] = field(default_factory=dict[str, Any])


def read_paper_figures(path: Path) -> dict[str, str]:
    """Read the paper's figures from a JSON object of row names and figures.

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


def check_paper_figures(figures: Mapping[str, str], found: Reproduction) -> None:
    """Check that each of the given figures belongs to a row.

    Raises:
        DataOptionError: A figure has the name of no row.
    """
    names = [row.name for row in found.rows]
    if unknown := [name for name in figures if name not in names]:
        raise DataOptionError(
            f"--paper has {len(unknown)} figures of rows that this study does not have; its rows are: "
            + "; ".join(names)
        )


def make_table(found: Reproduction, paper: Mapping[str, str] | None) -> list[list[str]]:
    """Return the cells of the table, the header first; ``paper`` None leaves out the paper's column."""
    columns = list(dict.fromkeys(column for row in found.rows for column in row.figures))
    table = [["", *columns, *(["the paper's"] if paper is not None else [])]]
    for row in found.rows:
        cells = [_format_figure(row.figures.get(column)) for column in columns]
        if row.error is not None and cells:
            cells[0] += f" ± {_format_figure(row.error)}"
        table.append([row.name, *cells, *([paper.get(row.name, "")] if paper is not None else [])])
    return table


def format_report(study: PublishedStudy, found: Reproduction, paper: Mapping[str, str] | None) -> str:
    """Format the outcome for a terminal."""
    lines = [f"{study.paper}: {study.place}", study.question, "", format_table(make_table(found, paper), 1), ""]
    return "\n".join([*lines, *(f"- {note}" for note in _collect_notes(study, found, paper))])


def make_record(
    study: PublishedStudy, found: Reproduction, paper: Mapping[str, str] | None, software: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the record of a run; it has no text."""
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


def write_record(path: Path, record: Mapping[str, Any]) -> None:
    """Write a record as JSON.

    Raises:
        OutputError: The file cannot be written.
    """
    with open_atomic_text(path) as write:
        write(json.dumps(record, indent=2, ensure_ascii=False) + "\n")


def write_page(folder: Path, study: PublishedStudy, found: Reproduction, paper: Mapping[str, str] | None) -> None:
    """Write a page in Markdown with the table, and its picture.

    Raises:
        OutputError: A file cannot be written.
    """
    header, *rows = make_table(found, paper)
    table = [header, ["---"] * len(header), *rows]
    lines = [f"# {study.place} of {study.paper}", "", study.question, ""]
    lines += ["| " + " | ".join(cells) + " |" for cells in table]
    has_picture = any(row.series for row in found.rows)
    if has_picture:
        lines += ["", f"![{found.axes[1]} by {found.axes[0]}]({study.name}.svg)"]
        with open_atomic_text(folder / f"{study.name}.svg") as write:
            write(draw_picture(found))
    lines += ["", *(f"- {note}" for note in _collect_notes(study, found, paper)), ""]
    with open_atomic_text(folder / f"{study.name}.md") as write:
        write("\n".join(lines))


def _collect_notes(study: PublishedStudy, found: Reproduction, paper: Mapping[str, str] | None) -> list[str]:
    if paper is None:
        return [SAMPLE_NOTE, *found.notes]
    empty = sum(row.name not in paper for row in found.rows)
    missing = "The paper's figures of this table are not stored: take them from the paper, and pass them with --paper."
    some = "An empty cell: the paper has no such row, or its figure is not stored; --paper fills it in."
    note = [] if not empty else [missing if empty == len(found.rows) else some]
    return [*note, *found.notes, *study.differences]


def _format_figure(figure: float | None) -> str:
    if figure is None:
        return ""
    return f"{figure:,.0f}" if abs(figure) >= 1000 or figure == int(figure) else f"{figure:.3g}"


_WIDTH, _HEIGHT, _LEFT, _BOTTOM = 640, 360, 60, 46
_COLORS = ("#1b6ca8", "#c8553d", "#2d7d46", "#7b4fa3", "#b8860b", "#4a4a4a")


def draw_picture(found: Reproduction) -> str:
    """Draw the first figure of each row by its position, one line for each series, as SVG."""
    series: dict[str, list[tuple[float, float]]] = {}
    for row in found.rows:
        if row.series and row.position is not None:
            series.setdefault(row.series, []).append((row.position, next(iter(row.figures.values()))))
    points = [point for line in series.values() for point in line]
    (left, right), (low, high) = ((min(axis), max(axis)) for axis in zip(*points, strict=True))
    right, high = (right if right > left else left + 1), (high if high > low else low + 1)

    def place(point: tuple[float, float]) -> tuple[float, float]:
        x = _LEFT + (point[0] - left) / (right - left) * (_WIDTH - _LEFT - 20)
        return x, _HEIGHT - _BOTTOM - (point[1] - low) / (high - low) * (_HEIGHT - _BOTTOM - 24)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT + 18 * len(series)}" '
        'font-family="sans-serif" font-size="12">',
        f'<rect width="{_WIDTH}" height="{_HEIGHT + 18 * len(series)}" fill="white"/>',
        f'<path d="M{_LEFT} 20V{_HEIGHT - _BOTTOM}H{_WIDTH - 20}" fill="none" stroke="#888"/>',
        f'<text x="{_WIDTH / 2}" y="{_HEIGHT - 8}" text-anchor="middle">{escape(found.axes[0])}</text>',
        f'<text x="{_LEFT}" y="14">{escape(found.axes[1])}</text>',
    ]
    for value in (low, high):
        parts.append(
            f'<text x="{_LEFT - 6}" y="{place((left, value))[1] + 4:.0f}" text-anchor="end">{value:.3g}</text>'
        )
    for value in sorted({x for x, _ in points}):
        x = place((value, low))[0]
        parts.append(f'<text x="{x:.0f}" y="{_HEIGHT - _BOTTOM + 16}" text-anchor="middle">{value:.3g}</text>')
    for number, (name, line) in enumerate(series.items()):
        color, placed = _COLORS[number % len(_COLORS)], [place(point) for point in sorted(line)]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in placed)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{color}" stroke-width="2"/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{color}"/>' for x, y in placed]
        y = _HEIGHT + 18 * number + 8
        parts.append(f'<circle cx="{_LEFT}" cy="{y - 4}" r="4" fill="{color}"/>')
        parts.append(f'<text x="{_LEFT + 10}" y="{y}">{escape(name)}</text>')
    return "\n".join([*parts, "</svg>", ""])
