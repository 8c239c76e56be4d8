"""Draws the plots of a page: SVG that takes its colours and its letters from the page, and PNG.

Only this module imports matplotlib, the extra ``report``. Colours are of Okabe and Ito (2008), which people with any
kind of colour vision can tell apart; lines differ in marker too, lines of capped tails are
dashed, and markers of textbook epsilons are hollow.
"""

import io
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from html import escape
from textwrap import fill
from typing import Any

import numpy as np

from textveil_training.errors import ReportError
from textveil_training.report.charts import Curves, Heat, Panel
from textveil_training.report.groups import UNSANITISED

try:
    from matplotlib import rc_context
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.colors import LinearSegmentedColormap
    from matplotlib.figure import Figure
    from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, MaxNLocator, NullFormatter
except ImportError as error:
    raise ReportError(
        "the page needs matplotlib: "
        "install textveil-training with the extra report (in a clone: pip install './server_training[report]')"
    ) from error

COLOURS = {
    "ink": "#1b1f24", "rule": "#d0d7df", "quiet": "#57606a", "paper": "#fefefe",
    "s0": "#0072b2", "s1": "#d55e00", "s2": "#009e73", "s3": "#b0558f", "s4": "#b07d00", "s5": "#2b8cc4",
    "s6": "#6b6b6b",
}  # fmt: skip
"""Colours of the pictures, by the name of the page's CSS variable that replaces each of them there."""
MARKERS = "osD^vPX"
_LETTERS_PER_INCH = 11
"""In a legend, beside the sample of a line."""
WIDE = 20
"""Where the largest x is so many times the smallest, the axis is logarithmic."""
MARKED = {UNSANITISED: "-", "majority class": ":"}
_SERIES = [colour for name, colour in COLOURS.items() if re.fullmatch(r"s\d", name)]
_STYLE: Any = {
    "font.size": 9.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.linewidth": 0.6,
    "grid.color": COLOURS["rule"],
    "lines.linewidth": 1.7,
    "lines.markersize": 5.5,
    "legend.frameon": False,
    "svg.fonttype": "none",
    "text.parse_math": False,  # names in records are text, dollar signs too
    **dict.fromkeys(("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color"), COLOURS["ink"]),
}


class Pictures:
    """Draws the plots of one report, in which one label looks the same everywhere.

    Args:
        plots: All plots that have lines.
    """

    def __init__(self, plots: Iterable[Curves | Heat]) -> None:
        self._looks = line_looks([plot for plot in plots if isinstance(plot, Curves)])

    def svg(self, plot: Curves | Heat) -> str:
        """An ``svg`` element for a page: no outside references, ids of its own, colours and letters of the page."""
        out = io.StringIO()
        settings: Any = {**_STYLE, "svg.hashsalt": plot.name}
        with rc_context(settings):
            self._figure(plot).savefig(out, format="svg", transparent=True, metadata={"Date": None})
        return _inline(out.getvalue(), plot)

    def png(self, plot: Curves | Heat) -> bytes:
        """The same for a document, on white."""
        out = io.BytesIO()
        with rc_context(_STYLE):
            self._figure(plot).savefig(out, format="png", dpi=150, facecolor="white", metadata={"Software": None})
        return out.getvalue()

    def _figure(self, plot: Curves | Heat) -> Figure:
        return self._curves(plot) if isinstance(plot, Curves) else _heat(plot)

    def _curves(self, plot: Curves) -> Figure:
        count = len(plot.panels)
        labels = list({line.label: None for panel in plot.panels for line in panel.lines})
        shared = len({panel.y for panel in plot.panels}) == 1
        width = max(5.6, 3.7 * count)
        written = [fill(label, int(_LETTERS_PER_INCH * width)) for label in labels]
        rows = sum(label.count("\n") + 1 for label in written)
        figure = Figure(figsize=(width, 3.5 + 0.2 * rows), layout="constrained")
        panels = figure.subplots(1, count, squeeze=False, sharey=shared)[0]
        handles = {}
        for axes, panel in zip(panels, plot.panels, strict=True):
            handles |= self._panel(axes, panel)
            axes.set_ylabel("" if shared and axes is not panels[0] else panel.y)
        figure.legend([handles[label] for label in labels], written, loc="outside lower left", handlelength=3)
        return figure

    def _panel(self, axes: Axes, panel: Panel) -> dict[str, Artist]:
        """Draws a panel, and gives what stands for each of its lines in the legend."""
        handles: dict[str, Artist] = {}
        for line in panel.lines:
            colour, marker = self._looks[line.key]
            x, y, deviation = zip(*line.points, strict=True)
            drawn = axes.errorbar(
                x, y, [error or float("nan") for error in deviation], capsize=2.5, elinewidth=1,
                color=colour, marker=marker,
                markerfacecolor=COLOURS["paper"] if line.hollow else None,
                linestyle="--" if line.dashed else "-", zorder=3,
            )  # fmt: skip
            handles[line.label] = drawn[0]
        for name, height in panel.marks:
            axes.axhline(height, color=COLOURS["quiet"], linewidth=1, linestyle=MARKED.get(name, "-."), zorder=1)
        _name_marks(axes, panel.marks)
        axes.set_xlabel(panel.x)
        if panel.logarithmic:
            axes.set_yscale("log")
            low, high = axes.get_ylim()
            axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if high < 200 * low else (1,), numticks=20))
            axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
            axes.yaxis.set_minor_formatter(NullFormatter())
        elif panel.shares:
            axes.yaxis.set_major_formatter(FuncFormatter(_per_cent))
        places = sorted({x for line in panel.lines for x, _, _ in line.points})
        if places[0] > 0 and places[-1] > WIDE * places[0]:
            axes.set_xscale("log")
            axes.xaxis.set_minor_formatter(NullFormatter())
            axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
        few = len(places) <= 8 and min(np.diff(places), default=1) >= 0.1 * (places[-1] - places[0])
        if axes.get_xscale() == "log":
            axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        else:
            axes.xaxis.set_major_locator(FixedLocator(places) if few and not panel.x_shares else MaxNLocator(6))
        if panel.x_shares:
            axes.xaxis.set_major_formatter(FuncFormatter(_per_cent))
        axes.margins(x=0.06, y=0.1)
        if not (panel.shares or panel.logarithmic) and min(y for line in panel.lines for _, y, _ in line.points) >= 0:
            axes.set_ylim(bottom=0)  # else small differences of large counts look large
        return handles


def line_looks(plots: Sequence[Curves]) -> dict[str, tuple[str, str]]:
    """Colour and marker of every line; no two lines have both alike before there are more lines than pairs.

    Each line in turn takes the colour that is rarest among the lines of its panels, then of its plots, then of all.
    """
    panels = [{line.key for line in panel.lines} for plot in plots for panel in plot.panels]
    wholes = [{line.key for panel in plot.panels for line in panel.lines} for plot in plots]
    colours: dict[str, int] = {}

    def taken(groups: Sequence[set[str]], key: str, colour: int) -> int:
        return sum(colours.get(other) == colour for keys in groups if key in keys for other in keys)

    for key in dict.fromkeys(line.key for plot in plots for panel in plot.panels for line in panel.lines):
        if key == UNSANITISED:
            continue
        used = Counter(colours.values())
        colours[key] = min(
            range(len(_SERIES)), key=lambda one: (taken(panels, key, one), taken(wholes, key, one), used[one])
        )
    found = {UNSANITISED: (COLOURS["ink"], "*")}
    used = Counter[int]()
    for key, colour in colours.items():
        found[key] = _SERIES[colour], MARKERS[(colour + used[colour]) % len(MARKERS)]
        used[colour] += 1
    return found


def _per_cent(value: float, _: int | None = None) -> str:
    return f"{100 * value:.4g}%"


def _name_marks(axes: Axes, marks: Sequence[tuple[str, float]]) -> None:
    """Names of horizontal lines, at their right end; of lines that nearly coincide, above and below."""
    ordered = sorted(marks, key=lambda mark: mark[1])
    low, high = axes.get_ylim()
    for number, (name, height) in enumerate(ordered):
        near = number > 0 and height - ordered[number - 1][1] < 0.06 * (high - low)
        lowest = number == 0 and len(ordered) > 1 and ordered[1][1] - height < 0.06 * (high - low)
        axes.annotate(
            name, (1, height), (-2, -3 if lowest else 3), xycoords=axes.get_yaxis_transform(),
            textcoords="offset points", ha="right", va="top" if lowest else "bottom", color=COLOURS["quiet"],
            fontsize=8.5, zorder=2 + near,
        )  # fmt: skip


def _heat(plot: Heat) -> Figure:
    values = [[float("nan") if value is None else value for value in line] for line in plot.values]
    known = [value for line in plot.values for value in line if value is not None]
    low, high = min(known), max(known)
    figure = Figure(
        figsize=(max(4.2, 1.6 + 0.85 * len(plot.columns)), max(2.4, 1.2 + 0.5 * len(plot.rows))), layout="constrained"
    )
    axes = figure.subplots()
    axes.grid(False)
    scale = LinearSegmentedColormap.from_list("blue", ["#e8f1f8", COLOURS["s0"], "#00304d"])
    axes.pcolormesh(values, cmap=scale, vmin=low, vmax=max(high, low + 1e-9), edgecolors=COLOURS["paper"], linewidth=1)
    for row, line in enumerate(plot.values):
        for column, value in enumerate(line):
            if value is not None:
                dark = high > low and (value - low) / (high - low) > 0.4
                text = f"{100 * value:.1f}" if plot.shares else f"{value:.3f}"
                colour = "#ffffff" if dark else "#101418"  # on the cell's own colour, not the page's
                axes.text(column + 0.5, row + 0.5, text, ha="center", va="center", color=colour)
    axes.set_xticks([place + 0.5 for place in range(len(plot.columns))], plot.columns)
    axes.set_yticks([place + 0.5 for place in range(len(plot.rows))], plot.rows)
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)
    axes.invert_yaxis()
    axes.set_xlabel(plot.column_title)
    axes.set_ylabel(plot.row_title)
    axes.set_title(f"{plot.measure}{', per cent' if plot.shares else ''}", fontsize=9.5, loc="left")
    return figure


def _inline(svg: str, plot: Curves | Heat) -> str:
    name = escape(plot.name)
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg[svg.index("<svg") :], flags=re.S)
    svg = re.sub(r'\s(?:xmlns(?::\w+)?|version)="[^"]*"', "", svg).replace("xlink:href", "href")
    svg = re.sub(r'(\sid="|href="#|url\(#)', lambda found: f"{found[1]}{name}--", svg)
    svg = re.sub(r"font-family: [^;\"]*;?", "", svg)
    svg = re.sub(r"(font: [\d.]+px) [^;\"]*", r"\1 sans-serif", svg)
    for variable, colour in COLOURS.items():
        svg = svg.replace(colour, f"var(--{variable})")
    # no plot's name has two hyphens in a row: these ids are nobody else's
    label = f'role="img" aria-labelledby="{name}--title {name}--desc"'
    said = (
        f'<title id="{name}--title">{escape(plot.title)}</title>'
        f'<desc id="{name}--desc">{escape(plot.description)}</desc>'
    )
    width = float(re.search(r'\swidth="([\d.]+)pt"', svg)[1])  # type: ignore[index] # matplotlib writes it
    svg = re.sub(r'\swidth="[^"]*pt"|\sheight="[^"]*pt"', "", svg, count=2).strip().removeprefix("<svg")
    size = f"min-width: {width / 18:.0f}rem; max-width: {width / 11:.0f}rem"
    return f'<svg {label} style="{size}"{svg.replace(">", ">" + said, 1)}'
