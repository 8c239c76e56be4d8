"""Reads a model of contexts and writes it for a vocabulary: the arrays of ``context.safetensors``.

The model is a text file, so that one file serves bundles whose ids differ. Fields are separated by tabs, entries and
numbers inside a field by blanks; lines that start with ``"# "`` are comments:

    credit    TEXT                             whose work it derives from, for manifests
    weights   1 1 2 3 ...                      W, lowest first
    class     WORD WORD ...                    the words of a class; the first line is class 0
    row       POSITION  SCORES  ELEMENTS       what these elements at this position score each class

Positions are -2, -1, 1 and 2. Elements are words, ``<other>``, ``<drawn>``, ``<edge>``, ``<kind:NAME>``,
``<mark:CHARACTER>`` and ``<mark>`` for all other marks (docs/format.md).
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from textveil.mechanisms import CONTEXT_MARKS, CONTEXT_POSITIONS, Elements
from textveil.mechanisms.staircase import ContextTable

from textveil_export.errors import ExportError, SourceError
from textveil_export.text.sources import read_lines

_MARK = "mark"  # drawn marks are the last kind


@dataclass(frozen=True, kw_only=True)
class ContextModel:
    """A model of contexts as its file has it.

    Attributes:
        credit: Whose work it derives from.
        weights: ``W``, lowest first.
        classes: The words of each class.
        rows: Position, scores and elements of each row.
    """

    credit: str
    weights: list[int]
    classes: list[list[str]]
    rows: list[tuple[int, list[int], list[str]]]


def read_context_model(path: Path) -> ContextModel:
    """Reads a model.

    Raises:
        SourceError: The file cannot be read, or a line has another form.
    """
    credit = ""
    weights: list[int] = []
    classes: list[list[str]] = []
    rows: list[tuple[int, list[int], list[str]]] = []
    for number, line in enumerate(read_lines(path), 1):
        name, *fields = line.split("\t")
        try:
            if name == "credit" and len(fields) == 1 and not credit:
                credit = fields[0]
            elif name == "weights" and len(fields) == 1 and not weights:
                weights = _numbers(fields[0], 1, 2**32)
            elif name == "class" and len(fields) == 1:
                classes.append(fields[0].split(" ") if fields[0] else [])
            elif name == "row" and len(fields) == 3 and int(fields[0]) in CONTEXT_POSITIONS:
                rows.append((int(fields[0]), _numbers(fields[1], -128, 128), fields[2].split(" ")))
            else:
                raise ValueError
        except ValueError as error:
            raise SourceError(f"{path.name}: entry {number} is not a line of a model of contexts") from error
    if not weights or not classes or any(len(scores) != len(classes) for _, scores, _ in rows):
        raise SourceError(f"{path.name}: weights or classes are missing, or a row has another number of scores")
    return ContextModel(credit=credit, weights=weights, classes=classes, rows=rows)


def context_arrays(
    model: ContextModel, words: Sequence[str], kinds: Sequence[str], vocabulary: bytes
) -> dict[str, NDArray[Any]]:
    """Builds the arrays of ``context.safetensors``.

    Row 0 has no scores: it is that of every element that the model does not know at a position.

    Args:
        model: The model.
        words: The symbols, as they are printed.
        kinds: Names of the kinds, in the order of the skeleton.
        vocabulary: The bytes of ``vocabulary.tsv``.

    Raises:
        ExportError: A word is in no class, or an element or a word is there twice.
        BundleDamaged: There are too many classes or rows.
    """
    class_of = {word: number for number, found in enumerate(model.classes) for word in found}
    if len(class_of) != sum(map(len, model.classes)):
        raise ExportError("a word is in two classes of the model of contexts")
    missing = sum(word not in class_of for word in words)
    if missing:
        raise ExportError(f"{missing} of {len(words)} words are in no class of the model of contexts")
    if len(model.classes) > 256 or len(model.rows) >= 1 << 16:
        raise ExportError("a model of contexts has at most 256 classes and 65,535 rows")
    elements = Elements(len(words), len(kinds) + 1)
    numbers = _element_numbers(elements, words, kinds)
    rows = np.zeros((len(CONTEXT_POSITIONS), elements.count), dtype=np.uint16)
    scores = [[0] * len(model.classes)]
    for position, of_classes, named in model.rows:
        column = CONTEXT_POSITIONS.index(position)
        known = [numbers[element] for element in named if element in numbers]
        if rows[column, known].any() or len(set(known)) < len(known):
            raise ExportError("an element has two rows at one position of the model of contexts")
        if known:
            rows[column, known] = len(scores)
            scores.append(of_classes)
    arrays = {
        "classes": np.array([class_of[word] for word in words], dtype=np.uint8),
        "rows": rows,
        "scores": np.array(scores, dtype=np.int8),
        "weights": np.array(model.weights, dtype=np.uint32),
        "vocabulary": np.frombuffer(hashlib.sha256(vocabulary).digest(), dtype=np.uint8),
    }
    ContextTable.from_tensors(arrays, len(words), len(kinds))
    return arrays


def _element_numbers(elements: Elements, words: Sequence[str], kinds: Sequence[str]) -> Mapping[str, int]:
    numbers = {word: index for index, word in enumerate(words)}
    numbers |= {"<other>": elements.other, "<drawn>": elements.drawn, "<edge>": elements.edge}
    numbers |= {f"<kind:{name}>": elements.first_kind + index for index, name in enumerate([*kinds, _MARK])}
    numbers |= {f"<mark:{mark}>": elements.first_mark + index for index, mark in enumerate(CONTEXT_MARKS)}
    return numbers | {"<mark>": elements.first_mark + len(CONTEXT_MARKS)}


def _numbers(field: str, least: int, end: int) -> list[int]:
    numbers = [int(number) for number in field.split(" ")]
    if not all(least <= number < end for number in numbers):
        raise ValueError
    return numbers
