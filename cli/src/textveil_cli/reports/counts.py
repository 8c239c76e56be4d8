"""Print how many texts belong to each class, estimated from randomized labels, as a table or JSON lines."""

import json
from collections.abc import Sequence
from typing import Any

from textveil.bundle import HeldOutCounts, LabelBundle, layout

from textveil_cli.aggregation import AggregateCounts, CountEstimate, CountEstimates
from textveil_cli.console import print_message
from textveil_cli.errors import ReleaseError

#: From this number of texts on, counts are printed as whole numbers.
_MIN_TEXTS_FOR_INTEGERS = 100
_DECIDED_HEADING, _LABEL_HEADING = "classified as", "estimated texts"


def print_counts(bundle: LabelBundle, counts: AggregateCounts, as_json: bool) -> None:
    """Print the estimated number of texts in each class on standard output.

    Explanations, and reasons for missing counts, are printed on standard error.

    Args:
        bundle: The bundle (folder with the model and its settings) of the devices.
        counts: The estimated counts.
        as_json: Whether to print JSON: one object for each label of the bundle. If devices send cluster labels instead
            of class labels, there is also one object for each cluster.

    Raises:
        ReleaseError: No count is possible.
    """
    decided, of_labels = counts.by_class_label, counts.by_true_label
    if decided.refusal and of_labels.refusal:
        raise ReleaseError(decided.refusal)
    has_cluster_labels = bundle.label_type == layout.CLUSTER_LABELS
    tables = [("cluster label", [(_DECIDED_HEADING, decided)]), ("label", [(_LABEL_HEADING, of_labels)])]
    if not has_cluster_labels:
        tables = [("label", [(_DECIDED_HEADING, decided), (_LABEL_HEADING, of_labels)])]
    blocks = [
        _format_json_lines(label_kind, columns) if as_json else _format_table(label_kind, columns)
        for label_kind, columns in tables
    ]
    print(("\n" if as_json else "\n\n").join("\n".join(lines) for lines in blocks if lines), flush=True)
    if not as_json:
        for line in _explain_columns(counts, bundle.held_out):
            print_message(f"textveil: {line}")
    for name, estimate in ((_DECIDED_HEADING, decided), (_LABEL_HEADING, of_labels)):
        if estimate.refusal:
            print_message(f"textveil: {name}: no estimate: {estimate.refusal}")
        elif not all(count.interval for count in estimate.counts):
            print_message(
                f"textveil: {name}: - marks an estimate whose interval exceeds 0 to {counts.texts:,}: too few texts, "
                "or texts unlike the held-out ones"
            )


def _explain_columns(counts: AggregateCounts, held_out: HeldOutCounts | None) -> list[str]:
    texts = f"{counts.texts:,} text" + "s" * (counts.texts != 1)
    lines = [f"{texts}. In parentheses: plus and minus two standard errors, limited to 0 and {counts.texts:,}"]
    if not counts.by_class_label.refusal:
        lines.append(
            f"{_DECIDED_HEADING}: classes assigned by the model on the devices, errors included; the interval covers "
            "the noise"
        )
    if not counts.by_true_label.refusal and held_out is not None:
        lines.append(
            f"{_LABEL_HEADING}: texts with this label, assuming that they resemble the held-out texts of the label; "
            "the interval covers the noise, the model's errors and the limited number of held-out texts "
            f"({held_out.text_count:,})"
        )
    return lines


def _format_json_lines(label_kind: str, columns: Sequence[tuple[str, CountEstimates]]) -> list[str]:
    """Format estimated counts as JSON lines: one object for each class or cluster label.

    Args:
        label_kind: Type of the labels, such as ``class label``. The key of the label in each object is the same text
            with underscores: ``class_label``.
        columns: Heading and estimates of each column.
    """
    keys = {_DECIDED_HEADING: "classified_as", _LABEL_HEADING: "estimated_texts"}
    entries: dict[str, dict[str, Any]] = {}
    for column, estimate in columns:
        for count in estimate.counts:
            entry = entries.setdefault(
                count.label, {label_kind.replace(" ", "_"): count.label, **{keys[name]: None for name, _ in columns}}
            )
            entry[keys[column]] = count.to_dict()
    return [json.dumps(entry, ensure_ascii=False) for entry in entries.values()]


def _format_table(label_kind: str, columns: Sequence[tuple[str, CountEstimates]]) -> list[str]:
    available = [(name, estimate) for name, estimate in columns if estimate.counts]
    if not available:
        return []
    rows = [[label_kind, *(name for name, _ in available)]]
    for counts in zip(*(estimate.counts for _, estimate in available), strict=True):
        rows.append([counts[0].label, *map(_format_cell, counts)])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def _format_cell(count: CountEstimate) -> str:
    if count.interval is None:
        return "-"
    low, high = count.interval
    middle = min(max(count.count, low), high)
    digits = 0 if count.texts >= _MIN_TEXTS_FOR_INTEGERS else 1
    return f"{middle:,.{digits}f} ({low:,.{digits}f} to {high:,.{digits}f})"
