"""What a page is made of: sections of tables and plots, as plain values. Nothing here draws."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Line:
    """One line of a panel.

    Attributes:
        label: In the legend.
        points: ``(x, y, deviation)``, in the order they are joined; the deviation is 0 where there is none.
        dashed: Whether the line is broken.
        hollow: Whether its markers are.
        law: Lines with the same name have the same colour and marker in all plots; the label if empty.
    """

    label: str
    points: tuple[tuple[float, float, float], ...]
    dashed: bool = False
    hollow: bool = False
    law: str = ""

    @property
    def key(self) -> str:
        """What decides its colour."""
        return self.law or self.label


@dataclass(frozen=True)
class Panel:
    """Axes with one quantity on each.

    Attributes:
        x: Name of the horizontal axis.
        y: Name of the vertical axis.
        lines: In the order of the legend.
        marks: Horizontal references: name and height.
        shares: Whether y is a share, and written in per cent.
        x_shares: The same of x.
        logarithmic: Whether y is drawn on a logarithmic scale.
    """

    x: str
    y: str
    lines: tuple[Line, ...]
    marks: tuple[tuple[str, float], ...] = ()
    shares: bool = True
    x_shares: bool = False
    logarithmic: bool = False


@dataclass(frozen=True)
class Curves:
    """A plot of one or more panels.

    Attributes:
        name: Of its file and of its place on the page.
        title: What it shows.
        panels: From left to right.
    """

    name: str
    title: str
    panels: tuple[Panel, ...]

    @property
    def telling(self) -> bool:
        """Whether there is more than one point in a panel."""
        return any(sum(len(line.points) for line in panel.lines) > 1 for panel in self.panels)

    @property
    def description(self) -> str:
        """The ends of every line, for who does not see the plot."""
        said = []
        for panel in self.panels:
            ends = [_ends(panel, line) for line in panel.lines]
            ends += [f"{name}: {_value(height, panel.shares)}" for name, height in panel.marks]
            said.append(f"{panel.y.capitalize()} by {panel.x}. {'; '.join(ends)}.")
        return " ".join(said) + " The tables beside the figure have all numbers."


@dataclass(frozen=True)
class Heat:
    """A table in colours.

    Attributes:
        name: Of its file and of its place on the page.
        title: What it shows.
        row_title: What rows are.
        column_title: What columns are.
        rows: Names, top down.
        columns: Names, left to right.
        values: One list for each row; None where nothing was measured.
        shares: Whether values are written in per cent.
        measure: What they are.
    """

    name: str
    title: str
    row_title: str
    column_title: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    values: tuple[tuple[float | None, ...], ...]
    shares: bool = True
    measure: str = "accuracy"

    @property
    def description(self) -> str:
        """Where the ends of the range are."""
        cells = [
            (value, row, column)
            for row, line in zip(self.rows, self.values, strict=True)
            for column, value in zip(self.columns, line, strict=True)
            if value is not None
        ]
        said = [
            f"{end} {_value(value, self.shares)} at {self.row_title} {row} and {self.column_title} {column}"
            for end, (value, row, column) in (("Lowest", min(cells)), ("highest", max(cells)))
        ]
        return f"{self.measure.capitalize()}. {', '.join(said)}. The table beside the figure has all numbers."


@dataclass(frozen=True)
class Table:
    """A table; cells are plain text, escaped where it is written.

    Attributes:
        name: Of its place on the page.
        caption: What it shows.
        columns: Heads; the first column names the rows.
        rows: As many cells each.
        note: What stands under it.
        shades: From 0 to 1, by row and column: how dark a cell is.
    """

    name: str
    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""
    shades: dict[tuple[int, int], float] = field(default_factory=dict)

    def trimmed(self) -> "Table":
        """Without columns that are empty in every row; the first stays."""
        kept = [place for place in range(len(self.columns)) if place == 0 or any(row[place] for row in self.rows)]
        new = {old: place for place, old in enumerate(kept)}
        return Table(
            self.name,
            self.caption,
            tuple(self.columns[place] for place in kept),
            tuple(tuple(row[place] for place in kept) for row in self.rows),
            self.note,
            {(row, new[column]): shade for (row, column), shade in self.shades.items() if column in new},
        )


@dataclass(frozen=True)
class Section:
    """A part of the page.

    Attributes:
        name: Of its place on the page.
        title: Heading.
        text: Paragraphs of plain text.
        parts: Tables and plots in order.
    """

    name: str
    title: str
    text: tuple[str, ...]
    parts: Sequence[Table | Curves | Heat]


def slug(text: str, taken: Collection[str] = ()) -> str:
    """A name for a file or a place on the page: a to z, digits and single hyphens, at most about 80 of them.

    Args:
        text: Anything, names from records too.
        taken: Names that are given already; an equal one gets a number.
    """
    plain = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:80].strip("-") or "unnamed"
    name, number = plain, 1
    while name in taken:
        number += 1
        name = f"{plain}-{number}"
    return name


def _ends(panel: Panel, line: Line) -> str:
    first, last = line.points[0], line.points[-1]
    at = [f"{_value(y, panel.shares)} at {_value(x, panel.x_shares)}" for x, y, _ in (first, last)]
    return f"{line.label}: {at[0]}" + (f", {at[1]}" if len(line.points) > 1 else "")


def _value(value: float, share: bool) -> str:
    return f"{value:.1%}" if share else f"{value:.4g}"
