"""Draw accuracy by epsilon for the heads of docs/results/dpnr.md, between the ceiling and the majority class."""

from collections.abc import Mapping
from math import sqrt
from typing import Any

from matplotlib import rc_context
from matplotlib.figure import Figure
from report.charts import (
    GRAY,
    GREEN,
    INK,
    ORANGE,
    PINK,
    STYLE,
    End,
    by_epsilon,
    describe_difference,
    height,
    label_ends,
    make_figure,
    percent,
)
from report.records import Frame

BOUNDS = (
    ("ceiling of any release", "ceiling", ":", "", INK),
    ("best private label", "reference", "--", "", INK),
    ("randomized response", "label_randomized_response", "-.", "x", GRAY),
)
"""Label, column, line, marker and color of each bound or baseline, which is not a trained head."""
HEADS = (
    ("l1 head", "l1", ORANGE, "s", "-"),
    ("box head", "box", GREEN, "D", "--"),
    ("l2 head", "l2", PINK, "^", "-"),
)
"""Label, mode, color, marker and line of each head."""
AT = 4.0
"""The epsilon of the title."""


def accuracy_of_vectors(heads: Frame, baselines: Mapping[str, Any]) -> Figure:
    """Draw the accuracy of released vectors by whole-text epsilon. Bars show the standard deviation over seeds.

    Args:
        heads: One ``l1`` head per epsilon, and the heads of other modes, with the columns of ``Grid.heads``.
        baselines: The clean model and the majority class.
    """
    clean, majority = (baselines[name]["accuracy"] for name in ("clean", "majority"))
    with rc_context(STYLE):
        figure = make_figure(write_title(heads, clean), (9, 5.2))
        axes = figure.subplots()
        epsilons = sorted(heads.epsilon.unique())
        axes.set_ylim(majority - 0.045, 1.02)
        bounds = heads[heads["mode"] == "l1"].drop_duplicates("epsilon").sort_values("epsilon")  # of delta 0
        equal = (bounds.reference - bounds.label_randomized_response).abs().max() < 0.001
        ends = []
        for name, column, line, marker, color in BOUNDS:
            if not (equal and column == "reference"):
                axes.plot(bounds.epsilon, bounds[column], line, marker=marker, color=color)
                ends.append(End(x=epsilons[-1], y=bounds[column].iloc[-1], label=name, color=color))
        for name, mode, color, marker, line in HEADS:
            found = heads[heads["mode"] == mode].groupby("epsilon").accuracy.agg(["mean", "std"])
            if len(found):
                axes.errorbar(
                    found.index, found["mean"], found["std"].fillna(0), color=color, marker=marker, linestyle=line,
                    capsize=3, elinewidth=1, zorder=3,
                )  # fmt: skip
                ends.append(End(x=found.index[-1], y=found["mean"].iloc[-1], label=name, color=color))
        height(axes, clean, "without privacy", side="left")
        height(axes, majority, "majority class", below=True)
        by_epsilon(axes, epsilons, epsilons, room=2.3)
        label_ends(axes, ends, epsilons[-1] * 1.12)
        percent(axes.yaxis)
        axes.set_ylabel("accuracy on the test texts")
        return figure


def write_title(heads: Frame, clean: float) -> str:
    """Return the title, which compares the accuracy of an ``l1`` vector with the clean model and with a label."""
    found = heads[(heads["mode"] == "l1") & (heads.epsilon == AT)]
    if found.empty:
        return "Accuracy by epsilon of the whole text"
    scores = found.accuracy
    error = scores.std() / sqrt(len(scores)) if len(scores) > 1 else 0
    beside = describe_difference(scores.mean() - found.label_randomized_response.iloc[0], error)
    return (
        f"At epsilon {AT:g}, l1 vectors are classified right in {100 * scores.mean():.1f} %: {beside} randomized\n"
        f"response on the label. Without privacy it is {100 * clean:.1f} %."
    )
