"""The lists of the mode `names`."""

import unicodedata
from typing import Any

import regex

from .characters import TO_ASCII
from .files import check

MARKS = {"strict", "start", "emphasis", "opener", "name", "function", "rare", "census"}
CLOSED = ("weekday", "month", "title", "group")
#: Kinds of lists of facts with the form of a spelling; the others have keys.
FACTS = {
    "term": None,
    "capital": "[A-Z]",
    "company": "[A-Z]",
    "acronym": "^[A-Z]{2,6}$",
    "language": None,
    "foreign": None,
}
NO_SYMBOL = regex.compile(r"[\p{L}\p{M}\p{N}\p{Z}\p{Cc}\p{Cf}\p{Co}\U0001F1E6-\U0001F1FF\U0001F3FB-\U0001F3FF]")


def names_files(entry: dict[str, Any]) -> list[str]:
    """Return the files that `names` in `mechanism.json` implies."""
    check(set(entry) - {"facts"} == {"entity_types", "surrogate_pools"}, "mechanism.json: names")
    for kinds in entry.values():
        check(isinstance(kinds, list) and len(set(kinds)) == len(kinds), "mechanism.json: a kind twice")
        check(all(regex.fullmatch("[a-z]+(-[a-z]+)*", kind) for kind in kinds), "mechanism.json: the name of a kind")
    files = ["common-words.txt", "kept-capitals.txt", "kept-symbols.txt"]
    files += [f"entity.{kind}.txt" for kind in entry["entity_types"]]
    files += [f"surrogates.{kind}.txt" for kind in entry["surrogate_pools"]]
    return files + [f"facts.{name}.txt" for name in entry.get("facts", [])]


def read_names(entry: dict[str, Any], data: dict[str, bytes]) -> dict[str, Any]:
    """Return the checked lists: common words with their marks, capitals, symbols, types with marks, pools."""
    common = marked(data, "common-words.txt", MARKS)
    kinds = {kind: marked(data, f"entity.{kind}.txt", {"capitalized", "member-only"}) for kind in entry["entity_types"]}
    for kind in CLOSED:
        for member, marks in kinds.get(kind, {}).items():
            check("capitalized" in marks or member not in common, "a common word of a closed kind")
    symbols = in_order(entries(data, "kept-symbols.txt"))
    check(all(len(symbol) == 1 and not NO_SYMBOL.match(symbol) for symbol in symbols), "a symbol")
    return {
        "common": common,
        "capitals": in_order(entries(data, "kept-capitals.txt")),
        "symbols": symbols,
        "kinds": kinds,
        "facts": {kind: read_facts(data, kind) for kind in FACTS if kind in entry.get("facts", [])},
        "pools": {kind: entries(data, f"surrogates.{kind}.txt") for kind in entry["surrogate_pools"]},
    }


def read_facts(data: dict[str, bytes], kind: str) -> list[str]:
    """Return a list of public facts: keys, or printed spellings with a capital."""
    name = f"facts.{kind}.txt"
    if FACTS[kind] is None:
        return list(marked(data, name, set()))
    found = in_order(entries(data, name))
    check(all(regex.search(FACTS[kind], entry) for entry in found), f"{name}: a spelling")
    return found


def marked(data: dict[str, bytes], name: str, known: set[str]) -> dict[str, set[str]]:
    """Folded entries with their marks, in order."""
    found = {}
    for line in entries(data, name, tabs=True):
        entry, *marks = line.split("\t")
        check(len(marks) <= 1, f"{name}: two tabs")
        of_entry = marks[0].split(",") if marks else []
        check(set(of_entry) <= known and len(set(of_entry)) == len(of_entry), f"{name}: a mark")
        check(unicodedata.normalize("NFKC", entry).lower().translate(TO_ASCII) == entry, f"{name}: not folded")
        check(entry not in found, f"{name}: there twice")
        found[entry] = set(of_entry)
    in_order(list(found))
    return found


def entries(data: dict[str, bytes], name: str, tabs: bool = False) -> list[str]:
    """Return the lines of a list; no line may occur twice."""
    *lines, rest = data[name].decode("utf-8").split("\n")
    check(lines and not rest and len(set(lines)) == len(lines), f"{name}: no lines, an incomplete one, or one twice")
    check(all(line and line == line.strip(" ") for line in lines), f"{name}: an empty line, or blanks")
    check(tabs or not any("\t" in line for line in lines), f"{name}: a tab")
    return lines


def in_order(found: list[str]) -> list[str]:
    """Return a list after a check that it is in code point order."""
    check(found == sorted(found), "a list is out of order")
    return found
