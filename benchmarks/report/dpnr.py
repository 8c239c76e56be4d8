"""Write tables and pictures of docs/results/dpnr.md from ``benchmarks/results/dpnr_*.jsonl``.

``bounds/run.py`` writes these files. A file has a line of baselines (the clean model and the majority class), lines of
bounds by epsilon, and a line for each trained head, with its figures by epsilon.
"""

import json
import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.figure import Figure
from report import vectors
from report.dpnr_chart import accuracy_of_vectors
from report.pages import points, spread, table
from report.records import Column, Frame, RecordError, read_objects

PERSONS = ("George W. Bush", "John Kerry", "Yasser Arafat", "Tony Blair", "Ariel Sharon")
BOUNDS = ["mode", "delta", "word_dropout", "level"]
LABELS = {"label_response": "its label, randomized response", "label_channel": "its label, best channel"}
"""Attackers who see only a label, by their names in a grid."""


@dataclass(frozen=True)
class Grid:
    """Measurements of heads on the same data with the same clean model.

    Attributes:
        baselines: Figures of the clean model and of the majority class.
        heads: A row for each head and epsilon: ``name`` (mode and dimension), the columns of ``BOUNDS``, ``seed``, its
            figures (``accuracy``, ``attack``, ``by_attribute``, ...) and its bounds (``ceiling``, ``reference``, ...).
    """

    baselines: dict[str, Any]
    heads: Frame


def read_grid(*paths: Path) -> Grid:
    """Read files of a grid.

    Raises:
        RecordError: A line is malformed or of an unknown kind, the baselines are missing or differ, or an accuracy has
            no bounds or exceeds its ceiling by more than four standard errors. The last case shows a fault in the noise
            or in the privacy accounting.
    """
    baselines, bounds, heads = [], [], []
    for path in paths:
        for place, line in read_objects(path):
            kind = line.get("kind")
            if kind == "baselines":
                baselines.append(line)
            elif kind == "bounds":
                bounds.append({**line, "best_codes": line["placed"]["accuracies"][0]})
            elif kind == "cell":
                heads += _heads(line, place)
            else:
                raise RecordError(f"{place}: this is not a line of baselines, bounds or a head")
    if not baselines or not heads:
        raise RecordError("there are no baselines or no heads")
    if any(_origin(line) != _origin(baselines[0]) for line in baselines):
        raise RecordError("the grids are of different data or of different clean models")
    known: Frame = pd.DataFrame(
        bounds, columns=[*BOUNDS, "ceiling", "reference", "label_randomized_response", "best_codes", "clean"]
    )
    merged: Frame = pd.DataFrame(heads).merge(known.drop_duplicates(BOUNDS), on=BOUNDS, how="left")
    if merged.ceiling.isna().any():
        raise RecordError("an accuracy has no ceiling and no reference beside it")
    return Grid(baselines[0], merged.assign(epsilon=merged.level.astype(float)).sort_values("epsilon", kind="stable"))


def _heads(line: dict[str, Any], place: str) -> list[dict[str, Any]]:
    described = line["description"]
    name = f"{described['mode']}, k = {described['dimension']}"
    if len(described["levels"]) > 1:
        name += ", one head for all"
    same = {
        "name": name, "mode": described["mode"], "delta": described["delta"] or "", "seed": line["seed"],
        "word_dropout": described["word_dropout"],
    }  # fmt: skip
    for level, figures in line["levels"].items():
        if figures["exceeds_ceiling"]:
            raise RecordError(
                f"{place}: the accuracy at {level} exceeds its ceiling: the noise or the accounting is faulty"
            )
    return [{**same, "level": level, **figures} for level, figures in line["levels"].items()]


def _origin(line: dict[str, Any]) -> tuple[Any, Any]:
    return line["data"], line["clean"]["confusion"]


def tables(results: Path) -> dict[str, str]:
    """Return the generated parts of the page by name."""
    ag = read_grid(*(results / f"dpnr_ag_{name}.jsonl" for name in ("l1", "l1_shared", "modes")))
    dropout = read_grid(results / "dpnr_ag_dropout.jsonl")
    return {
        "accuracy": accuracy(ag),
        "box-384": accuracy(read_grid(results / "dpnr_ag_box384.jsonl")),
        "attackers": attackers(ag),
        "word-dropout": word_dropout(dropout),
        "persons": persons(ag),
        "person-privacy": person_privacy(ag),
        "adversarial": adversarial(ag, results),
        "repeated": tabulate_repeated(results),
        "sst2": accuracy(_sst2(results)),
    }


def pictures(results: Path) -> dict[str, Figure]:
    """Return the pictures of the page by file name."""
    ag = read_grid(*(results / f"dpnr_ag_{name}.jsonl" for name in ("l1_shared", "l1", "modes")))
    drawn = {"dpnr_ag.png": ag, "dpnr_sst2.png": _sst2(results)}
    return {name: accuracy_of_vectors(_select_plotted(grid.heads), grid.baselines) for name, grid in drawn.items()}


def _select_plotted(heads: Frame) -> Frame:
    return pd.concat([_one_head_for_all(heads), heads[heads["mode"] != "l1"]])


def _sst2(results: Path) -> Grid:
    return read_grid(results / "dpnr_sst2.jsonl", results / "dpnr_sst2_shared.jsonl")


def _groups(heads: Frame) -> Iterable[Frame]:
    """Group heads that differ only in the seed, by epsilon, in the order of the files."""
    return [group for _, group in heads.groupby(["epsilon", "name", "word_dropout"], sort=False)]


def accuracy(grid: Grid) -> str:
    """Tabulate accuracy and its bounds."""
    rows = []
    for group in _groups(grid.heads):
        first = group.iloc[0]
        share = group.accuracy.mean() / first.best_codes
        others = (first.best_codes, first.reference, first.ceiling, first.label_randomized_response)
        rows.append([first.level, first["name"], spread(group.accuracy), f"{share:.1%}", *map(points, others)])
    columns = ["epsilon", "mode", "accuracy", "of the best codes", "best codes", "reference", "ceiling", "label RR"]
    return table(columns, rows)


def word_dropout(grid: Grid) -> str:
    """Tabulate accuracy with words removed before the encoder."""
    rows = []
    for group in _groups(grid.heads.sort_values(["epsilon", "word_dropout"], kind="stable")):
        first = group.iloc[0]
        word = f"{math.ceil(first.epsilon_per_word * 1000) / 1000:.3f}"  # rounded up: never below what holds
        figures = [spread(group.accuracy), points(first.best_codes), points(first.clean)]
        figures += [spread(group.attack.str["vectors"].str[name].astype(float)) for name in ("privacy", "auc")]
        rows.append([first.level, first.word_dropout, word, first["name"], *figures])
    columns = [
        "epsilon, whole text",
        "word dropout",
        "epsilon, one word",
        "mode",
        "accuracy",
        "best codes",
        "clean model",
        "1-F at .5",
        "AUC",
    ]
    return table(columns, rows)


def attackers(grid: Grid) -> str:
    """Tabulate how well attackers detect named persons from released vectors and from labels."""
    rows = [
        ["-", said, *_leak(pd.Series([grid.baselines[name]["attack"]])), "", ""]
        for name, said in (("majority", "nothing"), ("clean", "the clean model's vectors"))
    ]
    for group in _groups(_one_head_for_all(grid.heads)):
        level, attack = group.level.iloc[0], group.attack
        rows.append([level, "released vectors", *_leak(attack.str["vectors"]), "", ""])
        for name, said in LABELS.items():
            more = attack.str[f"over_{name}"]
            beyond = [_difference(more, figure) for figure in ("auc", "f_tuned")]
            rows.append([level, said, *_leak(attack.str[name]), *beyond])
    columns = [
        "epsilon",
        "what the attacker sees",
        "1-F at .5",
        "1-X",
        "F, tuned",
        "AUC",
        "vectors beyond it: AUC",
        "F",
    ]
    return table(columns, rows)


def _one_head_for_all(heads: Frame) -> Frame:
    """Return the l1 head that was trained for all epsilons, and separate l1 heads at the other epsilons."""
    l1 = heads[heads["mode"] == "l1"]
    shared = l1.name.str.endswith("for all")
    return l1[shared | ~l1.level.isin(l1[shared].level)]


def _leak(attacks: Column) -> list[str]:
    return [spread(attacks.str[name].astype(float)) for name in ("privacy", "demographic_privacy", "f_tuned", "auc")]


def _difference(more: Column, figure: str) -> str:
    error = "auc_standard_error" if figure == "auc" else "f_standard_error"
    return f"{100 * more.str[figure].mean():+.1f} ± {100 * more.str[error].mean():.1f}"


def persons(grid: Grid) -> str:
    """Tabulate accuracy of the main task on texts with and without each person."""
    clean = [_with_and_without(pd.Series([one])) for one in grid.baselines["clean"]["by_attribute"]]
    rows = [["clean model", *clean]]
    for group in _groups(_one_head_for_all(grid.heads)):
        cells = [_with_and_without(group.by_attribute.str[number]) for number in range(len(PERSONS))]
        rows.append([group.level.iloc[0], *cells])
    return table(["epsilon", *PERSONS], rows)


def person_privacy(grid: Grid) -> str:
    """Tabulate the attack on vectors for each person: the area under the ROC curve, and F, tuned on dev."""

    def cells(attacks: Column) -> list[str]:
        each = [attacks.str[name] for name in ("auc_each", "f_tuned_each")]
        return [
            " / ".join(points(one.str[number].astype(float).mean()) for one in each) for number in range(len(PERSONS))
        ]

    rows = [
        [said, *cells(pd.Series([grid.baselines[name]["attack"]]))]
        for name, said in (("majority", "nothing"), ("clean", "clean model"))
    ]
    for group in _groups(_one_head_for_all(grid.heads)):
        rows.append([group.level.iloc[0], *cells(group.attack.str["vectors"])])
    return table(["epsilon", *PERSONS], rows)


def adversarial(grid: Grid, results: Path) -> str:
    """Tabulate accuracy and attack after adversarial training without noise, for the clean model and for chance."""
    (_, attacked), *_ = read_objects(results / "dpnr_adversarial.jsonl")
    trained = json.loads((results / "dpnr_record_ag-adversarial-one-pass.json").read_text("utf-8"))
    rows = [
        [
            "majority class, nothing released",
            grid.baselines["majority"]["accuracy"],
            grid.baselines["majority"]["attack"],
        ],
        ["clean model, three passes", grid.baselines["clean"]["accuracy"], grid.baselines["clean"]["attack"]],
        ["adversarial, one pass", trained["result"]["test"]["accuracy"], attacked["levels"]["none"]["vectors"]],
    ]
    columns = ["without noise", "accuracy", "1-F at .5", "1-X", "F, tuned", "AUC"]
    return table(columns, [[shown, points(value), *_leak(pd.Series([leak]))] for shown, value, leak in rows])


def tabulate_repeated(results: Path) -> str:
    """Tabulate accuracy on the test texts that occur verbatim in train, and on all other test texts."""
    for record in vectors.read_records(results).records:
        if record["job"] == "repeated" and record["task"] == "ag-private":
            of = record["accuracy"]
            rows = [[name, *(points(of[name][part]) for part in ("all", "repeated", "unseen"))] for name in of]
            counts = record["counts"]
            sizes = [counts["test"], counts["in_train"], counts["test"] - counts["in_train"]]
            return table(["model", "all texts", "in train", "not in train"], [["texts", *map(str, sizes)], *rows])
    raise RecordError("there is no record of repeated texts")


def _with_and_without(figures: Column) -> str:
    return " / ".join(points(figures.str[side].astype(float).mean()) for side in ("present", "absent"))
