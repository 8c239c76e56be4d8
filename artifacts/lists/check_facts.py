"""Count the names of persons on the lists of public facts, and fail if there are too many.

    python artifacts/lists/check_facts.py artifacts/english-v4

The script prints how many names of persons from the locales of `faker` are on each list of facts. It also prints how
many names that are on no list of the bundle are terms. The script fails in these cases:
- A name is on a list whose entries are written with a capital.
- More than .2 % of the names that are on no list are terms, or are read as a typing error of a common word.
- A list contains a word of a surrogate pool, or a list of lower-case words contains a common word.
"""

import sys
from collections.abc import Set as AbstractSet
from pathlib import Path

import sources as src

#: Most names outside the lists of the bundle that are terms, as a share.
MOST_NAMES = 0.002
KINDS = ("term", "capital", "company", "acronym", "language", "foreign")
WITH_CAPITAL = ("capital", "company", "acronym")


def list_locale_names() -> set[str]:
    """Return the names of persons of all locales of `faker` that consist of letters from a to z, in lower case."""
    given, family = src.names_abroad({})
    return {name for name in (*given, *family) if name.isascii() and name.isalpha()}


def find_problems(folder: Path) -> list[str]:
    """Print how many names of persons are on the lists of facts, and return the violated limits.

    ``folder`` is the folder of the bundle.
    """
    read = {path.name: read_entries(path) for path in folder.glob("*.txt")}
    facts = {kind: set(read[f"facts.{kind}.txt"]) for kind in KINDS}
    common = read["common-words.txt"]
    listed = {name for kind in ("given", "family", "given-abroad") for name in read[f"entity.{kind}.txt"]}
    given, family = src.names_abroad({})
    every = given.keys() | family.keys()
    problems = []
    for kind, entries in facts.items():
        shortest = 3 if kind == "acronym" else 1  # those of two letters are by hand, and nobody is written like that
        hits = sorted(entry for entry in entries if len(entry) >= shortest and src.fold(entry) in every)
        print(f"facts.{kind}.txt: {len(entries):,} entries, {len(hits)} names of the locales {hits[:5]}")
        if hits and kind in WITH_CAPITAL:
            problems.append(f"names are on facts.{kind}.txt")
    outside = [name for name in list_locale_names() if name not in listed and name not in common]
    words = facts["term"] | facts["foreign"]
    terms = [name for name in outside if name in words]
    print(f"of {len(outside):,} names outside the lists {len(terms)} are terms: {terms[:40]}")
    if len(terms) > MOST_NAMES * len(outside):
        problems.append("too many names are terms")
    problems += find_corrected({"names": outside, "census": list_census_names(listed | common.keys())})
    printed = {part for path in folder.glob("surrogates.*.txt") for name in read[path.name] for part in name.split()}
    printed |= {src.fold(part) for part in printed}
    for kind, entries in facts.items():
        if kind != "language" and (both := sorted(entries & printed)):
            problems.append(f"a pool prints what facts.{kind}.txt has: {both[:5]}")
    if both := sorted(words & common.keys()):
        problems.append(f"common words are terms: {both[:5]}")
    return problems


def find_corrected(names_by_source: dict[str, list[str]]) -> list[str]:
    """Print how many names the mode `names` would read as a misspelled common word, and return violated limits.

    The rules are those of the installed bundle.
    ``names_by_source`` contains names that are on no list, by their source.
    """
    from textveil import Sanitizer

    plan = Sanitizer.load().names_plan(protect="names", facts="public")
    problems = []
    for source, names in names_by_source.items():
        corrected = sorted(filter(plan.corrects, names))
        print(f"of {len(names):,} {source} outside the lists {len(corrected)} are corrected: {corrected[:10]}")
        if len(corrected) > MOST_NAMES * len(names):
            problems.append(f"too many {source} are corrected")
    return problems


def list_census_names(listed: AbstractSet[str]) -> list[str]:
    """Return the names of the US census that are not in ``listed``."""
    names = src.census("dist.all.last", "dist.female.first", "dist.male.first")
    return [name for name in names if name.isalpha() and name not in listed]


def main() -> int:
    """Print the figures, and return exit status 1 if a limit is violated."""
    problems = find_problems(Path(sys.argv[1]))
    print("\n".join(f"does not hold: {problem}" for problem in problems) or "all limits hold")
    return 1 if problems else 0


def read_entries(path: Path) -> dict[str, str]:
    """Read the entries of a list, each with its marks."""
    lines = path.read_text("utf-8").splitlines()
    return {entry: marks for entry, _, marks in (line.partition("\t") for line in lines)}


if __name__ == "__main__":
    sys.exit(main())
