"""The classes of characters that text is cut by, for readers that have no Unicode tables of the same version."""

import importlib.metadata
import json
import re
import sys
from dataclasses import dataclass
from functools import cache
from typing import Any

import regex
from numpy.typing import NDArray
from textveil.bundle import TextBundle, layout

from textveil_export.errors import ExportError

_VERSION = re.compile(r"supports Unicode ([0-9]+\.[0-9]+\.[0-9]+)")


@cache
def format_character_classes() -> str:
    """Returns ``characters.json``: the ranges of every class as the installed ``regex`` has it, a line for each class.

    Raises:
        ExportError: The library does not say which Unicode it has.
    """
    everything = "".join(map(chr, range(sys.maxunicode + 1)))
    lines = []
    for name, pattern in layout.CHARACTER_CLASSES.items():
        runs = regex.finditer(f"{pattern}+", everything, regex.V1)
        ranges = [place for run in runs for place in (run.start(), run.end() - 1)]
        lines.append(f"  {json.dumps(name)}: {json.dumps(ranges, separators=(',', ':'))}")
    classes = ",\n".join(lines)
    return f'{{\n "unicode": "{_read_unicode_version()}",\n "classes": {{\n{classes}\n }}\n}}\n'


def _read_unicode_version() -> str:
    match = _VERSION.search(importlib.metadata.distribution("regex").read_text("METADATA") or "")
    if match is None:
        raise ExportError("the installed regex does not say which version of Unicode it has")
    return match[1]


MINILM_CREDIT = "Distances derive from sentence-transformers/all-MiniLM-L6-v2 (Apache-2.0)."
WORDS_CREDIT = (
    "The words and their frequencies derive from wordfreq (data CC BY-SA 4.0) and the BERT vocabulary (Apache-2.0)."
)
NEVER_OUTPUT_CREDIT = "The list of words that are never drawn is based on LDNOOBW (CC BY 4.0)."
TEMPLATE_CREDIT = (
    "The lists of names, places and organizations derive from the US Census of 1990 and its titles of industries "
    "(public domain), GeoNames (CC BY 4.0), Wikipedia (CC BY-SA), Faker and pytickersymbols (MIT): see artifacts/lists."
)
NEIGHBORS_CREDIT = (
    "The neighbors of the staircase derive from GloVe (PDDL), lemminflect and vaderSentiment (MIT) and WordNet 3.1 "
    "(Princeton University): see artifacts/words."
)
NAMES_CREDIT = "The card of this bundle (README.md) has the sources and licenses of the lists of the rung names."
#: License of a bundle that has the English words, or the English lists of the skeleton.
ENGLISH_LICENSE = "Apache-2.0 AND CC-BY-4.0 AND CC-BY-SA-4.0 AND MIT"


def add_credits(attribution: str, *credits: str) -> str:
    """Returns an attribution with more credits, each of them once."""
    return " ".join([attribution, *(credit for credit in credits if credit not in attribution)]).strip()


@dataclass(frozen=True, kw_only=True)
class TextContents:
    """A bundle in memory.

    Attributes:
        tensors: Arrays of each safetensors file, by file name.
        texts: Content of each text file, by file name; ``law.json`` without its ``files``.
        law: ``law.json`` without ``files``.
        manifest: ``manifest.json`` without ``files`` and ``identity``.
        statistics: What was measured on the way, for the card.
    """

    tensors: dict[str, dict[str, NDArray[Any]]]
    texts: dict[str, str]
    law: dict[str, Any]
    manifest: dict[str, Any]
    statistics: dict[str, Any]


def make_manifest_head(name: str, license: str, attribution: str) -> dict[str, Any]:
    """Returns what the manifest of every bundle for text begins with."""
    return {
        "format": layout.FORMAT,
        "format_version": layout.FORMAT_VERSION,
        "kind": TextBundle.KIND,
        "name": name,
        "label": "textbook",
        "licence": license,
        "attribution": attribution,
        "levels": {},
    }


def summarize_vocabulary(vocabulary: str) -> dict[str, Any]:
    """Returns what the card says of the content of ``vocabulary.tsv``."""
    lines = [line.split("\t") for line in vocabulary.splitlines()]
    return {
        "symbols": len(lines),
        "spellings": sum(map(len, lines)),
        "merged": {spelling: line[0] for line in lines for spelling in line[1:]},
    }
