"""Check the lists of public facts against names of persons, and measure what they keep.

    python artifacts/lists/check_facts.py artifacts/english-v4

prints how many names of persons of all locales of `faker` are on a list of facts, and how many names outside the lists
of the bundle are terms or built words (`is_built_word`). It fails if a name is on a list with a capital, if more than
.2 % of the names outside the lists are terms or built words, or if a list has what a pool prints or is a common word.
"""

import json
import sys
from collections.abc import Collection
from pathlib import Path

import sources as src

#: Most names outside the lists of the bundle that are terms or built words, as a share.
MOST_NAMES = 0.002
#: Fewest letters of a built word and of its stems: before an ending, after a beginning, of two stems.
LETTERS_BUILT, LETTERS_STEM, LETTERS_PART = 6, 5, 5
KINDS = ("term", "capital", "company", "acronym", "language", "foreign")
WITH_CAPITAL = ("capital", "company", "acronym")


def is_built_word(word: str, stems: Collection[str], beginnings: Collection[str], endings: Collection[str]) -> bool:
    """Return whether a word in lower case is a stem with a listed beginning, a listed ending, or both.

    Args:
        word: A key.
        stems: Common words without the marks `name` and `census`, and listed terms.
        beginnings: Listed beginnings, such as `micro`.
        endings: Listed endings, such as `ization`.
    """
    if len(word) < LETTERS_BUILT or not (word.isascii() and word.isalpha()):
        return False
    cores = [word, *(word[len(beginning) :] for beginning in beginnings if word.startswith(beginning))]
    for core in cores:
        if core is not word and len(core) >= LETTERS_STEM and core in stems:
            return True
        for ending in endings:
            stem = core.removesuffix(ending)
            if stem != core and any(
                len(form) >= LETTERS_STEM and form in stems for form in restore_stems(stem, ending)
            ):
                return True
    return False


def restore_stems(stem: str, ending: str) -> list[str]:
    """Return the words that may have a stem before an ending: itself, with `e` or `y`, with one letter less."""
    forms = [stem]
    if ending[0] in "aeiou":
        forms.append(f"{stem}e")
        if len(stem) > LETTERS_STEM and stem[-1] == stem[-2]:
            forms.append(stem[:-1])
    if stem.endswith("i") and ending in ("ed", "es", "ly", "ness"):
        forms.append(f"{stem[:-1]}y")
    return forms


def list_locale_names() -> set[str]:
    """Return the names of persons of all locales of `faker` that consist of letters from a to z, in lower case."""
    given, family = src.names_abroad({})
    return {name for name in (*given, *family) if name.isascii() and name.isalpha()}


def main() -> int:
    """Print the figures; return 1 if a limit does not hold."""
    folder = Path(sys.argv[1])
    read = {path.name: read_entries(path) for path in folder.glob("*.txt")}
    facts = {kind: set(read[f"facts.{kind}.txt"]) for kind in KINDS}
    common = read["common-words.txt"]
    listed = {name for kind in ("given", "family", "given-abroad") for name in read[f"entity.{kind}.txt"]}
    names = list_locale_names()
    every = set(names) | {src.fold(name) for name in src.names_abroad({})[0]}
    words = json.loads(src.RULES.read_text("utf-8"))["optional"]["facts"]
    stems = {word for word, marks in common.items() if not {"name", "census"} & set(marks.split(","))} | facts["term"]
    failed = []
    for kind, entries in facts.items():
        hits = sorted(entry for entry in entries if src.fold(entry) in every)
        print(f"facts.{kind}.txt: {len(entries):,} entries, {len(hits)} names of the locales {hits[:5]}")
        if hits and kind in WITH_CAPITAL:
            failed.append(f"names on facts.{kind}.txt")
    outside = [name for name in names if name not in listed and name not in common]
    terms = [name for name in outside if name in facts["term"]]
    beginnings, endings = words["term_beginnings"], words["term_endings"]
    built = sorted(name for name in outside if is_built_word(name, stems, beginnings, endings))
    print(f"of {len(outside):,} names outside the lists {len(terms)} are terms, {len(built)} built words: {built[:40]}")
    if len({*terms, *built}) > MOST_NAMES * len(outside):
        failed.append("names that are terms or built words")
    printed = {part for path in folder.glob("surrogates.*.txt") for name in read[path.name] for part in name.split()}
    printed |= {src.fold(part) for part in printed}
    for kind, entries in facts.items():
        if kind != "language" and (both := sorted(entries & printed)):
            failed.append(f"facts.{kind}.txt has what a pool prints: {both[:5]}")
    if both := sorted((facts["term"] | facts["foreign"]) & common.keys()):
        failed.append(f"common words are terms: {both[:5]}")
    print("\n".join(f"does not hold: {problem}" for problem in failed) or "all limits hold")
    return 1 if failed else 0


def read_entries(path: Path) -> dict[str, str]:
    """Return the entries of a list with their marks."""
    lines = path.read_text("utf-8").splitlines()
    return {entry: marks for entry, _, marks in (line.partition("\t") for line in lines)}


if __name__ == "__main__":
    sys.exit(main())
