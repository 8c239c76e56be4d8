"""Write the tables and the picture of docs/results/vectors.md from the records of ``benchmarks/vectors/run.py``."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import sqrt
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure
from report import vectors_floors as floors
from report.pages import points, table
from report.records import read_objects
from report.vectors_chart import LINES, accuracy_of_rows

NAME, INT8 = "vectors.jsonl", "int8.jsonl"
TUNED = "ag-minilm_manifest.json"
TASKS = {"ag": "AG News", "trec": "TREC", "sst2": "SST-2", "ag-private": "AG with entities"}
EPSILONS = ("0.5", "1", "2", "3", "4", "6", "8", "10", "12")
EXTRACTORS = {
    "static-tuned": "static, tuned",
    "static-frozen": "static, frozen",
    "minilm-tuned": "MiniLM, tuned",
    "minilm-frozen": "MiniLM, frozen",
}
CODEBOOKS = {"static": "static, without MiniLM", "taught": "static, taught by MiniLM", "minilm": "MiniLM, frozen"}
DECISIONS = {
    "accuracy": "decision, `accuracy`",
    "counts": "decision, `counts`",
    "reference": "best channel on the decision, fitted to the test texts",
    "balanced reference": "the same for balanced accuracy",
    "l1": "decision as a vector, `l1`",
    "l2": "decision as a vector, `l2`",
    "box": "decision as a vector, `box`",
}
FIGURES = {"accuracy": "Accuracy", "balanced_accuracy": "Balanced accuracy", "worst_recall": "Worst recall"}


@dataclass(frozen=True)
class Mean:
    """The mean over seeds, its standard error over seeds (None for one seed), and the number of texts."""

    value: float
    error: float | None
    texts: int

    @property
    def of_texts(self) -> float:
        """Return the standard error of an accuracy over texts."""
        return sqrt(self.value * (1 - self.value) / self.texts)

    def __str__(self) -> str:
        return points(self.value) + ("" if self.error is None else f" ± {100 * self.error:.1f}")


@dataclass(frozen=True)
class Results:
    """The records of ``benchmarks/vectors/run.py``."""

    records: list[dict[str, Any]]

    def of(self, task: str, row: str, name: str, epsilon: str, figure: str = "accuracy") -> Mean | None:
        """Return the mean of a figure over seeds.

        Args:
            task: A key of ``TASKS``.
            row: A row of a record: ``counts``, ``codebook``, ``privunit``, ...
            name: A key of ``EXTRACTORS``; for a codebook ``KIND-CODES``; for PrivUnit ``static`` or ``minilm``.
            epsilon: Epsilon as text; the empty string without noise.
            figure: A key of ``FIGURES``, ``attack`` or ``lost_to_integers``.
        """
        found = [r["figures"][row][epsilon] for r in self._records(task, row, name) if epsilon in r["figures"][row]]
        values = [one[figure] for one in found if figure in one]
        if not values:
            return None
        mean = sum(values) / len(values)
        spread = sqrt(sum((value - mean) ** 2 for value in values) / max(1, len(values) - 1))
        error = spread / sqrt(len(values)) if len(values) > 1 else None
        return Mean(mean, error, self.texts(task)["test"])

    def _records(self, task: str, row: str, name: str) -> Iterator[dict[str, Any]]:
        for record in self.records:
            if record["task"] == task and row in record.get("figures", {}) and name_of(record) == name:
                yield record

    def seeds(self, task: str, row: str, name: str) -> int:
        """Return the number of seeds."""
        return sum(1 for _ in self._records(task, row, name))

    def texts(self, task: str) -> dict[str, int]:
        """Return the number of texts in each part of a division, for seed 0."""
        record = next(r for r in self.records if r["job"] == "decision" and r["task"] == task)
        return {**record["texts"], "left_out": record["left_out"]}

    def majority(self, task: str) -> float:
        """Return the share of the most frequent class in the test texts."""
        record = next(r for r in self.records if r["job"] == "decision" and r["task"] == task)
        sizes = [sum(row) for row in record["test"]]
        return max(sizes) / sum(sizes)


def name_of(record: dict[str, Any]) -> str:
    """Return the name of a record's extractor or codebook; see ``Results.of``."""
    if record["job"] == "codebook":
        return f"{record['extractor']}-{record['codes']}"
    if record["job"] == "decision":
        return f"{record['extractor']}-{'tuned' if record['tuned'] else 'frozen'}"
    return str(record["extractor"])


def read_records(results: Path) -> Results:
    """Read the records."""
    return Results([record for _, record in read_objects(results / NAME)])


def tables(results: Path) -> dict[str, str]:
    """Return the generated parts of the page by name."""
    found = read_records(results)
    tasks = [task for task in TASKS if any(r["task"] == task and r["job"] == "decision" for r in found.records)]
    parts = {
        "texts": texts(found, tasks),
        "clean": clean(found, tasks),
        "balanced": tabulate_balanced(found),
        "codebooks": codebook_sizes(found, tasks),
        "attack": by_epsilon(found, "ag-private", "attack", _list_attacked_rows()),
        "floors": tabulate_floors(found),
        "int8": recipes(results),
    }
    return parts | {f"accuracy-{task}": by_epsilon(found, task, "accuracy", _main_rows()) for task in TASKS}


def all_tables(results: Path) -> dict[str, str]:
    """Return the generated parts of the page with every row."""
    found = read_records(results)
    parts = {f"{figure}-{task}": by_epsilon(found, task, figure, _all_rows()) for task in TASKS for figure in FIGURES}
    return parts | {"attack-ag-private": by_epsilon(found, "ag-private", "attack", _all_rows())}


def pictures(results: Path) -> dict[str, Figure]:
    """Return the picture of the page."""
    found = read_records(results)
    series = {
        task: [[found.of(task, line.row, line.name, epsilon) for epsilon in EPSILONS] for line in LINES]
        for task in ("ag", "trec")
    }
    heights = {
        task: [[None if one is None else (one.value, one.error or 0) for one in line] for line in of]
        for task, of in series.items()
    }
    majority = {task: found.majority(task) for task in series}
    names = {task: TASKS[task] for task in series}
    figure = accuracy_of_rows(names, [float(e) for e in EPSILONS], heights, majority, _write_title(found, names))
    return {"vectors.png": figure}


def _write_title(found: Results, names: dict[str, str]) -> str:
    """Return the title of the picture: the advantage of the static extractor's class label at epsilon 4."""
    ahead = []
    for task, name in names.items():
        label, vector, code = (
            found.of(task, row, extractor, "4")
            for row, extractor in (("counts", "static-tuned"), ("l1", "static-tuned"), ("codebook", "taught-16"))
        )
        if label is not None and vector is not None and code is not None:
            ahead.append(f"{points(label.value - vector.value)} and {points(label.value - code.value)} on {name}")
    return (
        "Points by which a class of the static extractor is ahead at epsilon 4, of an l1 vector and of a code:\n"
        f"{', '.join(ahead)}"
    )


Row = tuple[str, str, str, str]
"""Heading of a row, its extractor, and the arguments ``row`` and ``name`` of ``Results.of``."""


def _main_rows() -> list[Row]:
    tuned = ("static-tuned", "minilm-tuned")
    rows: list[Row] = [
        (DECISIONS[row], EXTRACTORS[name], row, name) for name in tuned for row in ("accuracy", "counts")
    ]
    rows += [(DECISIONS["counts"], EXTRACTORS[n], "counts", n) for n in EXTRACTORS if n not in tuned]
    rows += [(DECISIONS[mode], EXTRACTORS["static-tuned"], mode, "static-tuned") for mode in ("l1", "l2", "box")]
    rows += [("codebook of 16", shown, "codebook", f"{kind}-16") for kind, shown in CODEBOOKS.items()]
    rows += [("PrivUnit, on a server", "MiniLM, frozen", "privunit", "minilm")]
    rows += [(DECISIONS["reference"], EXTRACTORS["static-tuned"], "reference", "static-tuned")]
    return [*rows, ("ceiling: no release is above it", "any", "ceiling", "static-tuned")]


def _all_rows() -> list[Row]:
    rows: list[Row] = [
        (shown, said, row, name) for row, shown in DECISIONS.items() for name, said in EXTRACTORS.items()
    ]
    rows += [
        (f"codebook of {codes}", shown, "codebook", f"{kind}-{codes}")
        for codes in (16, 64, 256)
        for kind, shown in CODEBOOKS.items()
    ]
    return rows + [("PrivUnit, on a server", f"{shown}, frozen", "privunit", name) for name, shown in _BOTH.items()]


_BOTH = {"static": "static", "minilm": "MiniLM"}


def _list_attacked_rows() -> list[Row]:
    rows: list[Row] = [
        (DECISIONS[row], EXTRACTORS[name], row, name)
        for name in ("static-tuned", "minilm-tuned")
        for row in ("accuracy", "counts", "l1")
    ]
    rows += [
        (f"codebook of {codes}", CODEBOOKS[kind], "codebook", f"{kind}-{codes}")
        for kind in ("static", "minilm")
        for codes in (16, 64, 256)
    ]
    return [*rows, ("PrivUnit, on a server", "MiniLM, frozen", "privunit", "minilm")]


def by_epsilon(found: Results, task: str, figure: str, rows: Sequence[Row]) -> str:
    """Tabulate a figure by epsilon, with a line for each measured row. The last column is without noise."""
    lines = []
    for shown, extractor, row, name in rows:
        figures = [found.of(task, row, name, epsilon, figure) for epsilon in EPSILONS]
        if not any(figures):
            continue
        without = found.of(task, row if row == "codebook" else "clean", name, "", figure)
        hidden = row in ("ceiling", "privunit")
        cells = ["" if one is None else str(one) for one in figures]
        lines.append([shown, extractor, *cells, "" if without is None or hidden else str(without)])
    return table(["row", "extractor", *EPSILONS, "no noise"], lines)


def texts(found: Results, tasks: Sequence[str]) -> str:
    """Tabulate the numbers of texts and of repeated texts."""
    rows = []
    for task in tasks:
        of = found.texts(task)
        repeated = [r["counts"] for r in found.records if r["job"] == "repeated" and r["task"] == task]
        more = ("in_train", "in_train_other_label", "near_train")
        counts = [f"{repeated[0][name]:,}" for name in more] if repeated else [""] * 3
        sizes = [f"{of[name]:,}" for name in ("train", "calibration", "test", "left_out")]
        rows.append([TASKS[task], *sizes, *counts, points(found.majority(task))])
    columns = ["data", "train", "calibration", "test", "left out of train"]
    columns += ["test texts in train", "with another label", "near a text of train", "majority"]
    return table(columns, rows)


def clean(found: Results, tasks: Sequence[str]) -> str:
    """Tabulate accuracy without noise."""
    rows = []
    for name, shown in EXTRACTORS.items():
        figures = [found.of(task, "clean", name, "") for task in tasks]
        seeds = " / ".join(str(found.seeds(task, "clean", name)) for task in tasks)
        rows.append([shown, seeds, *("" if one is None else str(one) for one in figures)])
    return table(["extractor", "seeds", *(TASKS[task] for task in tasks)], rows)


def tabulate_balanced(found: Results) -> str:
    """Tabulate balanced accuracy and worst recall of both randomizers, and the best possible balanced accuracy."""
    rows = []
    for task in ("ag", "trec"):
        for name in ("static-tuned", "minilm-tuned"):
            for epsilon in ("2", "3", "4", "6"):
                cells = [
                    str(one) if (one := found.of(task, row, name, epsilon, figure)) is not None else ""
                    for row, figure in (
                        ("counts", "balanced_accuracy"), ("balanced reference", "balanced_accuracy"),
                        ("accuracy", "balanced_accuracy"), ("counts", "worst_recall"), ("accuracy", "worst_recall"),
                    )
                ]  # fmt: skip
                if any(cells):
                    rows.append([TASKS[task], EXTRACTORS[name], epsilon, *cells])
    columns = ["data", "extractor", "epsilon", "balanced: `counts`", "best for it, fitted to test", "`accuracy`"]
    return table([*columns, "worst recall: `counts`", "`accuracy`"], rows)


def codebook_sizes(found: Results, tasks: Sequence[str]) -> str:
    """Tabulate the accuracy of codebooks by size at some epsilons."""
    rows = []
    for task in tasks:
        for kind, shown in CODEBOOKS.items():
            for codes in (16, 64, 256):
                figures = [
                    found.of(task, "codebook", f"{kind}-{codes}", epsilon) for epsilon in ("4", "6", "8", "12", "")
                ]
                if any(figures):
                    rows.append([TASKS[task], shown, str(codes), *("" if f is None else str(f) for f in figures)])
    return table(["data", "extractor", "codes", "4", "6", "8", "12", "no noise"], rows)


def recipes(results: Path) -> str:
    """Tabulate the accuracy that int8 costs MiniLM, from ag-minilm's manifest and records of a deleted script."""
    figures = json.loads((results / TUNED).read_text("utf-8"))["provenance"]["int8"]
    rows = [["tuned, `ag-minilm`", figures["recipe"], figures["model_bytes"], figures["sample_texts"]]]
    rows[0] += [figures["accuracy_float32"], figures["accuracy"], figures["agreement"]]
    if (results / INT8).exists():
        records = [record for _, record in read_objects(results / INT8)]
        plain = records[0]["accuracy"]
        rows += [["frozen", r["recipe"], r["bytes"], r["texts"], plain, r["accuracy"], r["agreement"]] for r in records]
    columns = ["MiniLM", "recipe", "MB", "texts", "float32", "this recipe", "decided as in float32"]
    shown = [
        [kind, recipe, f"{size / 1e6:.1f}", f"{texts:,}", *(points(share, 2) for share in shares)]
        for kind, recipe, size, texts, *shares in rows
    ]
    return table(columns, shown)


def tabulate_floors(found: Results) -> str:
    """Tabulate the measured accuracies and the accuracies that were required before the measurement."""
    rows = []
    for floor in floors.FLOORS:
        for epsilon, least in floor.least.items():
            one = found.of(floor.task, floor.row, floor.name, epsilon)
            if one is None:
                continue
            met = "yes" if round(one.value, 3) >= least else "no"
            what = f"{TASKS[floor.task]}, {floor.shown}"
            rows.append([what, epsilon or "-", points(least), str(one), points(one.of_texts), met])
    return table(["what", "epsilon", "asked", "reached", "standard error of the texts", "met"], rows)
