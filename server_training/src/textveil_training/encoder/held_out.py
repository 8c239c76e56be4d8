"""What a model decides on texts that nothing was trained on, as counts by label."""

import numpy as np
from numpy.typing import NDArray
from textveil.bundle import HeldOut

from textveil_training.encoder.task import Part


def confusion(part: Part, codes: NDArray[np.int64], classes: int, count: int | None = None) -> NDArray[np.float64]:
    """Counts the texts of a part by true class (row) and decision without noise (column).

    Args:
        part: The part.
        codes: The decision on each of its texts.
        classes: Number of classes.
        count: Number of codes, if they are not the classes.
    """
    width = count or classes
    pairs = np.bincount(part.classes * width + codes, minlength=classes * width)
    return pairs.reshape(classes, width).astype(float)


def held_out(labels: tuple[str, ...], *parts: NDArray[np.float64]) -> HeldOut:
    """Adds up the decisions on the parts that nothing was trained on.

    Args:
        labels: Names of the classes.
        parts: Counts by true class (row) and decision (column).
    """
    return HeldOut(labels, np.sum(parts, axis=0).astype(np.int64))
