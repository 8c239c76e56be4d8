"""Add the word lists for hiding names to a bundle (data folder), or build a bundle with only these lists.

They are the lists of the mode ``names``.
"""

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from textveil import __version__
from textveil.bundle import TextBundle, layout, open_bundle, parse_tensors

from textveil_export.errors import ExportError, SourceError
from textveil_export.text.contents import (
    NAMES_CREDIT,
    TextContents,
    add_credits,
    format_character_classes,
    make_manifest_head,
    summarize_vocabulary,
)
from textveil_export.text.word_vectors import read_text

#: The section of a folder's README.md with sources and licenses of the lists.
_SOURCES_SECTION = re.compile(
    r"^## Sources(?: of the lists of the mode names)?\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL
)
#: Entity types whose lists contain names. A common word on one of these lists must have the mark ``name``.
_NAME_KINDS = ("given", "family", "city")
_ENDING = re.compile(r"[a-z]+")
_LIST_FILE = re.compile(r"(entity|surrogates|facts)\.([a-z]+(?:-[a-z]+)*)\.txt")


@dataclass(frozen=True, kw_only=True)
class NamesListFiles:
    """Word lists of the mode ``names`` (which hides names and numbers), read from a folder.

    Attributes:
        texts: Content of each list, by its file name in the bundle.
        kinds: Entity types that have a list of words.
        pools: Entity types that have a list of surrogates (replacements).
        facts: Names of lists of public facts (words that may be left unchanged).
        sources: Section of the model card about sources and licenses.
    """

    texts: dict[str, str]
    kinds: tuple[str, ...]
    pools: tuple[str, ...]
    facts: tuple[str, ...]
    sources: str


def read_names_lists(folder: Path) -> NamesListFiles:
    """Read the word lists of the mode ``names`` (which hides names and numbers) from a folder or a bundle.

    The folder contains lists of common words, words with capitals, symbols, names by entity type (``entity.TYPE.txt``)
    and surrogates, that is replacements (``surrogates.TYPE.txt``). Lists of public facts, which may be left unchanged,
    are optional (``facts.NAME.txt``). The optional file ``rules.json`` contains the rules of the language, and
    ``README.md`` the sources. If ``folder`` is a bundle, only its lists of the mode ``names`` are read. The function
    checks only that the lists match the rules; ``write_bundle`` checks the other content.

    Raises:
        SourceError: A file is missing or is not UTF-8; the type in a file name has characters other than a to z and
            ``-``; there is no list of surrogates; the rules name a missing list; a listed name is also a common word
            that is not marked ``name``; or ``README.md`` has no section on sources.
    """
    texts = {name: read_text(folder / name) for name in (layout.COMMON_WORDS, layout.KEPT_CAPITALS, layout.SYMBOLS)}
    names_of_role: dict[str, list[str]] = {"entity": [], "surrogates": [], "facts": []}
    of_bundle = _list_bundle_files(folder) if (folder / layout.MANIFEST).is_file() else None
    for path in sorted(folder.glob("*.txt")):
        if (match := _LIST_FILE.fullmatch(path.name)) and (of_bundle is None or path.name in of_bundle):
            names_of_role[match[1]].append(match[2])
            texts[path.name] = read_text(path)
        elif match is None and path.name.partition(".")[0] in names_of_role:
            raise SourceError(f"{path.name}: name it ROLE.TYPE.txt, with a type of letters a to z and - between words")
    if (folder / layout.RULES).is_file():
        texts[layout.RULES] = read_text(folder / layout.RULES)
        _check_language(texts, names_of_role["surrogates"])
    if not names_of_role["surrogates"]:
        raise SourceError(f"{folder.name}: a surrogate pool is missing: add files surrogates.TYPE.txt")
    sources = _SOURCES_SECTION.search(read_text(folder / "README.md"))
    if sources is None:
        raise SourceError('README.md: add a section "## Sources" with sources and licenses of the lists')
    card = f"## Sources\n{sources[1]}"
    return NamesListFiles(
        texts=texts,
        kinds=tuple(names_of_role["entity"]),
        pools=tuple(names_of_role["surrogates"]),
        facts=tuple(names_of_role["facts"]),
        sources=card,
    )


def _check_language(texts: Mapping[str, str], pools: Collection[str]) -> None:
    """Check that the word lists of a language match its rules.

    The rules name endings of words. Each of these endings must have a list of surrogates (made-up replacements) with
    the same ending. Each common word that is also on a list of names must have the flag ``name``.

    Args:
        texts: Content of each list, by its file name in the bundle.
        pools: Entity types that have a list of surrogates.

    Raises:
        SourceError: An ending in the rules has no list of surrogates, or a common word is also on a list of names but
            has no flag ``name``.
    """
    try:
        endings = [str(ending) for ending in json.loads(texts[layout.RULES])["endings"]["kept"]]
    except (ValueError, KeyError, TypeError):
        return  # write_bundle checks the rules, and its error names the fault
    for ending in endings:
        if not _ENDING.fullmatch(ending):
            raise SourceError(f"{layout.RULES}: endings.kept: {ending!r} must consist of letters a to z")
        if f"word-{ending}" not in pools:
            raise SourceError(f"{layout.RULES}: endings.kept: add the pool surrogates.word-{ending}.txt")
    unmarked = {
        word
        for word, _, marks in (line.partition("\t") for line in texts[layout.COMMON_WORDS].splitlines())
        if "name" not in marks.split(",")
    }
    for kind in _NAME_KINDS:
        entries = (line.partition("\t")[0] for line in texts.get(f"entity.{kind}.txt", "").splitlines())
        if found := sorted(unmarked.intersection(entries)):
            raise SourceError(
                f"{layout.COMMON_WORDS}: {found[0]} is on the list of {kind} too: mark it name, or omit it"
            )


def _list_bundle_files(folder: Path) -> set[str]:
    """Return the file names of a bundle's word lists for the mode ``names``, which hides names.

    Lists that only the staircase mechanism uses are omitted.
    """
    bundle = open_bundle(folder, TextBundle)
    return set() if bundle.names_files is None else set(bundle.names_files.contents)


def make_names_contents(lists: NamesListFiles, name: str, license: str) -> TextContents:
    """Return the contents of a bundle (data folder) that has only the word lists of the mode ``names``."""
    nothing = TextContents(
        tensors={},
        texts={layout.CHARACTERS: format_character_classes()},
        definition={
            "vocabulary_size": 0,
            "santext": None,
            "staircase": None,
            "template": None,
            "defaults": {"mechanism": None},
        },
        manifest=make_manifest_head(name, license, "")
        | {"provenance": {"exporter": f"textveil-export {__version__}", "lists": {}}},
        statistics={"vocabulary_size": 0, "merged": {}},
    )
    return add_names_lists(nothing, lists)


def add_names_lists(contents: TextContents, lists: NamesListFiles) -> TextContents:
    """Return a copy of a text bundle's contents with the word lists of the mode ``names``, which hides names.

    The bundle (data folder) may already have lists of names for the staircase mechanism (random replacement of words).
    The outputs of this mechanism depend on its lists. If such a list differs from the list in ``lists`` with the same
    file name, the bundle gets both, and the list of the mechanism gets a new file name: ``template.`` and the old one.
    """
    taken = {name for name, text in lists.texts.items() if contents.texts.get(name, text) != text}
    contents = _rename_template_lists(contents, {name: f"template.{name}" for name in taken})
    facts = {"facts": list(lists.facts)} if lists.facts else {}
    return replace(
        contents,
        texts={**contents.texts, **lists.texts},
        definition={
            **contents.definition,
            "names": {"entity_types": list(lists.kinds), "surrogate_pools": list(lists.pools), **facts},
        },
        manifest={**contents.manifest, "attribution": add_credits(contents.manifest["attribution"], NAMES_CREDIT)},
        statistics={**contents.statistics, "names_sources": lists.sources},
    )


def _rename_template_lists(contents: TextContents, new_names: Mapping[str, str]) -> TextContents:
    """Return a copy of a bundle's contents in which some lists of the staircase mechanism have other file names.

    Args:
        contents: The bundle.
        new_names: New file name by old file name.
    """
    if not new_names:
        return contents
    texts = {new_names.get(name, name): text for name, text in contents.texts.items()}
    template = contents.definition["template"]
    entity_types = [
        {**kind, "files": [new_names.get(name, name) for name in kind["files"]]} for kind in template["entity_types"]
    ]
    return replace(
        contents,
        texts=texts,
        definition={**contents.definition, "template": {**template, "entity_types": entity_types}},
    )


def read_staircase_contents(bundle: TextBundle) -> TextContents:
    """Read a finished bundle (data folder) with the staircase mechanism back into memory, byte for byte.

    The function omits the word lists of the mode ``names``, which hides names.

    Raises:
        ExportError: The bundle has no staircase mechanism, or also has SanText.
    """
    if bundle.staircase_table is None or bundle.santext_levels:
        raise ExportError("--beside needs a bundle with the staircase mechanism and without SanText")
    definition = json.loads((bundle.path / layout.MECHANISM_FILE).read_bytes())
    definition.pop("names", None)
    assert bundle.template is not None
    of_names = set() if bundle.names_files is None else set(bundle.names_files.contents)
    of_names -= {name for kind in bundle.template.entity_types for name in kind.files}
    files = {name: (bundle.path / name).read_bytes() for name in definition.pop("files") if name not in of_names}
    tensors = {name: parse_tensors(data, name) for name, data in files.items() if name.endswith(".safetensors")}
    texts = {name: data.decode("utf-8") for name, data in files.items() if name not in tensors}
    return TextContents(
        tensors=tensors,
        texts=texts,
        definition=definition,
        manifest={key: value for key, value in bundle.manifest.items() if key != "files"},
        statistics=summarize_vocabulary(texts[layout.VOCABULARY])
        | {"staircase_k": bundle.staircase_table.neighbors.shape[1]},
    )
