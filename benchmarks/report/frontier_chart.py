"""Draw utility against the share of words that the strongest attack recovers, for each mechanism."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from report.charts import BLUE, GRAY, GREEN, INK, ORANGE, PINK, STYLE, Place, height, label, make_figure, percent
from report.records import Column


@dataclass(frozen=True)
class Line:
    """A line of the picture: the rows and the look.

    Attributes:
        label: Label of the line.
        rows: Rows of the tables, by epsilon.
        color: Color of the line.
        marker: Marker of the points. Marker and style together are unique, so that color is not needed.
        style: Style of the line; with ``""`` no line is drawn.
        panel: Index of the panel that shows the label, where it has most room.
        place: Place of the label in this panel.
    """

    label: str
    rows: tuple[str, ...]
    color: str
    marker: str
    style: str
    panel: int
    place: Place


LINES = (
    Line("mode words", ("shipped-8", "shipped-10", "shipped-12"), GREEN, "D", "-", 0, Place(0, (-6, 8), "right")),
    Line("staircase", ("seen-8", "seen-10", "seen-12"), BLUE, "o", "-", 2, Place(1, (2, -14))),
    Line("k-RR, the same\nskeleton", ("krr-kinds-8", "krr-kinds-10"), PINK, "^", "-", 0, Place(-1, (9, -14))),
    Line("k-RR, function\nwords seen", ("krr-seen-8", "krr-seen-10"), ORANGE, "s", "-", 1, Place(-1, (9, -12))),
)
Series = tuple[Line, list[tuple[float, list[Column]]]]


def accuracy_by_attack(
    tasks: Sequence[str], lines: Sequence[Series], heights: Mapping[str, Sequence[float]], title: str
) -> Figure:
    """Draw one panel per task, of accuracy or, for SICK, r. Bars show the standard deviation over draws.

    Args:
        tasks: Names of the tasks.
        lines: The lines, and for each epsilon the recovered share of SST-2's content words and the scores of each task,
            one score per draw.
        heights: For each task the accuracy with raw text, and with only the function words of the text.
        title: Title of the picture.
    """
    with rc_context(STYLE):
        figure = make_figure(title, (12, 4.4))
        for number, (axes, task) in enumerate(zip(figure.subplots(1, len(tasks)), tasks, strict=True)):
            for line, places in lines:
                _draw(axes, number, line, places)
            for name, text in (("raw", "raw text"), ("delete", "the rest deleted")):
                height(axes, heights[name][number], text, color=INK if name == "raw" else GRAY)
            axes.set_title(task)
            axes.set_xlim(0, 1)
            percent(axes.xaxis, *((axes.yaxis,) if "r" not in task.split() else ()))
            if not number:
                axes.set_ylabel("accuracy, quick classifier; of SICK r")
            axes.set_xlabel("content words of SST-2\nthat our strongest attack names")
        return figure


def _draw(axes: Axes, panel: int, line: Line, places: list[tuple[float, list[Column]]]) -> None:
    at, scores = [x for x, _ in places], [of_tasks[panel] for _, of_tasks in places]
    means = [each.mean() for each in scores]
    axes.errorbar(
        at, means, yerr=[each.std() if len(each) > 1 else 0 for each in scores], linestyle=line.style or "none",
        marker=line.marker, color=line.color, capsize=2, elinewidth=1,
    )  # fmt: skip
    if panel == line.panel:
        label(axes, line.label, list(zip(at, means, strict=True)), line.place, line.color)
