"""What the model decided on texts it never saw: how many texts of each label got each code.

A server needs these counts to say how many texts have a label, and not only how many the model put there. They tell
nothing of a released text.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textveil.bundle.fields import an_array, different_texts, integer, record
from textveil.bundle.files import parse_json
from textveil.bundle.layout import HELD_OUT
from textveil.errors import BundleDamaged
from textveil.mechanisms.staircase.index import MAX_CODES

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
            table of another shape, a number that is not a count, or a sum that is not ``texts``.
    """
    found = record(parse_json(content, HELD_OUT), {"labels", "texts", "decisions"}, HELD_OUT)
    labels = different_texts(found["labels"], HELD_OUT)
    if not 2 <= len(labels) <= MAX_CODES or (classes is not None and labels != tuple(classes)):
        raise BundleDamaged(f"{HELD_OUT}: the labels are not those of the bundle, or too few or too many")
    rows = [an_array(row, HELD_OUT) for row in an_array(found["decisions"], HELD_OUT)]
    if len(rows) != len(labels) or not all(len(row) == codes for row in rows):
        raise BundleDamaged(f"{HELD_OUT}: does not have a row for each label and a column for each code")
    counts = [[integer(count, 0, _MAX_TEXTS, HELD_OUT) for count in row] for row in rows]
    if integer(found["texts"], 1, _MAX_TEXTS, HELD_OUT) != sum(map(sum, counts)):
        raise BundleDamaged(f"{HELD_OUT}: the counts do not add up to the texts")
    return HeldOut(labels, np.array(counts, dtype=np.int64))
