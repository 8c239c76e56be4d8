"""Write lists of opposites and alarming words that check `english-3-opposites.txt` independently.

    pip install lemminflect==0.2.3
    python artifacts/words/second_lists.py artifacts/words/english-3.txt texts/second LISTS

`texts/second` contains the files of public repositories that `SOURCES` lists with their commits; the name of a file is
the last part of its path. The script writes `school.txt`, `ppdb.txt` and `eacl.txt` (opposites, with their inflected
forms in the word list) and `news.txt` (alarming words) to LISTS. benchmarks/misleading.py reads them. No part of these
files is distributed with textveil.
"""

import ast
import csv
import gzip
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from build_opposites import FORMS, Forms, format_file, require_source_file, same

Pair = tuple[str, str]
#: Repository, commit and folder of the files of each list, and the SHA-256 of each file.
SOURCES = {
    "school": (
        "sethc2/word-opposites@de923fa88dad2a48880f6d58991f2c086ce5bb9b/src",
        {"WordList.js": "f8d14cabc84cb7166d53b82eb818aa212c259d15049a5ef4c6ba0623e93f97f8"},
    ),
    "ppdb": (
        "nmrksic/counter-fitting@8cf3cf4db1074f2f80ecf728e6af68347c3b3d02/linguistic_constraints",
        {"ppdb_antonyms.txt": "da985c7cd92237a9a906cde1dc8f13e928d159c62d0b8059dfa04e2b45e6485a"},
    ),
    "eacl": (
        "sherlockdoyle/antonemo@11d74b36981197ee09f56c20a97fdf15f9182b6b/src/assets/eacl2017",
        {
            "adjectives.test": "8fb05da7a4854c1088aea011e33ad1a9adad8219905014087de081e9e82ca42c",
            "adjectives.train": "e13a19c1cc35ab27635eda51d3cbaf2cd6788bb80e7accd9d2333bb2dd09f2ac",
            "adjectives.val": "315e5206144ec566239ab75b803755f0df9c10ad8faef3b2bffb344f60ecd3fc",
            "nouns.test": "8bba47ac01560175a070f97e208781b330f859a5263f8010565250f10dcf725f",
            "nouns.train": "e15f0a281e6676f5c1fac6bc3bd8c894fba2e3109b216d882ee4d467fe4f968e",
            "nouns.val": "f06d3bf0f7b57f366f04f45610510e70f81af5f71fe5e3c5824f778e3dfa089f",
            "verbs.test": "e963c3053c8ee01e828737773f6fc81b55072d534e162455b2445d2444eb538f",
            "verbs.train": "7a3593059df866a867031db8a05b9f41941ba75f45ec4c12dc89c81d5bdb9423",
            "verbs.val": "43712a1098cbcc959aa98d925f34006246a50debb4b415fbae2d0f6ccd16f09b",
        },
    ),
    "news": (
        "bweir27/NewsRephrased_python@fd0aee194e52424a855b88eebbc017b205d033a4",
        {"blocked_terms.py": "7731156e93a2e06c7249cb5666ed9575bead22808a74aebfe7df70bc845349f4"},
    ),
}
#: Of the terms by which an account skips news, what alarms nobody; names and terms of several words are left out too.
HARMLESS = {"minor", "children"}


def school(text: str) -> Iterator[Pair]:
    """Yield pairs of opposites from `WordList.js`, a list for school classes.

    An entry of this file has a word and all its opposites: `word: "hot", antonyms: ["cold", "cool"]`.

    Args:
        text: Content of the file.
    """
    for word, antonyms in re.findall(r'word: "([^"]*)",\s*antonyms: \[([^\]]*)\]', text):
        yield from ((word, other) for other in re.findall(r'"([^"]*)"', antonyms))


def ppdb(text: str) -> Iterator[Pair]:
    """Yield the pairs of opposites in a file with two words per line."""
    yield from ((one, other) for one, other in (line.split() for line in text.splitlines() if line.strip()))


def eacl(text: str) -> Iterator[Pair]:
    """Yield the pairs of antonyms in a file of the EACL word list; the last column of an antonym is ``1``.

    The other lines of the file are synonyms.

    Args:
        text: Content of the file: lines with two words and the kind of the pair, separated by tabs.
    """
    yield from ((one, other) for one, other, kind in (line.split("\t") for line in text.splitlines()) if kind == "1")


def news(text: str) -> Iterator[str]:
    """Yield alarming words, from a public list of terms that a news account uses to skip news.

    Terms of several words, names and the words in `HARMLESS` are left out.

    Args:
        text: Content of `blocked_terms.py`, which assigns the list to `BLOCKED_TERMS`.
    """
    terms = (term.strip() for term in ast.literal_eval(text.split("BLOCKED_TERMS = ")[1]))
    yield from (term for term in terms if term.isalpha() and term.islower() and term not in HARMLESS)


def format_opposites(pairs: Iterable[Pair], forms: Forms) -> str:
    """Return the content of a file of opposites: a line for each pair and for each of its inflected forms."""
    return format_file(line for one, other in pairs for line in forms.pair(one.lower(), other.lower()))


def main(words: Path, folder: Path, target: Path) -> None:
    """Write the lists of opposites and of alarming words, and print the number of entries of each list.

    Args:
        words: File of the word list.
        folder: Folder with the downloaded sources.
        target: Folder for the lists.
    """
    from textveil_export.text.word_vectors import read_list

    with gzip.open(
        require_source_file("lemminflect", "resources/infl_lu.csv.gz", FORMS), "rt", encoding="utf-8"
    ) as file:
        forms = Forms(read_list(words), csv.reader(file))
    target.mkdir(exist_ok=True)
    for name, (_, files) in SOURCES.items():
        text = "\n".join(same(folder / path, digest).read_text("utf-8").rstrip() for path, digest in files.items())
        pairs = {"school": school, "ppdb": ppdb, "eacl": eacl}.get(name)
        found = format_opposites(pairs(text), forms) if pairs else "".join(f"{term}\n" for term in news(text))
        (target / f"{name}.txt").write_text(found, "utf-8")
        print(name, len(found.splitlines()))


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
