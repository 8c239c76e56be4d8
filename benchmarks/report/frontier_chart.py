"""Draws accuracy over the strongest attack: what a mechanism is worth beside what an attacker makes of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from charts import BLUE, GRAY, GREEN, INK, ORANGE, PINK, STYLE
from matplotlib import rc_context
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter


@dataclass(frozen=True)
class Line:
    """A line of the picture: the rows on it, and its look."""

    label: str
    rows: tuple[str, ...]
    color: str
    marker: str
    style: str


LINES = (
    Line("staircase, every word drawn", ("every-8", "every-10", "every-12"), BLUE, "o", "--"),
    Line("staircase, function words seen", ("seen-8", "seen-10", "seen-12"), BLUE, "o", "-"),
    Line("staircase as shipped (kinds, cap)", ("shipped-8", "shipped-10", "shipped-12"), GREEN, "D", "-"),
    Line("k-RR, every word drawn", ("krr-every-8", "krr-every-10"), ORANGE, "s", "--"),
    Line("k-RR, function words seen", ("krr-seen-8", "krr-seen-10"), ORANGE, "s", "-"),
    Line(
        "SanText, SanText+",
        ("santext-textbook", "santext-certified", "santext-plus"),
        PINK,
        "^",
        "",
    ),
)
Series = tuple[Line, list[tuple[float, list[float]]]]


def accuracy_by_attack(tasks: Sequence[str], lines: Sequence[Series], heights: Mapping[str, Sequence[float]]) -> Figure:
    """Draws one panel a task.

    Args:
        tasks: Their names.
        lines: Looks, and for each level the share of SST-2's content words that is named and the accuracy of each task.
        heights: Accuracy of raw text, and of deleting all but function words, for each task.
    """
    with rc_context(STYLE):
        figure = Figure(figsize=(10, 4.6), layout="constrained")
        for number, (axes, task) in enumerate(zip(figure.subplots(1, len(tasks)), tasks, strict=True)):
            for line, places in lines:
                at, heights_of = [x for x, _ in places], [values[number] for _, values in places]
                axes.plot(
                    at,
                    heights_of,
                    linestyle=line.style or "none",
                    marker=line.marker,
                    color=line.color,
                    label=line.label,
                )
            for name, text in (("raw", "raw text"), ("delete", "the rest deleted")):
                axes.axhline(heights[name][number], color=INK if name == "raw" else GRAY, linewidth=1, zorder=1)
                axes.annotate(
                    text, (1, heights[name][number]), (-3, 3), color=GRAY, xycoords=axes.get_yaxis_transform(),
                    textcoords="offset points", ha="right", fontsize=9.5,
                )  # fmt: skip
            axes.set_title(task)
            axes.set_xlim(0, 1)
            axes.xaxis.set_major_formatter(PercentFormatter(1, decimals=0))
            axes.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
            if not number:
                axes.set_ylabel("accuracy, quick classifier")
            axes.set_xlabel("content words of SST-2\nthat the strongest attack names")
        handles, names = figure.axes[0].get_legend_handles_labels()
        figure.legend(handles, names, loc="outside lower center", ncols=3, handlelength=3)
        return figure
