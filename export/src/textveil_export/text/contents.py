"""Hold a text bundle (data folder for rewriting texts) in memory, and create the parts that all of them have."""

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
    """Return the content of ``characters.json``: the Unicode ranges of each class of characters.

    The device splits text into tokens by these classes. A reader whose Unicode tables have another version uses the
    ranges in the file. The ranges are those of the installed package ``regex``.

    Raises:
        ExportError: The package does not state its Unicode version.
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
    """Read the Unicode version of the installed package ``regex`` from its metadata."""
    match = _VERSION.search(importlib.metadata.distribution("regex").read_text("METADATA") or "")
    if match is None:
        raise ExportError("the Unicode version of the package regex is unknown: install a release from PyPI")
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
NAMES_CREDIT = "The card of this bundle (README.md) has the sources and licenses of the lists of the mode names."
#: License of a bundle with the English words, or with the English lists of the template.
ENGLISH_LICENSE = "Apache-2.0 AND CC-BY-4.0 AND CC-BY-SA-4.0 AND MIT"


def add_credits(attribution: str, *credits: str) -> str:
    """Append credits to an attribution, and omit credits that it already contains."""
    return " ".join([attribution, *(credit for credit in credits if credit not in attribution)]).strip()


@dataclass(frozen=True, kw_only=True)
class TextContents:
    """Content of a text bundle (data folder for rewriting texts) in memory.

    Attributes:
        tensors: Arrays of each safetensors file, by file name.
        texts: Content of each text file, by file name, without ``mechanism.json``.
        definition: Content of ``mechanism.json`` without ``files``.
        manifest: Content of ``manifest.json`` without ``files``.
        statistics: Figures for the model card.
    """

    tensors: dict[str, dict[str, NDArray[Any]]]
    texts: dict[str, str]
    definition: dict[str, Any]
    manifest: dict[str, Any]
    statistics: dict[str, Any]


def make_manifest_head(name: str, license: str, attribution: str) -> dict[str, Any]:
    """Return the first fields of a bundle's ``manifest.json``: format, name, license and attribution."""
    return {
        "format": layout.FORMAT,
        "format_version": layout.FORMAT_VERSION,
        "bundle_type": TextBundle.KIND,
        "name": name,
        "epsilon_notion": "textbook",
        "license": license,
        "attribution": attribution,
        "levels": {},
    }


def summarize_vocabulary(vocabulary: str) -> dict[str, Any]:
    """Return figures of a vocabulary for the model card.

    The keys are ``vocabulary_size`` (number of entries), ``spellings`` (number of spellings) and ``merged``, a
    dictionary from each further spelling of an entry to the entry's first one.

    Args:
        vocabulary: Content of ``vocabulary.tsv``.
    """
    lines = [line.split("\t") for line in vocabulary.splitlines()]
    return {
        "vocabulary_size": len(lines),
        "spellings": sum(map(len, lines)),
        "merged": {spelling: line[0] for line in lines for spelling in line[1:]},
    }
