"""Format the accuracies of ``textveil-train dpnr`` and ``evaluate`` as a table."""

from typing import Any

from textveil_training.terminal_tables import format_table


def format_accuracies(result: dict[str, Any]) -> str:
    """Format the accuracies of each split and epsilon as a table."""
    rows = [["split", "epsilon", "accuracy", "+-", "without noise"]]
    for split, figures in result.items():
        if "majority" in figures:
            rows.append([split, "majority", f"{figures['majority']:.4f}", "", ""])
        if "levels" not in figures:
            rows.append([split, "-", f"{figures['accuracy']:.4f}", f"{figures['standard_error']:.4f}", ""])
            continue
        for level, found in figures["levels"].items():
            numbers = [found["accuracy"], found["standard_error"], found["without_noise"]]
            rows.append([split, level, *(f"{number:.4f}" for number in numbers)])
    return format_table(rows)
