"""Build all public English lists: common words, words of entity types, surrogates.

    pip install -r artifacts/lists/requirements.txt
    npm install --prefix sources $(cat artifacts/lists/npm.txt)
    python artifacts/lists/build.py lists --scowl /usr/share/dict/scowl --npm sources/node_modules

The script writes the lists of the mode `names`, and the card with their sources, to the folder `lists`. It writes the
lists that only the modes `words` and `all` read to `lists/template`. artifacts/put_lists.py copies all of them into
english-v4, the only place where the repository stores them. The same sources give the same bytes on every machine, and
a source of another version is an error. README.md beside this script names the sources and their licenses.
"""

import argparse
import shutil
from pathlib import Path

import common_words as words
import entity_lists
import fact_lists
import first_names
import shared_lists
import sources as src
import surrogate_pools
import template_lists

#: Where Debian's package `scowl` puts its files.
SCOWL = Path("/usr/share/dict/scowl")
#: Where `npm install --prefix sources` puts its packages.
NPM = Path("sources/node_modules")
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


#: Folder of the lists that only the modes `words` and `all` read.
TEMPLATE = "template"


def files(scowl: Path, npm: Path) -> dict[str, str]:
    """Return the content of every output file by its path."""
    src.check_versions()
    common = words.Common(scowl, entity_lists.any_case())
    for_words = surrogate_pools.for_words(common)
    common.reserve({word for pool in for_words.values() for word in pool})
    by_list = entity_lists.by_list(common.words)
    drawn = surrogate_pools.pools(common, by_list) | for_words
    of_kinds = by_list | entity_lists.classes(common.words)
    of_kinds["given-abroad"] = first_names.choose_first_names(set(common.words), of_kinds)
    capitals = src.read_handwritten("kept-capitals")[0]
    parts = {src.fold(part) for kind in CAPITALIZED for name in drawn[kind] for part in name.split()}
    parts -= set(src.read_handwritten("first-word")[0])  # a class of their own, shown by what follows
    marks = common.marks(parts)
    shown = {word: "" for word, held in marks.items() if "name" in held.split(",")}
    lists = shared_lists.mark_lists(of_kinds, set(common.words))
    printed = [name for pool in drawn.values() for name in pool]
    facts = fact_lists.FactLists(npm, marks, lists, printed, src.scowl(scowl)).list_all()
    return {
        "common-words.txt": _text(marks),
        SHOWN_NAMES: _text(shown),
        "kept-capitals.txt": _text(dict.fromkeys(capitals, "")),
        "kept-symbols.txt": _text(dict.fromkeys(symbols(), "")),
        **{f"entity.{name}.txt": _text(lists[name]) for name in of_kinds},
        **{f"surrogates.{kind}.txt": "".join(f"{name}\n" for name in pool) for kind, pool in drawn.items()},
        **{f"facts.{kind}.txt": _text(dict.fromkeys(entries, "")) for kind, entries in facts.items()},
        f"{TEMPLATE}/function-words.txt": _text(template_lists.list_function_words()),
        **{f"{TEMPLATE}/entity.{name}.txt": _text(lists[name]) for name in shared_lists.list_own_names(of_kinds)},
        **{
            f"{TEMPLATE}/shape.{shape}.txt": _text(dict.fromkeys(pool, ""))
            for shape, pool in template_lists.list_shape_pools().items()
        },
    }


def symbols() -> list[str]:
    """Return the symbols that the mode `names` keeps, from `by_hand/kept-symbols.txt`."""
    lines = (src.HERE / "by_hand" / "kept-symbols.txt").read_text("utf-8").splitlines()
    return sorted({symbol for line in lines if line[:1] != "#" for symbol in line.split()})


def _text(entries: dict[str, str]) -> str:
    return "".join(f"{entry}\t{marks}\n" if marks else f"{entry}\n" for entry, marks in sorted(entries.items()))


def main() -> None:
    """Write the lists to the folder of the command line, and print the size of each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scowl", type=Path, default=SCOWL, help="folder of SCOWL's files")
    parser.add_argument("--npm", type=Path, default=NPM, help="folder of packages of npm")
    parser.add_argument("folder", type=Path, help="folder for the lists")
    options = parser.parse_args()
    (options.folder / TEMPLATE).mkdir(parents=True, exist_ok=True)
    shutil.copy(src.HERE / "README.md", options.folder)
    for name, text in files(options.scowl, options.npm).items():
        folder = src.HERE if name == SHOWN_NAMES else options.folder
        (folder / name).write_bytes(text.encode())
        print(len(text.splitlines()), len(text.encode()), name)


if __name__ == "__main__":
    main()
