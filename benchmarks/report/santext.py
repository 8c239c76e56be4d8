"""Write the tables of docs/results/santext.md from the records of ``benchmarks/santext``."""

import json
from pathlib import Path

import pandas as pd
from report.pages import points, spread, table

#: Versions of the code in ``santext_sst2.jsonl``: one splits a clitic after a blank at its apostrophe, one does not.
TORN, ONE_TOKEN = "torn", "one-token"


def read_lines(path: Path) -> pd.DataFrame:
    """Return JSON lines as a table."""
    return pd.DataFrame([json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()])


def tables(records: Path) -> dict[str, str]:
    """Return the generated parts of the page."""
    return {"authors": _compare_authors(records), "sst2": _list_accuracies(records)}


def _compare_authors(records: Path) -> str:
    """Return the table of distances to the authors' probabilities."""
    found = read_lines(records / "santext_authors.jsonl")
    rows = [
        [
            str(one["mechanism"]),
            str(one["epsilon"]),
            f"{one['words']:,}",
            f"{one['outputs']:,}",
            f"{one['total_variation_mean']:.4f}",
            f"{one['total_variation_largest']:.4f}",
            f"{one['largest_difference']:.4f}",
        ]
        for _, one in found.iterrows()
    ]
    columns = ["mechanism", "epsilon", "words", "outputs", "total variation, mean", "largest", "largest probability"]
    return table(columns, rows)


def _list_accuracies(records: Path) -> str:
    """Return the table of accuracies and unchanged chunks by row, with the current and with the earlier code."""
    found = read_lines(records / "santext_sst2.jsonl").drop_duplicates(["code", "row", "seed"])
    order = list(dict.fromkeys(found["row"]))
    rows = []
    for row in order:
        of = {code: found[(found["row"] == row) & (found["code"] == code)] for code in (ONE_TOKEN, TORN)}
        rows.append(
            [
                row,
                spread(of[ONE_TOKEN]["accuracy"]),
                spread(of[TORN]["accuracy"]),
                _format_unchanged(of[ONE_TOKEN]["unchanged"].tolist(), row),
                _format_unchanged(of[TORN]["unchanged"].tolist(), row),
                str(len(of[ONE_TOKEN])),
            ]
        )
    return table(["row", "accuracy", "before", "chunks unchanged", "before", "seeds"], rows)


def _format_unchanged(shares: list[float], row: str) -> str:
    """Return a mean share in percent; empty without measurements, and for the row of the majority class."""
    return "" if not shares or row == "majority" else points(sum(shares) / len(shares))
