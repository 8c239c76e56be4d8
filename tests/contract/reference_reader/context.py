"""What the base of a staircase makes of a context: context.safetensors, and the staircase of one context."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from .files import check, parse_safetensors

if TYPE_CHECKING:
    from .staircase import Staircase


@dataclass(frozen=True)
class Context:
    """Classes of symbols, rows of elements at four positions, scores of classes, and weights of scores."""

    classes: tuple[int, ...]
    rows: list[tuple[int, ...]]
    scores: list[tuple[int, ...]]
    weights: tuple[int, ...]


def read_context(data: bytes, vocabulary: bytes, symbols: int, kinds: int) -> Context:
    """What the base makes of a context; refused unless every element has a row, and every symbol a class."""
    arrays = parse_safetensors(data)
    classes, rows, scores, weights = (arrays[name] for name in ("classes", "rows", "scores", "weights"))
    stated = arrays["vocabulary"]
    check((stated.dtype, bytes(stated.values)) == ("U8", hashlib.sha256(vocabulary).digest()), "contexts: vocabulary")
    check((classes.dtype, classes.shape) == ("U8", [symbols]), "contexts: classes")
    check((rows.dtype, rows.shape) == ("U16", [4, symbols + kinds + 16]), "contexts: rows")
    check(scores.dtype == "I8" and len(scores.shape) == 2 and 1 <= scores.shape[1] <= 256, "contexts: scores")
    check(max(classes.values) < scores.shape[1] and max(rows.values) < scores.shape[0], "contexts: a class or a row")
    check(weights.dtype == "U32" and len(weights.shape) == 1 and 1 <= weights.shape[0] <= 1024, "contexts: weights")
    check(min(weights.values) >= 1, "contexts: a weight of 0")
    return Context(classes.values, rows.rows(), scores.rows(), weights.values)


def in_context(staircase: "Staircase", elements: Sequence[int]) -> "Staircase":
    """The staircase of one context: another base, and all else as it is."""
    context = staircase.context
    scores = [context.scores[row[element]] for row, element in zip(context.rows, elements, strict=True)]
    sums, last = [sum(parts) for parts in zip(*scores, strict=True)], len(context.weights) - 1
    factors = [context.weights[last - min(last, max(sums) - total)] for total in sums]
    base = tuple(b * factors[k] for b, k in zip(staircase.base, context.classes, strict=True))
    return replace(staircase, base=base)
