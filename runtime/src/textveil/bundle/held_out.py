"""What the model decided on texts it never saw: how many texts of each label got each code.

A server needs these counts to say how many texts have a label, and not only how many the model put there. They tell
nothing of a released text.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textveil.bundle.files import parse_json
from textveil.errors import BundleDamaged
from textveil.mechanisms.staircase.index import MAX_CODES

HELD_OUT = "held-out.json"
#: More texts than anybody holds out. Their squares are exact in floating point.
_MAX_TEXTS = 1 << 26


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Counts of held-out texts.

    Attributes:
        labels: Names of the labels. Where codes are classes, these are the classes.
        decisions: How many texts of each label (row) had each code (column), int64, shape ``(labels, codes)``.
    """

    labels: tuple[str, ...]
    decisions: NDArray[np.int64]

    @property
    def texts(self) -> int:
        """How many texts were held out."""
        return int(self.decisions.sum())

    def to_dict(self) -> dict[str, Any]:
        """Returns what ``held-out.json`` holds."""
        return {"labels": list(self.labels), "texts": self.texts, "decisions": self.decisions.tolist()}


def parse_held_out(content: bytes, codes: int, classes: Sequence[str] | None) -> HeldOut:
    """Reads ``held-out.json``.

    Args:
        content: The whole file.
        codes: How many codes the bundle has.
        classes: What the labels must be, where codes are classes; else None.

    Raises:
        BundleDamaged: It is something else: an unknown key, labels that are not different texts or not the classes, a
            table of another shape, a number that is no count, or a sum that is not ``texts``.
    """
    found = parse_json(content, HELD_OUT)
    if set(found) != {"labels", "texts", "decisions"}:
        raise BundleDamaged(f"{HELD_OUT}: unknown or missing keys")
    labels, texts, decisions = found["labels"], found["texts"], found["decisions"]
    if type(labels) is not list or not all(type(label) is str for label in labels) or len(set(labels)) != len(labels):
        raise BundleDamaged(f"{HELD_OUT}: the labels are not different texts")
    if not 2 <= len(labels) <= MAX_CODES or (classes is not None and tuple(labels) != tuple(classes)):
        raise BundleDamaged(f"{HELD_OUT}: the labels are not those of the bundle, or too few or too many")
    rows = decisions if type(decisions) is list else []
    if len(rows) != len(labels) or not all(type(row) is list and len(row) == codes for row in rows):
        raise BundleDamaged(f"{HELD_OUT}: does not have a row for each label and a column for each code")
    if not all(type(count) is int and 0 <= count <= _MAX_TEXTS for row in rows for count in row):
        raise BundleDamaged(f"{HELD_OUT}: a number is not a count of texts")
    if type(texts) is not int or not 1 <= texts <= _MAX_TEXTS or sum(map(sum, rows)) != texts:
        raise BundleDamaged(f"{HELD_OUT}: the counts do not add up to the texts")
    return HeldOut(tuple(labels), np.array(rows, dtype=np.int64))
