"""Set the style of the pictures of docs/results, and draw titles, axes and labels.

The title of every picture states the finding, computed from the records. Lines have labels instead of a legend. They
also differ in marker and style, for prints in black and white. The colors are from Okabe and Ito (2008); people with
any kind of color vision can distinguish them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator, PercentFormatter
from PIL import Image
from sklearn.isotonic import isotonic_regression

INK, GRAY = "#1b1f24", "#6e7781"
BLUE, ORANGE, GREEN, PINK = "#0072b2", "#d55e00", "#009e73", "#b0558f"
STYLE: Any = {
    "savefig.dpi": 150, "font.size": 11, "axes.titlesize": 11.5, "axes.titlelocation": "left",
    "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True, "grid.color": "#d8dee4",
    "grid.linewidth": 0.7, "lines.linewidth": 1.8, "lines.markersize": 6.5, "text.color": INK, "axes.labelcolor": INK,
    "axes.edgecolor": INK, "xtick.color": INK, "ytick.color": INK,
}  # fmt: skip
SMALL = 9.5
"""Size of the labels at lines."""


@dataclass(frozen=True)
class Place:
    """The place of a line's label.

    Attributes:
        at: Index of the point next to the label.
        offset: Distance from this point, in typographic points.
        align: Horizontal alignment of the label at this place.
    """

    at: int
    offset: tuple[int, int]
    align: str = "left"


@dataclass(frozen=True, kw_only=True)
class End:
    """The end of a line, and the label for it."""

    x: float
    y: float
    label: str
    color: str


def make_figure(title: str, size: tuple[float, float]) -> Figure:
    """Return an empty figure with a title. Call this function and draw inside of ``rc_context(STYLE)``."""
    figure = Figure(figsize=size, layout="constrained")
    figure.suptitle(title, x=0.01, ha="left", fontsize=11.5)
    return figure


def save(figure: Figure, path: Path) -> None:
    """Write a picture as PNG with 256 colors, which takes a third of the bytes."""
    drawn = BytesIO()
    figure.savefig(drawn, format="png", facecolor="white")
    Image.open(drawn).convert("RGB").quantize(256, dither=Image.Dither.NONE).save(path, optimize=True)


def percent(*axes: Axis) -> None:
    """Format axes of shares in percent."""
    for axis in axes:
        axis.set_major_formatter(PercentFormatter(1, decimals=0))


def by_epsilon(axes: Axes, epsilons: Sequence[float], ticks: Sequence[float], room: float) -> None:
    """Make the x axis logarithmic, and extend it to the last epsilon times ``room`` to make room for labels."""
    axes.set_xscale("log")
    axes.set_xlim(epsilons[0] * 0.9, epsilons[-1] * room)
    axes.xaxis.set_major_locator(FixedLocator(list(ticks)))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xlabel("epsilon of the whole text (logarithmic)")


def height(
    axes: Axes, y: float, name: str, *, color: str = GRAY, below: bool = False, side: str = "right", shift: int = 0
) -> None:
    """Draw a thin line across the panel, with a name at one side, moved ``shift`` points towards the middle."""
    right = side == "right"
    axes.axhline(y, color=color, linewidth=1, zorder=1)
    axes.annotate(
        name, (1 if right else 0, y), (-3 - shift if right else 3 + shift, -3 if below else 3), color=GRAY,
        xycoords=axes.get_yaxis_transform(), textcoords="offset points", ha=side, va="top" if below else "baseline",
        fontsize=SMALL,
    )  # fmt: skip


def label(axes: Axes, text: str, points: Sequence[tuple[float, float]], place: Place, color: str) -> None:
    """Write a label next to a point of a line, if the line has this point."""
    if place.at < len(points):
        axes.annotate(
            text, points[place.at], place.offset, textcoords="offset points", color=color, ha=place.align, fontsize=9,
            linespacing=0.95,
        )  # fmt: skip


def label_ends(axes: Axes, ends: Sequence[End], x: float, gap: float = 0.046) -> None:
    """Write labels to the right of line ends, in the same order, so that leader lines do not cross.

    Args:
        axes: The panel; the limits of its y axis must be final.
        ends: The ends.
        x: Left edge of all labels.
        gap: The least distance between two labels, as a share of the panel's height.
    """
    low, high = axes.get_ylim()
    ordered = sorted(ends, key=lambda end: end.y)
    for end, y in zip(ordered, apart([end.y for end in ordered], gap * (high - low)), strict=True):
        leader = {"arrowstyle": "-", "color": end.color, "linewidth": 0.7, "shrinkA": 1, "shrinkB": 5}
        axes.annotate(
            end.label, (end.x, end.y), (x, y), color=end.color, va="center", fontsize=SMALL,
            arrowprops={**leader, "relpos": (0, 0.5)}, bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.5},
        )  # fmt: skip


def apart(heights: Sequence[float], gap: float) -> list[float]:
    """Return the heights nearest to the given ones (by least squares) that are at least ``gap`` apart.

    The given heights must be in rising order.
    """
    steps = gap * np.arange(len(heights))
    return list(isotonic_regression(np.asarray(heights) - steps) + steps)


def describe_difference(difference: float, error: float) -> str:
    """Return a phrase for the difference of two accuracies, ``level with`` within two standard errors."""
    if abs(difference) <= 2 * error:
        return "level with"
    return f"{100 * abs(difference):.1f} points {'above' if difference > 0 else 'below'}"
