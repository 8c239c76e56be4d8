"""Write the tables and the picture of docs/results/audit.md from ``benchmarks/results/audit.jsonl``."""

import json
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator
from report.charts import BLUE, GRAY, GREEN, INK, ORANGE, PINK, SMALL, STYLE, End, label_ends, make_figure
from report.pages import table

Line = dict[str, Any]
#: Lines of the picture: mechanism, test, label, color, marker and style.
_CURVES = (
    ("k-RR 1000", "identification", "k-RR, 1,000 outputs, named", BLUE, "o", "-"),
    ("k-RR 10", "pair", "k-RR, 10 outputs", GREEN, "s", "-"),
    ("Laplace", "pair", "Laplace, one number", ORANGE, "^", "-"),
    ("words", "pair", "ten words, one differs", PINK, "D", "--"),
    ("words, places lost", "pair", "the same, places lost", PINK, "v", ":"),
    ("Laplace 64 of 256", "pair", "Laplace, spread over 64 numbers", ORANGE, "x", ":"),
)
_REFUTED = {
    "rare words": "rare words kept",
    "shared scalar": "one noise number for all",
    "top k": "SanText cut to 20 outputs",
    "ADePT 64": "ADePT, 64 numbers",
    "ADePT 256": "ADePT, 256 numbers",
}
_TESTS = ("pair", "identification")
#: Mechanism and test that must find half of each of these epsilons, in the median audit.
FLOORS = (("k-RR 10", "pair"), ("Laplace", "pair"), ("Laplace 1 of 256", "pair"), ("k-RR 1000", "identification"))
FLOOR_EPSILONS = (1.0, 2.0, 3.0, 4.0)


def read_lines(results: Path) -> list[Line]:
    """Read all audits of the record."""
    return [json.loads(line) for line in (results / "audit.jsonl").read_text("utf-8").splitlines()]


def _collect(lines: Iterable[Line], part: str) -> dict[tuple[str, float, str], list[float]]:
    """Return the bounds of each mechanism, epsilon and test."""
    found: dict[tuple[str, float, str], list[float]] = defaultdict(list)
    for line in lines:
        if line["part"] == part:
            for test, bound in line["bounds"].items():
                found[line["name"], line["epsilon"], test].append(bound)
    return found


def tables(results: Path) -> dict[str, str]:
    """Return the generated parts of the page by name."""
    lines = read_lines(results)
    return {
        "power": _list_powers(lines),
        "floors": _list_floors(lines),
        "honest": _describe_honest(lines),
        "refuted": _list_refuted(lines),
        "adept": _list_adept(lines),
    }


def _list_powers(lines: list[Line]) -> str:
    bounds = _collect(lines, "power")
    names = {line["name"]: line["mechanism"] for line in lines if line["part"] == "power"}
    epsilons = sorted({epsilon for _, epsilon, _ in bounds})
    rows = []
    for name, mechanism in names.items():
        for test in _TESTS:
            cells = [bounds.get((name, epsilon, test)) for epsilon in epsilons]
            if any(cells):
                rows.append([mechanism, test, *("" if cell is None else f"{np.median(cell):.2f}" for cell in cells)])
    return table(["mechanism", "test", *(f"{epsilon:g}" for epsilon in epsilons)], rows)


def _list_floors(lines: list[Line]) -> str:
    bounds = _collect(lines, "power")
    names = {line["name"]: line["mechanism"] for line in lines if line["part"] == "power"}
    rows = []
    for name, test in FLOORS:
        cells = []
        for epsilon in FLOOR_EPSILONS:
            audits = np.array(bounds[name, epsilon, test])
            cells.append(f"{np.median(audits):.2f} ({(audits >= epsilon / 2).sum()} of {len(audits)})")
        rows.append([names[name], test, *cells])
    return table(["mechanism", "test", *(f"{epsilon:g}" for epsilon in FLOOR_EPSILONS)], rows)


def _describe_honest(lines: list[Line]) -> str:
    honest = [line for line in lines if line["part"] == "honest"]
    alarms = sum(line["verdict"] == "refuted" for line in honest)
    untested = sum(line["verdict"] == "not tested" for line in honest)
    shares = [max(line["bounds"].values()) / line["epsilon"] for line in honest if line["bounds"]]
    rest = f" In {untested:,} of them the draws repeated." if untested else ""
    return (
        f"Of **{len(honest):,} audits of honest mechanisms** at their true epsilon, **{alarms}** raised an alarm. "
        f"Their bounds were {np.median(shares):.2f} of the truth (median).{rest}"
    )


def _list_refuted(lines: list[Line]) -> str:
    rows: dict[tuple[str, float], list[Line]] = defaultdict(list)
    for line in lines:
        if line["part"] == "refuted":
            rows[line["mechanism"], line["epsilon"]].append(line)
    found = []
    for (mechanism, claim), audits in rows.items():
        bounds = [max(line["bounds"].values()) for line in audits]
        refuted = sum(line["verdict"] == "refuted" for line in audits)
        found.append([mechanism, f"{claim:g}", f"{np.median(bounds):.2f}", f"{refuted} of {len(audits)}"])
    return table(["mechanism", "claim", "epsilon at least", "refuted"], found)


def _list_adept(lines: list[Line]) -> str:
    rows = []
    for line in sorted(lines, key=lambda line: line["epsilon"]):
        if line["part"] == "adept":
            claim, vectors = f"{line['epsilon']:g}", f"{line['vector_epsilon']:.1f}"
            unchanged, bound = f"{100 * line['unchanged']:.1f} %", f"{line['bounds']['pair']:.2f}"
            rows.append([claim, vectors, unchanged, bound, f"{line['draws']:,}", line["verdict"]])
    heads = ("epsilon of the noisy vectors", "questions unchanged", "epsilon at least", "draws in all", "the claim is")
    return table(["claim", *heads], rows)


def pictures(results: Path) -> dict[str, Figure]:
    """Return the picture of the page."""
    lines = read_lines(results)
    honest = [line for line in lines if line["part"] == "honest"]
    alarms = sum(line["verdict"] == "refuted" for line in honest)
    title = (
        f"An audit of 20,000 draws finds most of epsilon where one output shows it, and little where it is spread;\n"
        f"{alarms} alarms in {len(honest):,} audits of honest mechanisms"
    )
    with rc_context(STYLE):
        figure = make_figure(title, (11, 5.2))
        left, right = figure.subplots(1, 2, width_ratios=(1.3, 1))
        _draw_powers(left, _collect(lines, "power"))
        _draw_refuted(right, lines)
    return {"audit.png": figure}


def _draw_powers(axes: Axes, bounds: dict[tuple[str, float, str], list[float]]) -> None:
    epsilons = sorted({epsilon for _, epsilon, _ in bounds})
    axes.plot([0, epsilons[-1]], [0, epsilons[-1]], color=INK, linewidth=1)
    axes.plot([0, epsilons[-1]], [0, epsilons[-1] / 2], color=GRAY, linewidth=1, linestyle="--")
    axes.annotate("the truth", (6.2, 6.75), rotation=38, fontsize=SMALL, color=INK, ha="center")
    axes.annotate("half of it", (9.2, 4.62), (0, -2), textcoords="offset points", rotation=21, fontsize=SMALL,
                  color=GRAY, ha="center", va="top")  # fmt: skip
    axes.set_ylim(-0.2, epsilons[-1] + 0.3)
    ends = []
    for name, test, label, color, marker, style in _CURVES:
        points = [(epsilon, float(np.median(bounds[name, epsilon, test]))) for epsilon in epsilons
                  if (name, epsilon, test) in bounds]  # fmt: skip
        if points:
            axes.plot(*zip(*points, strict=True), color=color, marker=marker, linestyle=style)
            ends.append(End(x=points[-1][0], y=points[-1][1], label=label, color=color))
    axes.set_xlim(0, epsilons[-1] * 1.72)
    label_ends(axes, ends, epsilons[-1] * 1.08, gap=0.055)
    axes.xaxis.set_major_locator(FixedLocator([one for one in epsilons if one >= 1]))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.set_xlabel("true epsilon")
    axes.set_ylabel("lower bound of the audit (median)")
    axes.set_title("Power: honest mechanisms")


def _draw_refuted(axes: Axes, lines: list[Line]) -> None:
    rows: dict[tuple[str, float], list[float]] = defaultdict(list)
    for line in lines:
        if line["part"] == "refuted":
            rows[line["name"], line["epsilon"]].append(max(line["bounds"].values()))
        elif line["part"] == "adept":
            rows["text", line["epsilon"]].append(max(line["bounds"].values()))
    names = {**_REFUTED, "text": "ADePT, real text"}
    keys = [key for name in names for key in rows if key[0] == name]
    places = {key: len(keys) - 1 - place for place, key in enumerate(keys)}
    for key, place in places.items():
        bound, claim = float(np.median(rows[key])), key[1]
        color = ORANGE if bound > claim else GRAY
        axes.barh(place, bound, height=0.66, color=color, alpha=0.85)
        axes.plot([claim, claim], [place - 0.42, place + 0.42], color=INK, linewidth=2.4)
    labels = [(names[name] if claim == min(c for n, c in keys if n == name) else "", claim)
              for name, claim in keys]  # fmt: skip
    axes.set_yticks([places[key] for key in keys], [f"{name}  {claim:g}" for name, claim in labels], fontsize=SMALL)
    axes.yaxis.set_minor_locator(NullLocator())
    axes.grid(visible=False, axis="y")
    axes.set_xlabel("bar: bound; mark: claim; gray: not refuted")
    axes.set_title("Refuted rewriters, by claim")
