"""Counts of held-out texts (texts that did not train the model) by true label and label of the model.

A server needs these counts to estimate how many texts have a label, because the model assigns some labels wrongly. The
counts reveal nothing about the texts of users.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textveil.bundle.layout import HELD_OUT
from textveil.bundle.parsers import parse_array, parse_distinct_texts, parse_integer, parse_json, parse_record
from textveil.errors import BundleDamaged
from textveil.mechanisms.staircase.label_staircase import MAX_LABELS

#: Upper limit of held-out texts. The squares of such counts are exact in floating point.
_MAX_TEXTS = 1 << 26


@dataclass(frozen=True, eq=False, repr=False)
class HeldOutCounts:
    """Counts of the labels that the model assigned to held-out texts (texts that did not train the model).

    Attributes:
        labels: Names of the true labels. In a bundle (data folder) with class labels, the true labels are the class
            labels.
        decisions: Number of texts with each true label (row) that got each assigned label (column), int64, shape
            ``(true labels, assigned labels)``. Assigned labels are the class labels or cluster labels of the bundle.

    Example:
        >>> HeldOutCounts(("no", "yes"), np.array([[18, 2], [1, 29]])).text_count
        50
    """

    labels: tuple[str, ...]
    decisions: NDArray[np.int64]

    @property
    def text_count(self) -> int:
        """Return the total number of held-out texts that were counted."""
        return int(self.decisions.sum())

    def to_dict(self) -> dict[str, Any]:
        """Return ``labels``, ``texts`` and ``decisions`` as a JSON object, in the format of ``held-out.json``."""
        return {"labels": list(self.labels), "texts": self.text_count, "decisions": self.decisions.tolist()}


def parse_held_out(content: bytes, label_count: int, class_labels: Sequence[str] | None) -> HeldOutCounts:
    """Parse ``held-out.json``, the counts of the labels that the model assigned to texts with each true label.

    Args:
        content: The whole file.
        label_count: Number of class labels or cluster labels of the bundle.
        class_labels: The class labels, which the true labels must equal; ``None`` in a bundle (data folder) with
            cluster labels.

    Raises:
        BundleDamaged: A key is unknown or missing, a label occurs twice, the labels differ from ``class_labels``, the
            table has another shape, a number is not a count, or the sum of the counts differs from the entry ``texts``.
    """
    fields = parse_record(parse_json(content, HELD_OUT), {"labels", "texts", "decisions"}, HELD_OUT)
    labels = parse_distinct_texts(fields["labels"], HELD_OUT)
    if not 2 <= len(labels) <= MAX_LABELS or (class_labels is not None and labels != tuple(class_labels)):
        raise BundleDamaged(
            f"{HELD_OUT}: its labels differ from the labels of the bundle, or their number is not supported"
        )
    rows = [parse_array(row, HELD_OUT) for row in parse_array(fields["decisions"], HELD_OUT)]
    if len(rows) != len(labels) or not all(len(row) == label_count for row in rows):
        raise BundleDamaged(f"{HELD_OUT}: must have one row for each label and one column for each cluster")
    counts = [[parse_integer(count, 0, _MAX_TEXTS, HELD_OUT) for count in row] for row in rows]
    if parse_integer(fields["texts"], 1, _MAX_TEXTS, HELD_OUT) != sum(map(sum, counts)):
        raise BundleDamaged(f"{HELD_OUT}: the counts must add up to the number of texts")
    return HeldOutCounts(labels, np.array(counts, dtype=np.int64))
