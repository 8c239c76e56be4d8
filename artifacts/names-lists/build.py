"""Build the public lists of the mode `names`: common words, kept capitals, entity members, and surrogates.

    pip install -r artifacts/names-lists/requirements.txt
    python artifacts/names-lists/build.py lists --scowl /usr/share/dict/scowl

writes the lists, and the card with their sources, to the folder `lists`; artifacts/put_names.py puts them into
english-v4, the only place that keeps them. The same sources give the same bytes on every machine, and a source of
another version is refused. README.md beside this script names the sources and their licenses.
"""

import argparse
import shutil
from pathlib import Path

import abroad
import common as words
import kinds
import pools
import sources as src

#: Where Debian's package `scowl` puts its files.
SCOWL = Path("/usr/share/dict/scowl")
#: The overlap of common words and names, which is no part of the bundle and lies beside this script.
SHOWN_NAMES = "kept-names.txt"
#: Pools whose words are hidden wherever they have a capital, also where a sentence starts.
CAPITALIZED = (
    "given",
    "family",
    "city",
    "country",
    "the-country",
    "state",
    "group",
    "organization",
    "place",
    "street",
)


def files(scowl: Path) -> dict[str, str]:
    """Return the content of every file by its name."""
    src.lists.check_versions(src.HERE)
    common = words.Common(scowl, kinds.any_case())
    for_words = pools.for_words(common)
    common.reserve({word for pool in for_words.values() for word in pool})
    by_list = kinds.by_list(common.words)
    drawn = pools.pools(common, by_list) | for_words
    of_kinds = by_list | kinds.classes(common.words)
    of_kinds["given-abroad"] = abroad.choose_first_names(set(common.words), of_kinds)
    capitals = src.hand("kept-capitals")[0]
    parts = {src.fold(part) for kind in CAPITALIZED for name in drawn[kind] for part in name.split()}
    parts -= set(src.hand("first-word")[0])  # a class of their own, shown by what follows
    marks = common.marks(parts)
    shown = {word: "" for word, held in marks.items() if "name" in held.split(",")}
    return {
        "common-words.txt": _text(marks),
        SHOWN_NAMES: _text(shown),
        "kept-capitals.txt": _text(dict.fromkeys(capitals, "")),
        "kept-symbols.txt": _text(dict.fromkeys(symbols(), "")),
        **{f"entity.{kind}.txt": _text(entries) for kind, entries in of_kinds.items()},
        **{f"surrogates.{kind}.txt": "".join(f"{name}\n" for name in pool) for kind, pool in drawn.items()},
    }


def symbols() -> list[str]:
    """Return the symbols that are kept: single code points, no persons, flags, skin tones or parts of sequences."""
    lines = (src.HERE / "by_hand" / "kept-symbols.txt").read_text("utf-8").splitlines()
    return sorted({symbol for line in lines if line[:1] != "#" for symbol in line.split()})


def _text(entries: dict[str, str]) -> str:
    return "".join(f"{entry}\t{marks}\n" if marks else f"{entry}\n" for entry, marks in sorted(entries.items()))


def main() -> None:
    """Write the files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scowl", type=Path, default=SCOWL, help="folder of SCOWL's files")
    parser.add_argument("folder", type=Path, help="folder for the lists")
    options = parser.parse_args()
    options.folder.mkdir(exist_ok=True)
    shutil.copy(src.HERE / "README.md", options.folder)
    for name, text in files(options.scowl).items():
        folder = src.HERE if name == SHOWN_NAMES else options.folder
        (folder / name).write_bytes(text.encode())
        print(len(text.splitlines()), len(text.encode()), name)


if __name__ == "__main__":
    main()
