"""Count how the built-in bundle treats words, by their case and at the start of sentences.

    python benchmarks/case_coverage.py [--data DIR]

DIR has `pii/records.jsonl`, `ag_news/train.tsv` (the first 3,000 texts) and `sst2/dev.tsv`. The first table has
percentages of all words, except strings such as numbers and addresses, for the texts as written and in another case.
The second table is about words with a capital at the start of a sentence.
"""

import argparse
import json
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from textveil import Sanitizer
from textveil.text import (
    LOWER,
    SanitizingPlan,
    TemplateRule,
    TokenRole,
    fold_word,
    is_gap,
    is_string,
    make_plan,
    split_text,
)

ROOT = Path(__file__).parents[1]
CASES: dict[str, Callable[[str], str]] = {"as it is": str, "lower case": str.lower, "ALL CAPS": str.upper}
#: Columns of the first table.
WHAT = ("kept", "kind", "randomized", "unknown")
_TEXTS = 3000


def texts(data: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield the name of each set of texts, and its texts."""
    records = (data / "pii" / "records.jsonl").read_text("utf-8").splitlines()
    yield "data/pii", [json.loads(line)["text"] for line in records]
    for name, folder, file in (("AG News", "ag_news", "train.tsv"), ("SST-2", "sst2", "dev.tsv")):
        lines = (data / folder / file).read_text("utf-8").splitlines()[1 : _TEXTS + 1]
        yield name, [line.partition("\t")[0] for line in lines]


def words(plan: SanitizingPlan, text: str) -> Iterator[tuple[str, bool, str]]:
    """Yield each word of a text, whether it starts a sentence, and its role or type; skip strings such as numbers."""
    gap: str | None = None
    for segment in split_text(text):
        if is_gap(segment):
            gap = segment if gap is None else gap + segment
            continue
        starts, gap = plan.is_sentence_start(gap), ""
        if is_string(segment):
            continue
        token = plan.rule.classify_token(segment, starts_sentence=starts)[0][1]
        known = plan.find_symbol_id(token) < plan.bundle.symbol_count
        name = "" if token.type_index is None else plan.rule.entity_types[token.type_index].name
        yield (
            segment,
            starts,
            name or ("kept" if token.role is TokenRole.KEPT else "randomized" if known else "unknown"),
        )


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--data", type=Path, default=ROOT / "data", help="folder of the data")
    data = parser.parse_args().data
    plan = make_plan(Sanitizer.load().bundle)
    rule = plan.rule
    assert isinstance(rule, TemplateRule)
    print(f"{'':<24}{'words':>8}" + "".join(f"{what:>10}" for what in WHAT))
    for name, of_set in texts(data):
        for case, written in CASES.items():
            found = Counter(what for text in of_set for _, _, what in words(plan, written(text)))
            shares = {what: 100 * found[what] / found.total() for what in WHAT}
            shares["kind"] = 100 - sum(shares.values())
            print(f"{f'{name}, {case}':<24}{found.total():>8}" + "".join(f"{shares[what]:>10.1f}" for what in WHAT))
    print("\nwords with a capital at the start of a sentence that have a kind only because of the capital:")
    for name, of_set in texts(data):
        first = [
            (fold_word(word), what)
            for text in of_set
            for word, starts, what in words(plan, text)
            if starts and is_title(word)
        ]
        of_kinds = [(word, what) for word, what in first if what not in WHAT]
        only = Counter(what for word, what in of_kinds if rule.listed_types.find_word_type(word, LOWER) is None)
        kinds = ", ".join(f"{what} {count}" for what, count in only.most_common())
        print(f"{name:<10} {only.total()} of {len(first)}   {kinds}")


def is_title(word: str) -> bool:
    """Return whether a word begins with a capital letter and is not wholly in capitals, or has one letter."""
    letters = [letter for letter in word if letter.isalpha()]
    return word[:1].isupper() and not (len(letters) > 1 and all(map(str.isupper, letters)))


if __name__ == "__main__":
    main()
