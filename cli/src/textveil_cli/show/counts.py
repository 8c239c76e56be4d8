"""Output of corrected counts: a table with the meaning of its columns, or JSON lines."""

import json
from collections.abc import Sequence
from typing import Any

from textveil.bundle import HeldOut, IndexBundle, layout
from textveil.errors import ReleaseError

from textveil_cli.collector import Count, Counts, Estimate
from textveil_cli.console import say

#: From this number of texts on, counts are printed as whole numbers.
_WHOLE = 100
_DECIDED, _OF_LABELS = "decided as", "texts of this label"


def show_counts(bundle: IndexBundle, counts: Counts, as_json: bool) -> None:
    """Print counts.

    Explanations, and reasons for missing counts, go to standard error.

    Args:
        bundle: The bundle of the devices.
        counts: The counts.
        as_json: Whether to print one JSON object for each label, and for each code where codes are not labels.

    Raises:
        ReleaseError: No count is possible.
    """
    decided, of_labels = counts.decided, counts.of_labels
    if decided.refused and of_labels.refused:
        raise ReleaseError(decided.refused)
    apart = bundle.codes_are == layout.CODEBOOK
    tables = [("code", [(_DECIDED, decided)]), ("label", [(_OF_LABELS, of_labels)])]
    if not apart:
        tables = [("label", [(_DECIDED, decided), (_OF_LABELS, of_labels)])]
    written = [_objects(kind, columns) if as_json else _table(kind, columns) for kind, columns in tables]
    print(("\n" if as_json else "\n\n").join("\n".join(lines) for lines in written if lines), flush=True)
    if not as_json:
        for line in _explained(counts, bundle.held_out):
            say(f"textveil: {line}")
    for name, estimate in ((_DECIDED, decided), (_OF_LABELS, of_labels)):
        if estimate.refused:
            say(f"textveil: {name}: no numbers: {estimate.refused}")
        elif not all(count.interval for count in estimate.counts):
            say(
                f"textveil: {name}: - where the range is wider than from 0 to {counts.texts:,}, or outside of that: "
                "too few texts, or texts unlike the held-out ones"
            )


def _explained(counts: Counts, held_out: HeldOut | None) -> list[str]:
    texts = f"{counts.texts:,} text" + "s" * (counts.texts != 1)
    lines = [f"{texts}. In brackets: two standard errors on each side, cut to 0 and {counts.texts:,}"]
    if not counts.decided.refused:
        lines.append(
            f"{_DECIDED}: where the model on the devices put them, mistakes included; the range covers the noise"
        )
    if not counts.of_labels.refused and held_out is not None:
        lines.append(
            f"{_OF_LABELS}: what they are, if texts of a label are like the held-out ones of that label; the range "
            f"covers the noise, the model's mistakes and the limited number of held-out texts ({held_out.texts:,})"
        )
    return lines


def _objects(kind: str, columns: Sequence[tuple[str, Estimate]]) -> list[str]:
    """Return a JSON object for each name in any column."""
    keys = {_DECIDED: "decided_as", _OF_LABELS: "texts_of_label"}
    found: dict[str, dict[str, Any]] = {}
    for column, estimate in columns:
        for count in estimate.counts:
            entry = found.setdefault(count.label, {kind: count.label, **{keys[name]: None for name, _ in columns}})
            entry[keys[column]] = count.to_dict()
    return [json.dumps(entry, ensure_ascii=False) for entry in found.values()]


def _table(kind: str, columns: Sequence[tuple[str, Estimate]]) -> list[str]:
    there = [(name, estimate) for name, estimate in columns if estimate.counts]
    if not there:
        return []
    rows = [[kind, *(name for name, _ in there)]]
    for counts in zip(*(estimate.counts for _, estimate in there), strict=True):
        rows.append([counts[0].label, *map(_cell, counts)])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def _cell(count: Count) -> str:
    if count.interval is None:
        return "-"
    low, high = count.interval
    middle = min(max(count.count, low), high)
    digits = 0 if count.texts >= _WHOLE else 1
    return f"{middle:,.{digits}f} ({low:,.{digits}f} to {high:,.{digits}f})"
