"""Measure which type the mode `names` gives to the names of persons, organizations and places.

    python benchmarks/names/run_types.py --texts FILE... [--several]

Each line of a file is a JSON object with ``text`` and ``spans`` of ``type``, ``start`` and ``end``. A stretch is a
replaced part of a text. Each stretch with a capital that is not a number or an identifier counts once: for the marked
span with which it shares most characters, or for no span. With ``--several``, only stretches of two or more words
count.

The script prints the counts of each type for each marked type. For persons and for organizations it also prints the
precision (the share of stretches with this type that are in spans of this type; stretches outside all spans are
ignored) and the recall (the share of stretches in spans of this type that have this type).
"""

import argparse
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from textveil import Sanitizer

#: Types of persons, organizations and places in data sets; works and products count as organizations here.
_MARKED = {
    **dict.fromkeys(("PERSON", "person"), "person"),
    **dict.fromkeys(("ORGANIZATION", "corporation", "group", "product", "creative-work"), "body"),
    **dict.fromkeys(("GPE", "location", "STREET_ADDRESS"), "place"),
}
#: The types of replaced stretches that are names.
_WRITTEN = {
    "person": "person",
    **dict.fromkeys(("organization", "acronym", "word"), "body"),
    **dict.fromkeys(("city", "country", "state", "place", "street"), "place"),
}
_KEPT = ("gap", "kept", "whitespace", "punctuation")


def find_stretches(sanitizer: Sanitizer, text: str) -> Iterator[tuple[int, int, str]]:
    """Yield start, end and type of each replaced part of a text that is a name with a capital."""
    at = 0
    for piece, type_ in sanitizer.preview(text, protect="names", facts="none"):
        start = text.index(piece, at)
        at = start + len(piece)
        if type_ not in _KEPT and type_ in _WRITTEN and piece != piece.lower():
            yield start, at, type_


def count_types(sanitizer: Sanitizer, rows: list[dict[str, Any]], *, several: bool) -> Counter[tuple[str, str]]:
    """Count replaced parts by the type of the marked span and the type from the mode `names`."""
    counts = Counter[tuple[str, str]]()
    for row in rows:
        for start, end, type_ in find_stretches(sanitizer, row["text"]):
            if several and len(row["text"][start:end].split()) < 2:
                continue
            shared = Counter[str]()
            for span in row["spans"]:
                common = min(end, span["end"]) - max(start, span["start"])
                if common > 0:
                    shared[_MARKED.get(span["type"], "other")] += common
            marked = shared.most_common(1)[0][0] if shared else "none"
            counts[marked, _WRITTEN[type_]] += 1
    return counts


def format_scores(counts: Counter[tuple[str, str]]) -> str:
    """Return precision and recall of persons and of organizations as one line."""
    lines: list[str] = []
    for type_ in ("person", "body"):
        right = counts[type_, type_]
        written = sum(n for (marked, given), n in counts.items() if given == type_ and marked not in ("none", "other"))
        marked = sum(n for (marked, _), n in counts.items() if marked == type_)
        lines.append(f"{type_}: precision {right / max(1, written):.3f}, recall {right / max(1, marked):.3f}")
    return "; ".join(lines)


def main() -> None:
    """Parse the command line and print the counts and scores of each file."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--texts", type=Path, nargs="+", required=True, help="texts with marked spans, JSON lines")
    parser.add_argument("--several", action="store_true", help="count only replaced parts of two or more words")
    arguments = parser.parse_args()
    sanitizer = Sanitizer.load()
    for path in arguments.texts:
        rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        counts = count_types(sanitizer, rows, several=arguments.several)
        print(f"{path.name}: {format_scores(counts)}")
        for marked in ("person", "body", "place", "other", "none"):
            print(f"  marked {marked}:", {given: counts[marked, given] for given in ("person", "body", "place")})


if __name__ == "__main__":
    main()
