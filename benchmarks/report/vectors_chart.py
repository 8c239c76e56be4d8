"""Draws accuracy by epsilon for the releases of docs/results/vectors.md, with a label at each line."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from charts import BLUE, GRAY, GREEN, INK, ORANGE, PINK, STYLE
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator, PercentFormatter


@dataclass(frozen=True)
class Line:
    """A line of the picture: its row, and its look."""

    label: str
    row: str
    name: str
    color: str
    marker: str
    style: str


LINES = (
    Line("ceiling", "ceiling", "static-tuned", INK, "", ":"),
    Line("class, MiniLM tuned", "counts", "minilm-tuned", BLUE, "o", "-"),
    Line("class, static tuned", "counts", "static-tuned", GREEN, "D", "--"),
    Line("16 codes, MiniLM", "codebook", "minilm-16", ORANGE, "s", "-"),
    Line("16 codes, taught static", "codebook", "taught-16", PINK, "^", "--"),
    Line("class as l1 vector", "l1", "static-tuned", GRAY, "x", "-."),
)
_GAP = 0.043


def accuracy_of_rows(
    tasks: Mapping[str, str],
    epsilons: Sequence[float],
    heights: Mapping[str, Sequence[Sequence[tuple[float, float] | None]]],
    majority: Mapping[str, float],
    title: str,
) -> Figure:
    """Draws one panel a task. Bars are standard errors of the mean over seeds.

    Args:
        tasks: What each is called.
        epsilons: Whole-text epsilons.
        heights: Accuracies and their standard errors, by task, line of ``LINES`` and epsilon.
        majority: Share of the commonest class by task.
        title: What the picture shows.
    """
    with rc_context(STYLE):
        figure = Figure(figsize=(11, 5.4), layout="constrained")
        figure.suptitle(title, x=0.01, ha="left", fontsize=11.5)
        for axes, (task, name) in zip(figure.subplots(1, len(tasks), sharey=True), tasks.items(), strict=True):
            ends: list[tuple[float, Line]] = []
            for line, found in zip(LINES, heights[task], strict=True):
                at = [(x, *y) for x, y in zip(epsilons, found, strict=True) if y is not None]
                if at:
                    xs, ys, errors = zip(*at, strict=True)
                    look = {"linestyle": line.style, "marker": line.marker, "color": line.color}
                    axes.errorbar(xs, ys, errors, capsize=3, elinewidth=1, **look)
                    ends.append((ys[-1], line))
            _label(axes, ends, epsilons[-1])
            axes.axhline(majority[task], color=GRAY, linewidth=1, zorder=1)
            axes.annotate("majority class", (epsilons[-1] * 1.12, majority[task]), (0, -12), textcoords="offset points",
                          color=GRAY, fontsize=9.5)  # fmt: skip
            axes.set_title(name)
            axes.set_xscale("log")
            axes.set_xlim(epsilons[0] * 0.9, epsilons[-1] * 5)
            axes.set_ylim(0.1, 1.03)
            axes.xaxis.set_major_locator(FixedLocator([e for e in epsilons if e != 10]))  # 12 is too close
            axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
            axes.xaxis.set_minor_locator(NullLocator())
            axes.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
            axes.set_xlabel("epsilon of the whole text (logarithmic)")
        figure.axes[0].set_ylabel("accuracy on the test texts")
        return figure


def _label(axes: Axes, ends: Sequence[tuple[float, Line]], last: float) -> None:
    """Writes each line's name at its end, moved apart where two are close."""
    height = float("inf")
    for y, line in sorted(ends, key=lambda end: -end[0]):
        height = min(y, height - _GAP)
        axes.annotate(
            line.label, (last, y), (last * 1.12, height), color=line.color, va="center", fontsize=9.5,
            arrowprops={"arrowstyle": "-", "color": line.color, "linewidth": 0.6},
        )  # fmt: skip
