"""Share of tokens that are members of a kind, in personal data and in news.

    python benchmarks/lists_coverage.py [--data DIR]

DIR has `pii/records.jsonl` and `ag_news/test.tsv`. Tokens are those of the runtime's segmentation, clitics cut off. A
word is a member of the first list that has it; an entry marked `capitalized` needs a capital. Strings (digits,
addresses) are members by shape, whatever the shape. Beside members there are function words, other words of english-3,
which are drawn, and unknown words, whose draw does not depend on them. The second table has the capitalized words
inside sentences of AG News, which are mostly names, and all tokens of the same texts in lower case.
"""

import argparse
import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

from textveil.text import is_gap, is_string, key, segments, split_clitic

ROOT = Path(__file__).parents[1]
LISTS = ROOT / "artifacts" / "lists"
KINDS = "weekday month number-word ordinal country nationality given-name family-name city organization".split()
KINDS += "street-word unit-word place-word institution-word organization-word".split()


def read(name: str) -> dict[str, str]:
    """Reads a list: the marks of every entry."""
    lines = (LISTS / f"{name}.txt").read_text("utf-8").splitlines()
    return {entry: marks for entry, _, marks in (line.partition("\t") for line in lines)}


LOADED = {name: read(f"kind.{name}") for name in KINDS}
FUNCTION_WORDS = read("function-words")
VOCABULARY = frozenset((ROOT / "artifacts" / "words" / "english-3.txt").read_text("utf-8").splitlines())


def kind(segment: str) -> str:
    """Returns the kind of a segment, or what else it is."""
    if is_string(segment):
        return "by shape"
    stem = key(segment)
    while clitic := split_clitic(stem):
        stem = clitic[0]
    capital = segment[:1].isupper()
    for name, entries in LOADED.items():
        if stem in entries and (capital or "capitalized" not in entries[stem]):
            return name
    if stem in FUNCTION_WORDS:
        return "function word"
    return "other word" if stem in VOCABULARY else "unknown word"


def words(text: str) -> Iterator[str]:
    """Yields the words and strings of a text."""
    return (segment for segment in segments(text) if not is_gap(segment))


def inside_sentences(text: str) -> Iterator[str]:
    """Yields the capitalized ordinary words that do not begin a sentence."""
    start = True
    for segment in segments(text):
        if is_gap(segment):
            start = start or any(mark in segment for mark in ".!?\n")
            continue
        if not start and segment[:1].isupper() and not is_string(segment):
            yield segment
        start = False


def row(label: str, found: Counter[str]) -> str:
    """Formats the shares of a row: members, function words, and the kinds that most tokens have."""
    total = found.total()
    others = ("function word", "other word", "unknown word")
    members = total - sum(found[other] for other in others)
    shares = "".join(f"{100 * n / total:>10.1f}" for n in (members, *(found[other] for other in others)))
    kinds = ", ".join(f"{name} {100 * n / total:.1f}" for name, n in found.most_common() if name not in others)
    return f"{label:<18}{total:>7}{shares}   {kinds}"


def main() -> None:
    """Prints both tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    data: Path = parser.parse_args().data
    print(
        f"{'percent of':<18}{'tokens':>7}{'members':>10}{'function':>10}{'other':>10}{'unknown':>10}   members by kind"
    )
    spans: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for line in (data / "pii" / "records.jsonl").read_text("utf-8").splitlines():
        record = json.loads(line)
        for span in record["spans"]:
            spans[span["type"]].update(map(kind, words(record["text"][span["start"] : span["end"]])))
    for label in sorted(spans, key=lambda label: -spans[label].total()):
        print(row(label, spans[label]))
    print(row("all spans", sum(spans.values(), Counter())))
    lower: Counter[str] = Counter()
    inside: Counter[str] = Counter()
    for line in (data / "ag_news" / "test.tsv").read_text("utf-8").splitlines():
        text = line.partition("\t")[0].replace("\\", " ")
        inside.update(map(kind, inside_sentences(text)))
        lower.update(map(kind, words(text.lower())))
    print("\nAG News, test: capitalized words inside sentences, then every token with the text in lower case")
    print(row("capitalized", inside))
    print(row("lower case", lower))


if __name__ == "__main__":
    main()
