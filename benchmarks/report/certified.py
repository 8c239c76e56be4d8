"""Tables of docs/results/certified.md, from the records of ``benchmarks/compare_mechanisms.py``."""

from pathlib import Path

import pandas as pd
from report.pages import bound, table
from report.records import Frame, read_objects

COLUMNS = {
    "mechanism": "mechanism",
    "parameter": "alpha (k-RR: epsilon)",
    "pure_ldp": "pure LDP",
    "unchanged_median": "N, median",
    "unchanged_mean": "N, mean",
    "rarely_unchanged": "N < .01",
    "bayes": "Bayes",
    "cosine": "cosine",
    "sst2": "SST-2",
}
DIGITS = {"parameter": 2}


def tables(results: Path) -> dict[str, str]:
    """Returns the generated parts of the page by name."""
    return {name: compared(results / f"compare_{name}.jsonl") for name in ("english", "wordpiece")}


def compared(path: Path) -> str:
    """Returns a table for each criterion and target of one file."""
    found: Frame = pd.DataFrame([record for _, record in read_objects(path)])
    clean = found[found.mechanism == "unsanitized"].iloc[0]
    parts = [f"Unsanitized text: SST-2 {clean.sst2:.3f}"]
    measured = found[found.mechanism != "unsanitized"]
    for (criterion, target), group in measured.groupby(["criterion", "target"]):
        title = "Certified epsilon" if criterion == "certified" else "Pure LDP level"
        rows = [
            [row["mechanism"], *(_figure(column, row[column]) for column in list(COLUMNS)[1:])]
            for _, row in group.iterrows()
        ]
        parts.append(f"**{title} {target:g}**\n\n{table(list(COLUMNS.values()), rows)}")
    return "\n\n".join(part.strip() for part in parts)


def _figure(column: str, value: float) -> str:
    return bound(value) if column == "pure_ldp" else f"{value:.{DIGITS.get(column, 3)}f}"
