"""Measure the share of mentions that ``restore`` restores, in made-up sentences, posts and written replies.

    python benchmarks/names/restored.py [--data DIR] [-o RECORD]

Each sentence and post is rewritten with surrogates and with tags; the reply repeats the rewritten text. A mention
counts as restored if the restored text contains the whole mention in its original place, by an alignment of the words.
Surrogates of numbers, dates, titles and initials are sampled anew for each mention and never restored: ``linked``
counts the mentions of all other types. The written replies are the 300 of ``tests/runtime/conversation``; each has its
own conversation.
"""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "benchmarks"), str(ROOT / "tests/fixtures")]

import argparse
import json
import re
from collections import Counter
from difflib import SequenceMatcher
from itertools import chain

from textveil import Sanitizer
from written_replies import FILE, measured

from names.data import DATA_SETS
from names.fetch import FETCHED
from names.tools import rule

_PIECES = re.compile(r"\w+|\W")


def stands(text: str, restored: str) -> list[bool]:
    """Return for each character of a text whether its whole word is aligned with the restored text."""
    before, after = _PIECES.findall(text), _PIECES.findall(restored)
    found = [False] * len(before)
    for block in SequenceMatcher(None, before, after, autojunk=False).get_matching_blocks():
        found[block.a : block.a + block.size] = [True] * block.size
    return [kept for piece, kept in zip(before, found, strict=True) for _ in piece]


def count_restored(sanitizer: Sanitizer, texts: list[str], style: str) -> Counter[str]:
    """Count the mentions in texts, and how many of them are restored if a reply repeats the rewritten text.

    ``placed`` counts restorations in every place, ``in running text`` restorations in the default places.
    """
    plan, counts = sanitizer.names_plan(style=style, facts="none"), Counter[str]()
    reader = plan.make_reader()
    for text, result in zip(
        texts, sanitizer.sanitize_batch(texts, protect="names", facts="none", style=style), strict=True
    ):
        kept, at = stands(text, result.restore(result.text, restore_places="all").text), 0
        in_running_text = stands(text, result.restore(result.text).text)
        for entry in reader.read_texts([text])[0].elements:
            if isinstance(entry, str):
                at += len(entry)
                continue
            right = all(kept[at : at + len(entry.span.text)])
            counts["in running text"] += all(in_running_text[at : at + len(entry.span.text)])
            at += len(entry.span.text)
            linked = style == "tag" or all(
                plan.surrogates.is_consistent(part.entity_type, part.layout) for part in entry.parts
            )
            counts += Counter(mentions=1, placed=right, linked=linked, linked_placed=right and linked)
    return counts


def main() -> None:
    """Parse the command line and write the record."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--data", type=Path, default=ROOT / "data", help="folder of the data")
    parser.add_argument("-o", "--output", type=Path, default=ROOT / "benchmarks/results/names/restored.json")
    a = parser.parse_args()
    sanitizer, record = Sanitizer.load(), dict[str, dict[str, Counter[str]]]()
    texts = {name: [row.text for row in DATA_SETS[name].rows(a.data, FETCHED, "odd")] for name in ("made-up", "posts")}
    for name, of_set in texts.items():
        record[name] = {style: count_restored(sanitizer, of_set, style) for style in ("surrogate", "tag")}
    counts = measured(sanitizer, [json.loads(line) for line in FILE.read_text("utf-8").splitlines()])[0]
    record["replies"] = {"surrogate": counts}
    a.output.write_text(
        json.dumps({"of": rule(chain(*texts.values())), "texts": record}, indent=1) + "\n", encoding="utf-8"
    )
    print(json.dumps(record))


if __name__ == "__main__":
    main()
