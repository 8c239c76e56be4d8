"""How much of public text word lists cover, and what one has that the other lacks.

    python benchmarks/compare_word_lists.py OLD NEW --data ../shared/data

The texts judge a list; no list may be made or tuned from them. A sample of words is drawn with a fixed seed.
"""

import argparse
import json
import random
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import regex
from textveil.text import key, segments, split_clitic

LISTS = Path(__file__).parents[1] / "export" / "src" / "textveil_export" / "lists"
_WORD = regex.compile(r"\p{Alphabetic}+(?:'\p{Alphabetic}+)*|n't")


def coverage(words: Iterable[str], texts: Iterable[str]) -> float:
    """Returns the share of the words of `texts` that are in a list, between 0 and 1.

    Texts are cut as textveil cuts them; numbers and strings with digits do not count. A word with a clitic counts as
    two, unless the list has it whole.

    Raises:
        ValueError: The texts have no word.
    """
    known = frozenset(words)
    found: Counter[str] = Counter()
    for word, count in Counter(key(segment) for text in texts for segment in segments(text)).items():
        if _WORD.fullmatch(word):
            found.update(dict.fromkeys((word,) if word in known else split_clitic(word) or (word,), count))
    if not found:
        raise ValueError("no word to measure coverage on")
    return sum(count for word, count in found.items() if word in known) / found.total()


def read_words(file: Path) -> list[str]:
    """Returns the entries of a word list in their order; lines that start with `# ` are comments."""
    return [line for line in file.read_text(encoding="utf-8").splitlines() if not line.startswith("# ")]


def read_texts(data: Path) -> dict[str, list[str]]:
    """Returns the texts of every data set below a folder, by name."""

    def lines(name: str) -> list[str]:
        return (data / name).read_text(encoding="utf-8").split("\n")

    entities = (data / "ag_private" / "ag_data.txt").read_text(encoding="utf-8").split("=" * 20)[2]
    return {
        "SST-2 dev": [line.split("\t")[0] for line in lines("sst2/dev.tsv")[1:]],
        "AG News test": [line.split("\t")[0] for line in lines("ag_news/test.tsv")],
        "AG news with entities, test": [line.split("\t")[1] for line in entities.splitlines() if line.strip()],
        "QNLI dev": [cell for line in lines("qnli/dev.tsv")[1:] for cell in line.split("\t")[1:3]],
        "WikiText-2 test": [line.replace("<unk>", "") for line in lines("wikitext2/test.txt")],
        "made-up personal data": [json.loads(line)["text"] for line in lines("pii/records.jsonl") if line],
    }


def main() -> None:
    """Prints the comparison as Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument("--data", type=Path, required=True, help="folder with the data sets")
    options = parser.parse_args()
    old, new = read_words(options.old), read_words(options.new)
    sensitive = {word for file in LISTS.glob("sensitive/*.txt") for word in read_words(file)}
    never = set(read_words(LISTS / "never_output.txt"))
    print(f"| | {options.old.name} | {options.new.name} | in both |\n|---|---|---|---|")
    for name, chosen in (
        ("entries", {*old, *new}),
        ("of the most frequent tenth", None),
        ("of the sensitive lists", sensitive),
        ("of the never-output list", never),
    ):
        both = (set(old[: len(old) // 10]), set(new[: len(new) // 10])) if chosen is None else (set(old), set(new))
        sets = [words & chosen if chosen is not None else words for words in both]
        print(f"| {name} | {len(sets[0]):,} | {len(sets[1]):,} | {len(sets[0] & sets[1]):,} |")
    for name, texts in read_texts(options.data).items():
        print(f"| coverage of {name} | {coverage(old, texts):.2%} | {coverage(new, texts):.2%} | |")
    draw = random.Random(0)
    for title, words, other in (("Lost", old, new), ("Gained", new, old)):
        print(f"\n{title}, 60 at random:", " ".join(draw.sample(sorted(set(words) - set(other)), 60)))


if __name__ == "__main__":
    main()
