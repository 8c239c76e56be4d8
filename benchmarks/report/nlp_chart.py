"""Draws accuracy, attacks and statistics of words for every level of the default bundle, for docs/results/nlp.md."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter
from report.charts import (
    BLUE,
    INK,
    ORANGE,
    STYLE,
    Curve,
    Place,
    compared,
    height,
    label,
    mean_difference,
    percent,
    titled,
)
from report.records import Column, Frame


@dataclass(frozen=True)
class Line:
    """A line of each picture, and its look."""

    label: str
    mechanism: str
    tail: str
    color: str
    marker: str
    style: str


LINES = (
    Line("SanText,\nexact tail", "santext", "exact", BLUE, "o", "-"),
    Line("SanText,\ncapped tail", "santext", "capped", BLUE, "s", "--"),
    Line("SanText+,\nexact tail", "santext+", "exact", ORANGE, "D", "-"),
    Line("SanText+,\ncapped tail", "santext+", "capped", ORANGE, "^", "--"),
)
ACCURACY = "result.test.accuracy"
UNCHANGED, OUTPUTS = "result.statistics.unchanged_median", "result.statistics.outputs_median"
Places = Sequence[Place | None]
"""Where the label of each line is; none where the same look has a label in the other panel."""


def accuracy_by_epsilon(levels: Frame, raw: float) -> Figure:
    """Draws accuracy by certified epsilon, and for SanText by its pure LDP level.

    Bars are standard errors over the test texts.
    """
    places = (
        (Place(2, (-10, 2), "right"), Place(2, (10, -8)), Place(0, (-4, 20)), Place(1, (0, -36))),
        (Place(4, (6, -24)), Place(4, (-12, 2), "right"), None, None),
    )
    with rc_context(STYLE):
        figure = titled(epsilon_finding(levels), (10, 4.8))
        panels = figure.subplots(1, 2, sharey=True)
        for axes, x, of_panel in zip(panels, ("epsilon", "pure_ldp"), places, strict=True):
            _draw(axes, levels[levels[x].notna()], x, ACCURACY, of_panel)
            height(axes, raw, "unsanitized text", side="left")
            height(axes, levels["result.test.majority"].max(), "majority class", below=True)
        _accuracy(panels)
        panels[0].set_xlabel("certified epsilon per unit of distance")
        panels[1].set_xlabel("pure LDP level per word")
        return figure


def accuracy_and_attacks(levels: Frame, raw: float) -> Figure:
    """Draws accuracy over the tokens that an attacker misses: a masked language model, and the contextual attack.

    Bars are standard errors over the test texts.
    """
    places = (
        (Place(3, (8, 6)), Place(2, (-8, -20), "right"), Place(3, (-12, -16), "right"), Place(3, (-12, -2), "right")),
        (Place(3, (8, 6)), Place(2, (-8, -20), "right"), Place(3, (-10, -20), "right"), None),
    )
    with rc_context(STYLE):
        figure = titled(attack_finding(levels), (10, 4.8))
        panels = figure.subplots(1, 2, sharey=True)
        layout: Any = figure.get_layout_engine()
        layout.set(wspace=0.05)
        shown = _missed(levels)
        clean = (1 - levels["result.mask.clean_top1"].mean(), 0)
        for axes, x, of_panel, at in zip(panels, ("mask", "contextual"), places, clean, strict=True):
            _draw(axes, shown, x, ACCURACY, of_panel)
            axes.plot([at], [raw], "*", color=INK, markersize=11, clip_on=False)
            label(axes, "unsanitized text", [(at, raw)], Place(0, (9, -3)), INK)
            percent(axes.xaxis)
        _accuracy(panels)
        panels[1].set_xlim(0, 1)
        panels[0].set_xlabel("tokens that the masked LM misses\n(defense rate)")
        panels[1].set_xlabel("tokens that the contextual attack,\nwhich knows the mechanism, misses")
        return figure


def words_by_epsilon(levels: Frame) -> Figure:
    """Draws N and S of the median word by certified epsilon."""
    places = (
        (Place(3, (10, -10)), Place(3, (10, -14)), Place(3, (-12, -4), "right"), Place(2, (-16, 4), "right")),
        (Place(0, (-4, 10)), Place(1, (4, 8)), Place(1, (-10, -30)), Place(1, (6, -30))),
    )
    with rc_context(STYLE):
        figure = titled(words_finding(levels), (10, 4.6))
        left, right = figure.subplots(1, 2)
        _draw(left, levels, "epsilon", UNCHANGED, places[0])
        _draw(right, levels, "epsilon", OUTPUTS, places[1])
        percent(left.yaxis)
        left.set_ylim(0, 1)
        left.set_title("N: how often the median word stays")
        right.set_title("S: words that hold 95 % of its outputs")
        right.set_ylim(0, 1.15 * levels[OUTPUTS].max())
        right.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
        for axes in (left, right):
            axes.set_xlabel("certified epsilon per unit of distance")
        return figure


def epsilon_finding(levels: Frame) -> str:
    """Returns the title: what the capped tail of SanText costs and gains, on average over the shared epsilons."""
    found = [
        mean_difference(*(_curve(levels, "santext", tail, x) for tail in ("capped", "exact")))
        for x in ("epsilon", "pure_ldp")
    ]
    if None in found:
        return "Accuracy by certified epsilon and by pure LDP level"
    certified, pure = (compared(*each) for each in found if each)
    return (
        f"SanText's capped tail is on average {certified} the exact one at equal certified epsilon,\n"
        f"and {pure} it at equal pure LDP level."
    )


def attack_finding(levels: Frame) -> str:
    """Returns the title: SanText beside SanText+ where an attacker misses as many tokens, both with exact tails."""
    found = [
        mean_difference(*(_curve(_missed(levels), mechanism, "exact", x) for mechanism in ("santext", "santext+")))
        for x in ("mask", "contextual")
    ]
    if None in found:
        return "Accuracy beside the tokens that an attacker misses"
    mask, contextual = (compared(*each) for each in found if each)
    return (
        f"With exact tails SanText is on average {contextual} SanText+ where the contextual attack misses\n"
        f"as many tokens, and {mask} it where the masked LM misses as many."
    )


def words_finding(levels: Frame) -> str:
    """Returns the title: the ranges of N and of S, and which level has the fewest outputs."""
    stays, outputs = levels[UNCHANGED], levels[OUTPUTS]
    title = f"By level, the median word stays in {100 * stays.min():.0f} to {100 * stays.max():.0f} % of its draws."
    fewest = levels.loc[levels.groupby(["mechanism", "tail"])[OUTPUTS].idxmin()].level.unique()
    if len(fewest) > 1:
        return f"{title}\n95 % of its outputs are spread over {outputs.min():,.0f} to {outputs.max():,.0f} words."
    others = outputs[levels.level != fewest[0]]
    return (
        f"{title} 95 % of its outputs are spread over\nat least {others.min():,.0f} words at every level but "
        f"{fewest[0]}, and over at least {outputs.min():,.0f} at {fewest[0]}."
    )


def _missed(levels: Frame) -> Frame:
    """Adds what share of the tokens each attacker does not name."""
    return levels.assign(mask=levels["result.mask.defense"], contextual=1 - levels["result.contextual.top1"])


def _of(levels: Frame, mechanism: str, tail: str) -> Frame:
    return levels[(levels.mechanism == mechanism) & (levels["tail"] == tail)].sort_values("epsilon")


def _errors(found: Frame) -> Column:
    """Standard errors of accuracy over test texts: the records have one copy of the texts a level."""
    return (found[ACCURACY] * (1 - found[ACCURACY]) / found["data.splits.test.examples"]) ** 0.5


def _curve(levels: Frame, mechanism: str, tail: str, x: str) -> Curve:
    found = _of(levels, mechanism, tail)
    return list(zip(found[x].astype(float), found[ACCURACY], _errors(found), strict=True))


def _draw(axes: Axes, levels: Frame, x: str, y: str, places: Places) -> None:
    for line, place in zip(LINES, places, strict=True):
        found = _of(levels, line.mechanism, line.tail)
        xs, ys = found[x].astype(float).tolist(), found[y].tolist()
        axes.errorbar(
            xs, ys, _errors(found) if y == ACCURACY else None, color=line.color, marker=line.marker,
            linestyle=line.style, capsize=2, elinewidth=0.8,
        )  # fmt: skip
        if place is not None:
            label(axes, line.label, list(zip(xs, ys, strict=True)), place, line.color)


def _accuracy(panels: Sequence[Axes]) -> None:
    panels[0].set_ylabel("accuracy on SST-2, frozen features")
    panels[0].set_ylim(0.46, 0.83)
    percent(panels[0].yaxis)
