"""Draw accuracy by epsilon for the releases of docs/results/vectors.md, with a label next to each line."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from matplotlib import rc_context
from matplotlib.figure import Figure
from report.charts import (
    BLUE,
    GRAY,
    GREEN,
    INK,
    ORANGE,
    PINK,
    STYLE,
    End,
    by_epsilon,
    height,
    label_ends,
    make_figure,
    percent,
)


@dataclass(frozen=True)
class Line:
    """A line of the picture: the row and the look."""

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


def accuracy_of_rows(
    tasks: Mapping[str, str],
    epsilons: Sequence[float],
    heights: Mapping[str, Sequence[Sequence[tuple[float, float] | None]]],
    majority: Mapping[str, float],
    title: str,
) -> Figure:
    """Draw one panel per task. Bars show standard errors of the mean over seeds.

    Args:
        tasks: Names of the tasks.
        epsilons: Whole-text epsilons.
        heights: Accuracies and their standard errors, by task, line of ``LINES`` and epsilon.
        majority: Share of the most frequent class, by task.
        title: Title of the picture.
    """
    with rc_context(STYLE):
        figure = make_figure(title, (11, 5.4))
        for axes, (task, name) in zip(figure.subplots(1, len(tasks), sharey=True), tasks.items(), strict=True):
            axes.set_ylim(0.1, 1.03)
            ends = []
            for line, found in zip(LINES, heights[task], strict=True):
                at = [(x, *y) for x, y in zip(epsilons, found, strict=True) if y is not None]
                if at:
                    xs, ys, errors = zip(*at, strict=True)
                    look = {"linestyle": line.style, "marker": line.marker, "color": line.color}
                    axes.errorbar(xs, ys, errors, capsize=3, elinewidth=1, **look)
                    ends.append(End(x=xs[-1], y=ys[-1], label=line.label, color=line.color))
            by_epsilon(axes, epsilons, [e for e in epsilons if e != 10], room=5)  # 12 is too close to 10
            label_ends(axes, ends, epsilons[-1] * 1.2)
            height(axes, majority[task], "majority class", below=True)
            percent(axes.yaxis)
            axes.set_title(name)
        figure.axes[0].set_ylabel("accuracy on the test texts")
        return figure
