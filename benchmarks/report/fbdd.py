"""Write the table and the pictures of docs/results/fbdd.md from ``benchmarks/results/fbdd_glove.jsonl``.

``fbdd/calibrate.py`` writes one record for each vocabulary, number of samples and epsilon.
"""

import json
from pathlib import Path
from typing import Any

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from report.charts import BLUE, GRAY, INK, ORANGE, SMALL, STYLE, make_figure, percent
from report.pages import points, table

#: Vocabulary size and samples of the picture: those of ``textveil-export table --max-words`` and of the paper.
SHOWN = (30_000, 1000)
Record = dict[str, Any]


def read_calibrations(records: Path) -> list[Record]:
    """Return the records by vocabulary, samples and epsilon."""
    lines = (records / "fbdd_glove.jsonl").read_text(encoding="utf-8").splitlines()
    found = [json.loads(line) for line in lines]
    return sorted(found, key=lambda record: (record["vocabulary"], -record["draws"], record["epsilon_vectors"]))


def tables(records: Path) -> dict[str, str]:
    """Return the generated parts of the page."""
    found = read_calibrations(records)
    rows = [
        [
            f"{record['vocabulary']:,}",
            f"{record['epsilon_vectors']:g}",
            f"{record['epsilon']:.1f}",
            f"{record['words']} x {record['draws']:,}",
            points(record["unchanged"]["mean"]),
            points(record["unchanged"]["quantiles"]["0.05"]),
            points(record["unchanged"]["quantiles"]["0.5"]),
            points(record["unchanged"]["quantiles"]["0.95"]),
            f"{record['likely_outputs']['0.0']['mean']:.0f}",
            f"{record['likely_outputs']['0.0']['quantiles']['0.5']:.0f}",
            f"{record['likely_outputs']['0.05']['mean']:.0f}",
        ]
        for record in found
    ]
    columns = [
        "words",
        "epsilon",
        "scaled",
        "samples",
        "N_w, %",
        "5 %",
        "median",
        "95 %",
        "S_w",
        "median",
        "S_w, eta .05",
    ]
    by_size = {record["vocabulary"]: record for record in found}
    neighbors = [
        [f"{size:,}", f"{record['median_distance']:.2f}"]
        + [
            "" if rank not in record["neighbor_distances"] else f"{record['neighbor_distances'][rank]['mean']:.2f}"
            for rank in ("1", "10", "100", "1000")
        ]
        for size, record in by_size.items()
    ]
    return {
        "calibration": table(columns, rows),
        "neighbors": table(["words", "median distance", "nearest", "10th", "100th", "1000th"], neighbors),
    }


def pictures(records: Path) -> dict[str, Figure]:
    """Return the picture of N_w and S_w by epsilon."""
    found = [record for record in read_calibrations(records) if (record["vocabulary"], record["draws"]) == SHOWN]
    epsilons = [record["epsilon_vectors"] for record in found]
    half = next(epsilon for epsilon, record in zip(epsilons, found, strict=True) if record["unchanged"]["mean"] >= 0.5)
    with rc_context(STYLE):
        title = f"FBDD on GloVe, 50 dimensions: at epsilon {half:g} half of the samples are the word"
        figure = make_figure(f"{title}, and {_describe(found, half)}", (10, 4.4))
        one, other = figure.subplots(1, 2)
        _draw_spread(one, epsilons, [record["unchanged"] for record in found], "N_w", BLUE)
        percent(one.yaxis)
        one.set_title("N_w: samples that are the word itself")
        _draw_spread(other, epsilons, [record["likely_outputs"]["0.0"] for record in found], "S_w, all samples", ORANGE)
        other.plot(
            epsilons, [record["likely_outputs"]["0.05"]["mean"] for record in found], color=GRAY, marker="s", ls="--"
        )
        other.annotate("S_w, eta .05", (epsilons[3], found[3]["likely_outputs"]["0.05"]["mean"]), (-8, -12),
                       textcoords="offset points", color=GRAY, fontsize=SMALL, ha="right")  # fmt: skip
        other.set_title("S_w: distinct words in 1,000 samples")
        for axes in (one, other):
            axes.set_xlabel("epsilon, per unit of distance of GloVe")
            axes.set_ylim(bottom=0)
    return {"fbdd.png": figure}


def _describe(found: list[Record], epsilon: float) -> str:
    """Return a phrase with the number of distinct outputs at an epsilon."""
    (record,) = (record for record in found if record["epsilon_vectors"] == epsilon)
    return f"{record['likely_outputs']['0.0']['mean']:.0f} words are in 1,000 samples"


def _draw_spread(axes: Axes, epsilons: list[float], entries: list[Record], label: str, color: str) -> None:
    """Draw means with a band from the 5 % to the 95 % quantile of words."""
    low, high = ([entry["quantiles"][quantile] for entry in entries] for quantile in ("0.05", "0.95"))
    means = [entry["mean"] for entry in entries]
    axes.fill_between(epsilons, low, high, color=color, alpha=0.15, linewidth=0)
    axes.plot(epsilons, means, color=color, marker="o")
    axes.annotate(label, (epsilons[len(epsilons) // 2], means[len(epsilons) // 2]), (8, -2),
                  textcoords="offset points", color=color, fontsize=SMALL)  # fmt: skip
    axes.text(0.98, 0.5, "band: 5 to 95 % of words", transform=axes.transAxes, ha="right", color=INK, fontsize=SMALL)
