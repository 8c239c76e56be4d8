"""Measure which marked names the mode ``names`` keeps with a language pack, and which other words it changes.

    python benchmarks/languages/measure_pack.py BUNDLE TEXTS [--facts VALUE] [-o RECORD]

BUNDLE is a bundle of the language. TEXTS has one JSON object per line with ``text`` and ``spans`` (start, end and
type). Whether a word stays is determined by its position, never by searching for its spelling in the output. Each text
is measured as written, in lower case and in capitals. Strings that begin with a digit are counted apart from words.
"""

import argparse
import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from textveil import Sanitizer, __version__

#: A text with its spans: start, end and type.
MarkedSpans = tuple[str, list[tuple[int, int, str]]]
#: Pattern of words; digits alone are no names.
_WORD = re.compile(r"[^\W\d_][\w]*")
#: Pattern of numbers, with letters after their digits.
_NUMBER = re.compile(r"\d\w*")
#: Names of the counts of words and of numbers outside all spans.
OTHER, OTHER_NUMBERS = "other words changed", "other numbers changed"
CASES: dict[str, Callable[[str], str]] = {"as written": str, "lower case": str.lower, "capitals": str.upper}


def read_marked_texts(path: Path) -> Iterator[MarkedSpans]:
    """Yield each text with its spans: start, end and type.

    Raises:
        SystemExit: The file is missing, or it contains no text.
    """
    if not path.is_file():
        raise SystemExit(f"{path} is missing: write it with tests/fixtures/marked_texts.py")
    if not path.read_text("utf-8").strip():
        raise SystemExit(f"{path} has no texts: run tests/fixtures/marked_texts.py again and read its error")
    for line in path.read_text("utf-8").splitlines():
        entry = json.loads(line)
        yield entry["text"], [tuple(span) for span in entry["spans"]]


def count_words(
    mark_kept: Callable[[str], bytearray], texts: Iterable[MarkedSpans], change_case: Callable[[str], str]
) -> dict[str, list[int]]:
    """Count the words and numbers in marked spans that stay, by type, and the others that change.

    Each entry of the result is a list: the count, and the number of all such words.

    Args:
        mark_kept: Function of the tool that returns a byte for each character of a text: 1 if the character stays.
        texts: Marked texts.
        change_case: Function that changes the case of a text. Texts whose length changes are omitted.
    """
    counts: dict[str, list[int]] = {}
    for text, spans in texts:
        written = change_case(text)
        if len(written) != len(text):
            continue
        kept = mark_kept(written)
        types = {place: span_type for start, end, span_type in spans for place in range(start, end)}
        for pattern, other, suffix in ((_WORD, OTHER, ""), (_NUMBER, OTHER_NUMBERS, " numbers")):
            for match in pattern.finditer(written):
                stays = all(kept[match.start() : match.end()])
                span_type = types.get(match.start())
                count = counts.setdefault(other if span_type is None else f"{span_type}{suffix}", [0, 0])
                count[0] += stays != (span_type is None)
                count[1] += 1
    return counts


def mark_kept(sanitizer: Sanitizer, text: str, facts: str = "none") -> bytearray:
    """Return a byte for each character of a text: 1 if the mode ``names`` keeps the character."""
    mask = bytearray()
    for piece, state in sanitizer.preview(text, protect="names", facts=facts):
        mask += bytes([state in ("kept", "gap")]) * len(piece)
    return mask


def format_table(counts: dict[str, dict[str, list[int]]]) -> Iterator[str]:
    """Yield the lines of a table of percentages: a row for each case, a column for each type."""
    others = [OTHER, OTHER_NUMBERS]
    types = [*sorted({name for row in counts.values() for name in row} - {*others}), *others]
    yield f"{'':<12}" + "".join(f"{name:>22}" for name in types)
    for case, row in counts.items():
        cells = (
            f"{100 * row[name][0] / row[name][1]:.1f} % of {row[name][1]:,}" if name in row else "" for name in types
        )
        yield f"{case:<12}" + "".join(f"{cell:>22}" for cell in cells)


def main() -> None:
    """Print the table, and write the record."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bundle", type=Path)
    parser.add_argument("texts", type=Path)
    parser.add_argument("--facts", default="none", help="value of the option facts (default: none)")
    parser.add_argument("-o", "--output", type=Path, help="JSON file for the record")
    options = parser.parse_args()
    sanitizer = Sanitizer.load(options.bundle)
    texts, tool = [*read_marked_texts(options.texts)], partial(mark_kept, sanitizer, facts=options.facts)
    counts = {name: count_words(tool, texts, change) for name, change in CASES.items()}
    print(*format_table(counts), sep="\n")
    if options.output:
        record: dict[str, Any] = {
            "bundle": sanitizer.bundle.content_hash,
            "counts": counts,
            "facts": options.facts,
            "texts": hashlib.sha256(options.texts.read_bytes()).hexdigest(),
            "version": __version__,
        }
        options.output.write_text(json.dumps(record, indent=1, sort_keys=True) + "\n", "utf-8")


if __name__ == "__main__":
    main()
