"""Accuracy of private representations, from files of ``textveil-train grid``."""

from collections.abc import Sequence
from pathlib import Path
from statistics import mean, stdev

from textveil_training.data.rows import file_name
from textveil_training.report.charts import Curves, Line, Panel, Section, Table
from textveil_training.report.tables import points, spread

AXIS = "epsilon of the whole text"


def section(grids: Sequence[Path]) -> Section | None:
    """One table and plot for each file; None without files.

    Raises:
        ReportError: As ``dpnr_report.read_runs``: an accuracy above its ceiling, or without its bounds.
    """
    if not grids:
        return None
    from textveil_training.dpnr.report import Kind, Runs, read_runs  # needs torch

    def table(runs: Runs, kinds: Sequence[Kind], number: int, name: str) -> Table:
        rows = []
        for level in runs.levels(kinds):
            for kind in kinds:
                seeds = runs.figures[kind].get(level, [])
                if seeds:
                    bound = runs.bound(kind, level)
                    accuracy = spread([found["accuracy"] for found in seeds])
                    others = (bound["reference"], bound["ceiling"], bound["label_randomised_response"])
                    rows.append((kind.name, level, accuracy, *map(points, others), f"{len(seeds)}"))
        clean, majority = (runs.baselines[name]["accuracy"] for name in ("clean", "majority"))
        note = f"Without privacy {points(clean)}, majority class {points(majority)}."
        columns = ("mode", AXIS, "accuracy", "reference", "ceiling", "label response", "runs")
        return Table(f"representations-{number}", f"{name}: accuracy, per cent", columns, tuple(rows), note)

    def curves(runs: Runs, kinds: Sequence[Kind], number: int, name: str) -> Curves:
        lines = []
        for kind in kinds:
            at = {level: [found["accuracy"] for found in seeds] for level, seeds in runs.figures[kind].items()}
            points_ = [(float(e), mean(of), stdev(of) if len(of) > 1 else 0.0) for e, of in at.items()]
            lines.append(Line(kind.name, tuple(sorted(points_))))
        levels = [(float(level), runs.bound(kinds[0], level)) for level in runs.figures[kinds[0]]]
        for label, key in (("ceiling: no release is above", "ceiling"), ("reference", "reference")):
            lines.append(Line(label, tuple(sorted((e, bound[key], 0.0) for e, bound in levels)), dashed=True))
        heights = (("without privacy", "clean"), ("majority class", "majority"))
        marks = tuple((label, runs.baselines[key]["accuracy"]) for label, key in heights)
        panel = Panel(f"{AXIS} (not per token)", "accuracy", tuple(lines), marks)
        return Curves(f"representations-{number}", f"Private representations: {name}", (panel,))

    parts: list[Table | Curves] = []
    for number, path in enumerate(grids, 1):
        runs = read_runs([path])
        kinds = runs.kinds()
        if kinds:
            name = file_name(path)
            parts += [table(runs, kinds, number, name), curves(runs, kinds, number, name)]
    text = (
        "Vectors instead of text, with noise that covers the whole text: this epsilon is of the text, not of a token, "
        "and cannot be compared with those above. Reference and ceiling: the most accurate private release of the "
        "clean model's decision, and of the true label.",
    )
    return Section("representations", "Private representations", text, parts) if parts else None
