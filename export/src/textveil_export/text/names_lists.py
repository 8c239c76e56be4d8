"""The part of a bundle that the rung ``names`` needs, from a folder of lists, alone or beside a staircase."""

import json
import re
from dataclasses import dataclass, replace
from pathlib import Path

from textveil import __version__
from textveil.bundle import TextBundle, layout, parse_tensors

from textveil_export.errors import ExportError, SourceError
from textveil_export.text.contents import (
    NAMES_LISTS,
    Contents,
    characters_json,
    credited,
    manifest_head,
    vocabulary_statistics,
)
from textveil_export.text.word_vectors import read_text

#: Where the card of a folder of lists says whose they are.
_SOURCES = re.compile(r"^## Sources(?: of the lists of the rung names)?\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
_LIST = re.compile(r"(kind|pool)\.([a-z]+(?:-[a-z]+)*)\.txt")


@dataclass(frozen=True, kw_only=True)
class NamesFolder:
    """The lists of a folder, as a bundle has them.

    Attributes:
        texts: Content by the name of the file in the bundle.
        kinds: Kinds with members by list.
        pools: Kinds with outputs.
        sources: Sources and licenses of the lists, for the card.
    """

    texts: dict[str, str]
    kinds: tuple[str, ...]
    pools: tuple[str, ...]
    sources: str


def read_names_folder(folder: Path) -> NamesFolder:
    """Reads a folder of lists: common words, capitals, symbols, ``kind.KIND.txt``, ``pool.KIND.txt``, ``README.md``.

    A bundle is such a folder too: it has them as ``names.kind.KIND.txt`` and ``names.pool.KIND.txt``. What stands in
    the lists is checked when the new bundle is written.

    Raises:
        SourceError: A file is missing or is not UTF-8, there is no pool, or ``README.md`` has no section on sources.
    """
    texts = {name: read_text(folder / name) for name in (layout.COMMON_WORDS, layout.SHOWN_CAPITALS, layout.SYMBOLS)}
    found: dict[str, list[str]] = {"kind": [], "pool": []}
    patterns = {"kind": layout.NAMES_KIND, "pool": layout.NAMES_POOL}
    prefix = "names." if (folder / layout.MANIFEST).is_file() else ""
    for path in sorted(folder.glob(f"{prefix}*.txt")):
        if match := _LIST.fullmatch(path.name.removeprefix(prefix)):
            role, kind = match[1], match[2]
            found[role].append(kind)
            texts[patterns[role].format(kind)] = read_text(path)
    if not found["pool"]:
        raise SourceError(f"{folder.name}: there is no pool.KIND.txt")
    sources = _SOURCES.search(read_text(folder / "README.md"))
    if sources is None:
        raise SourceError("README.md: there is no section Sources, which says whose the lists are")
    card = f"## Sources\n{sources[1]}"
    return NamesFolder(texts=texts, kinds=tuple(found["kind"]), pools=tuple(found["pool"]), sources=card)


def names_alone(lists: NamesFolder, name: str, license: str) -> Contents:
    """Returns a bundle with the lists and nothing else."""
    nothing = Contents(
        tensors={},
        texts={layout.CHARACTERS: characters_json()},
        law={
            "tokens": "word",
            "symbols": 0,
            "santext": None,
            "staircase": None,
            "skeleton": None,
            "defaults": {"mechanism": None},
        },
        manifest=manifest_head(name, license, "")
        | {"provenance": {"exporter": f"textveil-export {__version__}", "lists": {}}},
        statistics={"symbols": 0, "merged": {}},
    )
    return with_names(nothing, lists)


def with_names(contents: Contents, lists: NamesFolder) -> Contents:
    """Returns a bundle that has the lists too."""
    return replace(
        contents,
        texts={**contents.texts, **lists.texts},
        law={**contents.law, "names": {"kinds": list(lists.kinds), "pools": list(lists.pools)}},
        manifest={**contents.manifest, "attribution": credited(contents.manifest["attribution"], NAMES_LISTS)},
        statistics={**contents.statistics, "names_sources": lists.sources},
    )


def finished_staircase(bundle: TextBundle) -> Contents:
    """Returns what a finished bundle was written from, byte for byte, but for lists of the rung ``names``.

    Raises:
        ExportError: It has more than a staircase, or none.
    """
    if bundle.staircase is None or bundle.levels:
        raise ExportError("the lists can be put beside a staircase alone")
    law = json.loads((bundle.path / layout.LAW).read_bytes())
    law.pop("names", None)
    of_names = set() if bundle.names is None else set(bundle.names.contents)
    files = {name: (bundle.path / name).read_bytes() for name in law.pop("files") if name not in of_names}
    tensors = {name: parse_tensors(data, name) for name, data in files.items() if name.endswith(".safetensors")}
    texts = {name: data.decode("utf-8") for name, data in files.items() if name not in tensors}
    return Contents(
        tensors=tensors,
        texts=texts,
        law=law,
        manifest={key: value for key, value in bundle.manifest.items() if key != "files"},
        statistics=vocabulary_statistics(texts[layout.VOCABULARY])
        | {"staircase_k": bundle.staircase.neighbors.shape[1]},
    )
