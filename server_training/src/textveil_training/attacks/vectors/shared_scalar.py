"""The attack on noise that is one number for a whole text: subtract the smallest coordinate.

The code published with Lyu, He and Li (2020) scales a text's vector to ``[0, 1]^k`` by its smallest and largest
coordinate, draws ONE Laplace number for the text and adds it to every coordinate. The smallest coordinate of the clean
vector is 0, so that the smallest of what is released is the noise itself, and

    z - min(z)

is the clean vector, whatever epsilon was. The paper's algorithm asks for independent noise on every coordinate; so does
``textveil.mechanisms``.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.floating]


@dataclass(frozen=True, slots=True)
class Recovery:
    """How near a reconstruction is to the clean vectors.

    Attributes:
        correlation: Mean over texts of the correlation across the coordinates of a text.
        standard_error: Standard error of the correlation, over texts.
        exact: Share of texts with every coordinate within one hundredth.
    """

    correlation: float
    standard_error: float
    exact: float


def without_scalar(released: Vectors) -> Vectors:
    """Returns ``z - min(z)`` for every row: the attack. Shape ``(texts, k)``."""
    return released - released.min(axis=1, keepdims=True)


def recovery(reconstructed: Vectors, clean: Vectors) -> Recovery:
    """Compares a reconstruction with the vectors before the noise.

    Args:
        reconstructed: Shape ``(texts, k)``, k at least 2.
        clean: The same shape, no row constant.
    """
    left = reconstructed - reconstructed.mean(axis=1, keepdims=True)
    right = clean - clean.mean(axis=1, keepdims=True)
    norms = np.linalg.norm(left, axis=1) * np.linalg.norm(right, axis=1)
    correlations = (left * right).sum(axis=1) / np.maximum(norms, 1e-300)
    return Recovery(
        correlation=float(correlations.mean()),
        standard_error=float(correlations.std(ddof=1) / np.sqrt(len(clean))),
        exact=float((np.abs(reconstructed - clean) <= 0.01).all(axis=1).mean()),
    )
