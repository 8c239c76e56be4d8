"""Draws the pictures of docs/results in one style.

Colors are of Okabe and Ito (2008), which people with any kind of color vision can tell apart. A mechanism has the same
color and marker in every picture; capped tails are dashed.
"""

from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator, PercentFormatter

INK, GRAY = "#1b1f24", "#6e7781"
BLUE, ORANGE, GREEN, PINK = "#0072b2", "#d55e00", "#009e73", "#b0558f"
STYLE: dict[str, Any] = {
    "savefig.dpi": 150, "font.size": 11, "axes.titlesize": 11.5, "axes.titlelocation": "left",
    "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True, "grid.color": "#d8dee4",
    "grid.linewidth": 0.7, "lines.linewidth": 1.8, "lines.markersize": 6.5, "legend.frameon": False,
    "legend.fontsize": 10.5, "text.color": INK, "axes.labelcolor": INK, "axes.edgecolor": INK, "xtick.color": INK,
    "ytick.color": INK,
}  # fmt: skip
MECHANISMS = {
    ("santext", "exact"): ("SanText, exact tail", BLUE, "o", "-"),
    ("santext", "capped"): ("SanText, capped tail", BLUE, "s", "--"),
    ("santext+", "exact"): ("SanText+, exact tail", ORANGE, "D", "-"),
    ("santext+", "capped"): ("SanText+, capped tail", ORANGE, "^", "--"),
}
"""Name, color, marker and line of each series of a picture of the default bundle."""
ACCURACY = "result.test.accuracy"
RAW = "unsanitized text"


def accuracy_by_epsilon(levels: pd.DataFrame, raw: float) -> Figure:
    """Accuracy by certified epsilon, and for SanText by its pure LDP level."""
    with rc_context(STYLE):
        figure = Figure(figsize=(8, 4.4), layout="constrained")
        left, right = figure.subplots(1, 2, sharey=True)
        _series(left, levels, "epsilon", ACCURACY)
        _series(right, levels[levels.mechanism == "santext"], "pure_ldp", ACCURACY)
        for axes in (left, right):
            _height(axes, raw, RAW)
            _height(axes, 0.509, "majority class", below=True)
            axes.set_ylim(0.46, 0.83)
            axes.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
        left.set_ylabel("accuracy on SST-2, frozen features")
        left.set_xlabel("certified epsilon per unit of distance")
        right.set_xlabel("pure LDP level per word")
        _legend_below(figure, left)
        return figure


def accuracy_and_attacks(levels: pd.DataFrame, raw: float) -> Figure:
    """Accuracy beside what an attacker names: by the defense rate, and by the contextual attack."""
    with rc_context(STYLE):
        figure = Figure(figsize=(8, 4.6), layout="constrained")
        left, right = figure.subplots(1, 2, sharey=True)
        _series(left, levels, "result.mask.defense", ACCURACY)
        _series(right, levels.assign(kept=1 - levels["result.contextual.top1"]), "kept", ACCURACY)
        figure.get_layout_engine().set(wspace=0.07)
        clean = levels["result.mask.clean_top1"].mean()
        left.plot([1 - clean], [raw], "*", color=INK, markersize=11, label=RAW)
        right.plot([0], [raw], "*", color=INK, markersize=11, clip_on=False)
        for axes in (left, right):
            axes.set_ylim(0.46, 0.83)
            axes.xaxis.set_major_formatter(PercentFormatter(1, decimals=0))
            axes.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
        right.set_xlim(0, 1)
        left.set_ylabel("accuracy on SST-2, frozen features")
        left.set_xlabel("tokens that the masked LM misses\n(defense rate)")
        right.set_xlabel("tokens that the contextual attack,\nwhich knows the mechanism, misses")
        _legend_below(figure, left, columns=3)
        return figure


def words_by_epsilon(levels: pd.DataFrame) -> Figure:
    """N and S of the median word by certified epsilon."""
    with rc_context(STYLE):
        figure = Figure(figsize=(8, 4.2), layout="constrained")
        left, right = figure.subplots(1, 2)
        _series(left, levels, "epsilon", "result.statistics.unchanged_median")
        _series(right, levels, "epsilon", "result.statistics.outputs_median")
        left.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
        left.set_ylim(0, 1)
        left.set_title("N: how often the median word stays")
        right.set_title("S: words that hold 95 % of its outputs")
        right.set_ylim(0, 21_000)
        right.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
        for axes in (left, right):
            axes.set_xlabel("certified epsilon per unit of distance")
        _legend_below(figure, left)
        return figure


def accuracy_of_vectors(heads: pd.DataFrame, baselines: Mapping[str, Any]) -> Figure:
    """Accuracy of released vectors by whole-text epsilon, between the majority class and the ceiling.

    The best codes are those of ``l1`` noise.
    """
    looks = [(ORANGE, "s"), (BLUE, "o"), (GREEN, "D"), (PINK, "^")]
    with rc_context(STYLE):
        figure = Figure(figsize=(8, 5), layout="constrained")
        axes = figure.subplots()
        bounds = heads[heads["mode"] == "l1"].drop_duplicates("epsilon").sort_values("epsilon")
        for name, column, line, color in (
            ("ceiling: no release can be above", "ceiling", "-", INK),
            ("reference: best private label", "reference", "--", INK),
            ("best codes for l1 noise", "best_codes", ":", INK),
            ("randomized response on the label", "label_randomized_response", "-.", GRAY),
        ):
            axes.plot(bounds.epsilon, bounds[column], line, color=color, label=name)
        names = sorted(
            heads.name.unique(), key=lambda name: (not name.endswith("for all"), not name.startswith("l1"), name)
        )
        for (color, marker), name in zip(looks, names, strict=False):
            found = heads[heads.name == name].groupby("epsilon").accuracy.agg(["mean", "std"])
            alone = name.startswith("l1") and not name.endswith("for all")  # beside the one head: rings, no line
            axes.errorbar(
                found.index, found["mean"], found["std"], color=color, marker=marker, capsize=3, zorder=3 + alone,
                label=f"{name} levels" if name.endswith("for all") else name, linestyle="none" if alone else "-",
                markersize=10 if alone else None, markerfacecolor="none" if alone else color,
            )  # fmt: skip
        axes.set_ylim(baselines["majority"]["accuracy"] - 0.045, 1.02)
        _height(axes, baselines["clean"]["accuracy"], "without privacy", side="left")
        _height(axes, baselines["majority"]["accuracy"], "majority class", below=True)
        axes.set_xscale("log")
        axes.xaxis.set_major_locator(FixedLocator(sorted(heads.epsilon.unique())))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
        axes.set_xlabel("epsilon of the whole text (logarithmic)")
        axes.set_ylabel("accuracy")
        _legend_below(figure, axes)
        return figure


def _series(axes: Axes, levels: pd.DataFrame, x: str, y: str) -> None:
    for (mechanism, tail), (name, color, marker, line) in MECHANISMS.items():
        found = levels[(levels.mechanism == mechanism) & (levels["tail"] == tail)].sort_values("epsilon")
        if len(found):
            axes.plot(found[x].astype(float), found[y], line, marker=marker, color=color, label=name)


def _height(axes: Axes, height: float, name: str, *, below: bool = False, side: str = "right") -> None:
    axes.axhline(height, color=GRAY, linewidth=1, zorder=1)
    axes.annotate(
        name, (1 if side == "right" else 0, height), (-3 if side == "right" else 3, -4 if below else 4), color=GRAY,
        xycoords=axes.get_yaxis_transform(), textcoords="offset points", ha=side, va="top" if below else "bottom",
        fontsize=10,
    )  # fmt: skip


def _legend_below(figure: Figure, axes: Axes, *, columns: int = 2) -> None:
    handles, names = axes.get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=columns, handlelength=3)
