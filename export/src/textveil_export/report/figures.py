"""The figures of the report, drawn from the statistics of a bundle.

Medians against epsilon as in Figure 5 of Yue et al. (2021), distributions by level as in Figures 3 to 6 of Feyisetan
et al. (2020), pure LDP levels and Bayes-optimal recovery. Only this module imports matplotlib, the extra ``report``.
"""

import io
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
from textveil.bundle import Measures, TextBundle, layout
from textveil.text import LevelSummary, summaries
from textveil_cli.show import share

from textveil_export.errors import ExportError

try:
    from matplotlib import rc_context
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter, PercentFormatter
except ImportError as error:
    raise ExportError(
        "the report needs matplotlib: "
        "install textveil-export with the extra report (in a clone: pip install './export[report]')"
    ) from error

#: Colors of the picture, by the name of the page's CSS variable that replaces each of them there.
COLORS = {"ink": "#1b1f24", "rule": "#c9d1d9", "first": "#0b62b4", "second": "#b4460b"}
_STYLE: dict[str, Any] = {
    "font.size": 9.0,
    "axes.titlesize": 9.5,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.linewidth": 0.6,
    "lines.linewidth": 1.6,
    "lines.markersize": 5,
    "legend.frameon": False,
    "svg.fonttype": "path",
    "grid.color": COLORS["rule"],
    **dict.fromkeys(("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color"), COLORS["ink"]),
}
_COLOR_OF = {"santext+": COLORS["first"], "santext": COLORS["second"]}
_MARKERS = {"santext+": "o", "santext": "s"}

Summaries = dict[str, list[LevelSummary]]


@dataclass(frozen=True, kw_only=True)
class Picture:
    """A figure of the report.

    Attributes:
        name: Name of its file and of its place on the page.
        title: What it shows.
        description: What it shows, in words, for readers who cannot see it.
        png: The picture, for light backgrounds.
        svg: The same for the page: an ``svg`` element whose colors are variables of the page.
    """

    name: str
    title: str
    description: str
    png: bytes
    svg: str


def pictures(bundle: TextBundle) -> list[Picture]:
    """Draws all figures of a bundle with statistics."""
    mechanisms = sorted(layout.TABLE_MECHANISMS, key=lambda mechanism: mechanism != bundle.default_table_mechanism)
    of_each: Summaries = {mechanism: summaries(bundle, mechanism) for mechanism in mechanisms}
    default = of_each[bundle.default_table_mechanism]
    ends = [(f"epsilon {level.epsilon:g}", _of(level)) for level in (default[0], default[-1])]
    (first, strict), (last, light) = ends
    shown = default[0].mechanism
    axis = f"{default[0].epsilon_kind.split()[0]} epsilon, per unit of distance"
    curves = (
        f"Medians over words at each level. For {shown}, at {first} and at {last}: N {strict.unchanged:.1%} and "
        f"{light.unchanged:.1%}, S {strict.likely_outputs:,.0f} and {light.likely_outputs:,.0f}, S* "
        f"{strict.likely_inputs:,.0f} and {light.likely_inputs:,.0f}, min-entropy {strict.min_entropy:.2f} and "
        f"{light.min_entropy:.2f} nats. The shaded band holds the middle 90 % of words for {shown}."
    )
    guessing = (
        f"For {shown}, at {first} and at {last}: guessed from one release {share(strict.recovery[1].rate)} and "
        f"{share(light.recovery[1].rate)} of the time, from ten {share(strict.recovery[10].rate)} and "
        f"{share(light.recovery[10].rate)}. Bars at points that were simulated are 95 % intervals."
    )
    rows = "Rows are levels, strictest first. Each panel shows what share of words has which value."
    return [
        _picture("curves", "What the levels do to words", curves, lambda: _curves(bundle, of_each, axis)),
        _picture("guessing", "How often a word is guessed", guessing, lambda: _guessing(bundle, of_each, axis)),
        _picture("unchanged", "Distribution of N", rows, lambda: _histograms(bundle, of_each, "unchanged")),
        _picture("outputs", "Distribution of S", rows, lambda: _histograms(bundle, of_each, "likely_outputs")),
    ]


def _picture(name: str, title: str, description: str, draw: Callable[[], Figure]) -> Picture:
    settings: Any = {**_STYLE, "svg.hashsalt": name}
    with rc_context(settings):
        figure = draw()
        png, svg = io.BytesIO(), io.StringIO()
        figure.savefig(png, format="png", dpi=150, facecolor="white")
        figure.savefig(svg, format="svg", transparent=True, metadata={"Date": None})
    return Picture(
        name=name,
        title=title,
        description=description,
        png=png.getvalue(),
        svg=_inline(svg.getvalue(), name, title, description),
    )


def _inline(svg: str, name: str, title: str, description: str) -> str:
    """Turns an SVG file into an element of a page: no outside references, ids of its own, colors of the page."""
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg[svg.index("<svg") :], flags=re.S)
    svg = re.sub(r'\s(?:xmlns(?::\w+)?|version)="[^"]*"', "", svg).replace("xlink:href", "href")
    svg = re.sub(r'(\sid="|href="#|url\(#)', rf"\1{name}-", svg)
    for variable, color in COLORS.items():
        svg = svg.replace(color, f"var(--{variable})")
    label = f'role="img" aria-labelledby="{name}-title {name}-desc"'
    said = f'<title id="{name}-title">{title}</title><desc id="{name}-desc">{escape(description)}</desc>'
    svg = re.sub(r'\swidth="[^"]*pt"|\sheight="[^"]*pt"', "", svg, count=2)
    return re.sub(r"^<svg([^>]*)>", rf"<svg {label}\1>{said}", svg, count=1).strip()


def _curves(bundle: TextBundle, of_each: Summaries, axis: str) -> Figure:
    figure = Figure(figsize=(9, 6.6), layout="constrained")
    panels = figure.subplots(2, 2)
    for panel, (title, key, logarithmic) in zip(
        panels.flat,
        (
            ("N: a word stays unchanged", "unchanged", False),
            ("S: words that hold 95 % of what a word may become", "likely_outputs", _few_words(of_each)),
            ("S*: inputs that an output may come from", "likely_inputs", True),
            ("Min-entropy of what a word may become, nats", "min_entropy", False),
        ),
        strict=True,
    ):
        _band(panel, bundle, next(iter(of_each.values())), key)
        _lines(panel, of_each, lambda level, key=key: getattr(_of(level), key))
        panel.set_title(title)
        if logarithmic:
            _logarithmic(panel, "y")
        else:
            panel.set_ylim(bottom=0)
            panel.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
    panels[0, 0].yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    panels[0, 0].set_ylim(0, 1)
    for panel in panels[1]:
        panel.set_xlabel(axis)
    _legend(figure, panels[0, 0])
    return figure


def _guessing(bundle: TextBundle, of_each: Summaries, axis: str) -> Figure:
    proven = all(level.epsilon_pure_ldp is not None for levels in of_each.values() for level in levels)
    figure = Figure(figsize=(9, 6.6 if proven else 3.6), layout="constrained")
    panels = list(figure.subplots(2 if proven else 1, 2).flat)
    _lines(panels[0], of_each, lambda level: _of(level).recovery[1].rate)
    panels[0].set_title("Guessed from 1 release")
    _lines(panels[1], of_each, lambda level: _of(level).recovery[10].rate)
    panels[1].set_title("Guessed from 10 releases of the same word")
    if proven:
        _lines(panels[2], of_each, lambda level: level.epsilon_pure_ldp)
        panels[2].set_title("Pure LDP: largest log-ratio whatever the distance")
        panels[2].set_ylim(bottom=0)
        levels = of_each[bundle.default_table_mechanism]
        counts = sorted(_of(levels[0]).recovery)
        for number, releases in enumerate(counts):
            rates = [_of(level).recovery[releases] for level in levels]
            middle = np.array([rate.rate for rate in rates])
            margins = [middle - [rate.low for rate in rates], [rate.high for rate in rates] - middle]
            label = f"{releases} release{'s' if releases > 1 else ''}"
            panels[3].errorbar(
                [level.epsilon for level in levels],
                middle,
                margins,
                color=_COLOR_OF[levels[0].mechanism],
                alpha=1 - 0.2 * (len(counts) - 1 - number),
                marker="ov^D"[number],
                capsize=2,
                label=label,
            )
        panels[3].set_title(f"{levels[0].mechanism}: guessed from several releases")
        panels[3].legend(loc="upper left", handlelength=1.5)
    for panel in (panels[0], panels[1], *panels[3:]):
        panel.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
        panel.set_ylim(0, 1.02)
    for panel in panels[-2:]:
        panel.set_xlabel(axis)
    _legend(figure, panels[0])
    return figure


def _histograms(bundle: TextBundle, of_each: Summaries, key: str) -> Figure:
    names = [level.name for level in bundle.levels]
    figure = Figure(figsize=(9, 0.9 + 1.15 * len(names)), layout="constrained")
    panels = figure.subplots(len(names), sharex=True, squeeze=False)[:, 0]
    statistics: dict[str, Any] = bundle.statistics or {}
    few = key == "likely_outputs" and _few_words(of_each)
    drawn = "hartley_entropy" if few else key  # its bins are those of S on a logarithmic scale
    for row, (panel, name) in enumerate(zip(panels, names, strict=True)):
        for mechanism, color in _COLOR_OF.items():
            histogram = statistics["levels"][name][mechanism][drawn]["histogram"]
            edges = np.exp(histogram["edges"]) if few else np.array(histogram["edges"], dtype=float)
            shares = np.array(histogram["counts"]) / sum(histogram["counts"])
            panel.stairs(shares, edges, color=color, alpha=0.25, fill=True)
            panel.stairs(shares, edges, color=color, linewidth=1.2, label=mechanism)
        epsilons = {f"{of_each[mechanism][row].epsilon:g}" for mechanism in _COLOR_OF}
        panel.set_title(f"epsilon {', '.join(sorted(epsilons))}", pad=2)
        panel.yaxis.set_major_locator(MaxNLocator(2))
        panel.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
        panel.set_ylim(bottom=0)
        if key == "unchanged":
            panel.xaxis.set_major_formatter(PercentFormatter(1, decimals=0))
            panel.set_xlim(0, 1)
        elif few:
            _logarithmic(panel, "x")
        else:
            panel.xaxis.set_major_locator(MaxNLocator(5, integer=True))
            panel.xaxis.set_major_formatter(FuncFormatter(_whole))
            panel.set_xlim(left=0)
    meaning = "words that hold 95 %" if key == "likely_outputs" else "probability that a word stays unchanged"
    panels[-1].set_xlabel(meaning)
    figure.supylabel("share of words", fontsize=9)
    _legend(figure, panels[0])
    return figure


def _band(panel: Axes, bundle: TextBundle, levels: Sequence[LevelSummary], key: str) -> None:
    """Draws the middle 90 % of words for one mechanism."""
    mechanism = levels[0].mechanism
    measured = (bundle.statistics or {})["levels"]
    quantiles = [measured[level.name][mechanism][key]["quantiles"] for level in bundle.levels]
    low, high = ([of[q] for of in quantiles] for q in ("0.05", "0.95"))
    epsilons = [level.epsilon for level in levels]
    panel.fill_between(epsilons, low, high, color=_COLOR_OF[mechanism], alpha=0.12, linewidth=0)


def _lines(panel: Axes, of_each: Summaries, value: Callable[[LevelSummary], Any]) -> None:
    for mechanism, levels in of_each.items():
        epsilons, values = [level.epsilon for level in levels], [value(level) for level in levels]
        panel.plot(epsilons, values, marker=_MARKERS[mechanism], color=_COLOR_OF[mechanism], label=mechanism)


def _few_words(of_each: Summaries) -> bool:
    """Tells whether S is so much smaller at some levels than at others that a linear scale would not show it."""
    medians = [_of(level).likely_outputs for levels in of_each.values() for level in levels]
    return min(medians) < max(medians) / 20


def _whole(value: float, _: int | None = None) -> str:
    return f"{value:,.0f}"


def _of(level: LevelSummary) -> Measures:
    assert level.measures is not None  # the bundle has statistics
    return level.measures


def _logarithmic(panel: Axes, axis: str) -> None:
    """Sets a logarithmic scale that has labels enough, also where it covers less than a decade."""
    (panel.set_xscale if axis == "x" else panel.set_yscale)("log")
    ticks, (low, high) = (panel.xaxis, panel.get_xlim()) if axis == "x" else (panel.yaxis, panel.get_ylim())
    ticks.set_major_locator(LogLocator(subs=(1, 2, 5) if high < 200 * low else (1,), numticks=20))
    ticks.set_major_formatter(FuncFormatter(_whole))
    ticks.set_minor_formatter(NullFormatter())


def _legend(figure: Figure, panel: Axes) -> None:
    handles, labels = panel.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=len(labels))
