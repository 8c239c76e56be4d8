"""Counts of the model's decisions on held-out texts: texts per true label and class label.

A server needs these counts to estimate how many texts have a label, because the model assigns some texts wrongly. The
counts reveal nothing about released texts.
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

#: Upper limit of held-out texts. The squares of such counts are exact in floating point.
_MAX_TEXTS = 1 << 26


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Counts of the model's decisions on held-out texts.

    Attributes:
        labels: Names of the true labels. In a bundle with class labels, these are the classes.
        decisions: Number of texts by true label (row) and class label or cluster label (column), int64, shape
            ``(labels, codes)``.
    """

    labels: tuple[str, ...]
    decisions: NDArray[np.int64]

    @property
    def texts(self) -> int:
        """Return the number of held-out texts."""
        return int(self.decisions.sum())

    def to_dict(self) -> dict[str, Any]:
        """Return the content of ``held-out.json``."""
        return {"labels": list(self.labels), "texts": self.texts, "decisions": self.decisions.tolist()}


def parse_held_out(content: bytes, codes: int, classes: Sequence[str] | None) -> HeldOut:
    """Parse ``held-out.json``.

    Args:
        content: The whole file.
        codes: Number of class labels or cluster labels of the bundle.
        classes: The expected labels in a bundle with class labels; ``None`` in a bundle with cluster labels.

    Raises:
        BundleDamaged: A key is unknown or missing, labels are repeated or are not the classes, the table has another
            shape, a number is not a count, or the sum of the counts is not ``texts``.
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
