"""Pictures of private representations: accuracy by epsilon between its bounds, and what noise leaves of a map of texts.

As Figures 3 and 4 of Lyu, He and Li (2020). Only this module imports matplotlib, the extra ``report``. Colours are of
Okabe and Ito (2008), which people with any kind of colour vision can tell apart; lines differ in dash and marker too.
"""

import io
from collections.abc import Sequence
from statistics import mean, stdev
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textveil_training.dpnr.report import Kind, Runs
from textveil_training.errors import ReportError

try:
    from matplotlib import rc_context
    from matplotlib.figure import Figure
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator, PercentFormatter
except ImportError as error:
    raise ReportError(
        "pictures need matplotlib: "
        "install textveil-training with the extra report (in a clone: pip install './server_training[report]')"
    ) from error

INK, GREY = "#1b1f24", "#6e7781"
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
MARKERS = "osD^vP"
_STYLE: Any = {
    "font.size": 9.5,
    "axes.titlesize": 10,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.linewidth": 0.6,
    "grid.color": "#d8dee4",
    "lines.linewidth": 1.6,
    "lines.markersize": 5,
    "legend.frameon": False,
    **dict.fromkeys(("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color"), INK),
}


def accuracy_by_epsilon(runs: Runs, kinds: Sequence[Kind], title: str) -> bytes:
    """Accuracy of some kinds by whole-text epsilon, between majority and ceiling, as a PNG.

    The ceiling, the reference, the best codes and randomised response are those of the first kind's mode.

    Raises:
        ReportError: There is no such kind, or it lacks its bounds.
    """
    if not kinds:
        raise ReportError("there is no kind to draw")
    with rc_context(_STYLE):
        figure = Figure(figsize=(8, 5), layout="constrained")
        panel = figure.subplots()
        first, levels = kinds[0], runs.levels(kinds)
        own = [level for level in levels if level in runs.figures[first]]
        epsilons = [float(level) for level in own]
        bounds = [runs.bound(first, level) for level in own]
        for name, values, dash, colour in (
            ("ceiling: no release is above", [b["ceiling"] for b in bounds], "-", INK),
            ("reference: best private decision", [b["reference"] for b in bounds], "--", INK),
            (f"best codes for {first.mode} noise", [b["placed"]["accuracies"][0] for b in bounds], ":", INK),
            ("label randomised response", [b["label_randomised_response"] for b in bounds], "-.", GREY),
        ):
            panel.plot(epsilons, values, dash, color=colour, label=name, zorder=2)
        for number, kind in enumerate(kinds):
            at = [level for level in levels if level in runs.figures[kind]]
            seeds = [[found["accuracy"] for found in runs.figures[kind][level]] for level in at]
            errors = [stdev(values) if len(values) > 1 else 0.0 for values in seeds]
            panel.errorbar(
                [float(level) for level in at],
                [mean(values) for values in seeds],
                errors,
                color=COLOURS[number % len(COLOURS)],
                marker=MARKERS[number % len(MARKERS)],
                linestyle="none" if number == 0 else "-",
                linewidth=0.9,
                capsize=3,
                label=kind.name,
                zorder=3,
            )
        for name, key, end, side in (
            ("without privacy", "clean", 0, "left"),
            ("majority class", "majority", -1, "right"),
        ):
            height = runs.baselines[key]["accuracy"]
            panel.axhline(height, color=GREY, linewidth=0.8, zorder=1)
            panel.annotate(
                name, (epsilons[end], height), (0, 4), textcoords="offset points", color=GREY, ha=side, fontsize=8.5
            )
        panel.set_xscale("log")
        panel.xaxis.set_major_locator(FixedLocator([float(level) for level in levels]))
        panel.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        panel.xaxis.set_minor_locator(NullLocator())
        panel.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
        panel.set_xlabel("epsilon for the whole text (logarithmic)")
        panel.set_ylabel("accuracy")
        panel.set_title(title)
        panel.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), handlelength=2.6)
        return _png(figure)


def maps_of_texts(
    panels: Sequence[tuple[str, NDArray[np.floating]]],
    colourings: Sequence[tuple[str, NDArray[np.integer], Sequence[str]]],
    seed: int = 0,
) -> bytes:
    """t-SNE maps (van der Maaten and Hinton 2008) of the same texts by several vectors, as a PNG.

    Args:
        panels: Title and vectors, shape (texts, k); one column each.
        colourings: Title, group of every text, names of the groups; one row each.
        seed: Of t-SNE.
    """
    from sklearn.manifold import TSNE

    maps = []
    for _, vectors in panels:
        perplexity = min(30.0, (len(vectors) - 1) / 3)
        tsne = TSNE(random_state=seed, init="pca" if vectors.shape[1] > 1 else "random", perplexity=perplexity)
        maps.append(tsne.fit_transform(vectors.astype(np.float64)))
    with rc_context(_STYLE):
        figure = Figure(figsize=(2.6 * len(panels) + 1.4, 2.7 * len(colourings)), layout="constrained")
        grid = figure.subplots(len(colourings), len(panels), squeeze=False)
        for row, (title, groups, names) in zip(grid, colourings, strict=True):
            for panel, (heading, _), places in zip(row, panels, maps, strict=True):
                for group, name in enumerate(names):
                    of_group = groups == group
                    panel.scatter(
                        *places[of_group].T, s=7, marker=MARKERS[group % len(MARKERS)], linewidth=0, alpha=0.65,
                        color=COLOURS[group % len(COLOURS)], label=name,
                    )  # fmt: skip
                panel.set_xticks([])
                panel.set_yticks([])
                panel.grid(False)
                if panel in grid[0]:
                    panel.set_title(heading)
            row[0].set_ylabel(title)
            row[-1].legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), markerscale=2, handletextpad=0.2)
        return _png(figure)


def _png(figure: Figure) -> bytes:
    out = io.BytesIO()
    figure.savefig(out, format="png", dpi=150, facecolor="white", metadata={"Software": None})
    return out.getvalue()
