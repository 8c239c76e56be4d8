"""Table of docs/results/fbdd.md, from the records of ``benchmarks/calibrate_fbdd.py``."""

from pathlib import Path

import pandas as pd
from report.pages import table
from report.records import Frame, read_objects


def tables(results: Path) -> dict[str, str]:
    """Returns the generated parts of the page by name."""
    found: Frame = pd.DataFrame([record for _, record in read_objects(results / "fbdd_calibration.jsonl")])
    rows = [
        [
            f"PCA to {row.dimension}" if "PCA" in row.bundle else "as they are",
            f"{row.dimension}",
            f"{row.epsilon:g}",
            f"{row.words}",
            f"{row.unchanged['mean']:.3f}",
            f"{row.unchanged['quantiles']['0.5']:.3f}",
            f"{row.distinct['mean']:.0f}",
            f"{row.distinct['quantiles']['0.5']:.0f}",
        ]
        for _, row in found.sort_values(["dimension", "epsilon"]).iterrows()
    ]
    columns = [
        "MiniLM vectors",
        "dimension",
        "epsilon",
        "words",
        "N_w, mean",
        "N_w, median",
        "S_w, mean",
        "S_w, median",
    ]
    return {"calibration": table(columns, rows)}
