"""Bounds what a model can cost on the longest and on every other text, before anything runs it.

Every tensor's size is computed from shapes, for each number of tokens up to the most (``onnx_rules``). A tensor is
live from the operator that gives it to the last one that takes it. What is computed from the file alone may be kept
for good, and may be computed when a session is made.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from textveil.bundle.onnx.rules import RULES
from textveil.bundle.onnx.sizes import LONGEST, MAX_AXES, Computed, Node, Of, Sizes, Unbounded

#: Most operators of a model, and entries of one tensor.
MAX_OPERATORS, MAX_ELEMENTS = 10_000, 1 << 25
#: Most multiplications for one text; an entry of an operator that multiplies no matrices counts as 16.
MAX_MULTIPLICATIONS = 1 << 35
#: Most bytes of live tensors, at eight for an entry: this much, and four times the model.
LIVE_BYTES, LIVE_OF_MODEL = 100_000_000, 4
#: Most numbers that this computation itself holds.
MAX_HELD = 1 << 22
_BYTES = 8
_INT64 = 7  # TensorProto.DataType


@dataclass(frozen=True)
class Cost:
    """What one text can cost at most.

    Attributes:
        multiplications: Of all operators.
        live_bytes: Of tensors that exist at the same time, beside those in the file.
    """

    multiplications: int
    live_bytes: int


def cost(
    nodes: Sequence[Node], stored: Mapping[str, Sizes], inputs: Sequence[str], tokens: int, model_bytes: int
) -> Cost:
    """Computes what a model costs at most.

    Args:
        nodes: Its operators, each after those whose outputs it takes.
        stored: The tensors in the file, by name.
        inputs: Names of its inputs, shape ``(1, tokens)``.
        tokens: Most tokens of an input.
        model_bytes: Size of the file.

    Raises:
        Unbounded: A limit is exceeded, or a size is not known from shapes.
    """
    counts = np.arange(1, tokens + 1)
    given = {name: Sizes((np.ones_like(counts), counts), kind=_INT64) for name in inputs}
    # Results that nothing takes any more are ``None``: their names stay known, since no name may be given twice.
    known: dict[str, Sizes | None] = {**{name: sizes.spread(counts) for name, sizes in stored.items()}, **given}
    last_use = {name: number for number, node in enumerate(nodes) for name in node.inputs}
    work, live, most = np.zeros(tokens), np.zeros(tokens), np.zeros(tokens)
    held = 0
    for number, node in enumerate(nodes):
        taken = [_found(known, name) if name else None for name in node.inputs]
        computed = _computed(Of(node, taken, counts))
        fixed = node.kind == "Constant" or (bool(taken) and all(one is None or one.constant for one in taken))
        done = {name: one for name, one in zip(node.inputs, taken, strict=True) if one and last_use[name] == number}
        for name, found in zip(node.outputs, computed.outputs, strict=False):
            if name in known:
                raise Unbounded("two operators give one result")
            known[name] = sizes = _checked(found, fixed)
            live, held = live + sizes.elements, held + sizes.held
            if name not in last_use:
                done[name] = sizes
        if held > MAX_HELD:
            raise Unbounded("too many results wait to be used")
        work, most = work + computed.multiplications, np.maximum(most, live + computed.scratch)
        for name, sizes in done.items():
            if name not in given and name not in stored:
                known[name] = None
                held -= sizes.held
                live = live - (0.0 if sizes.constant else sizes.elements)
    total = Cost(_largest(work), _largest(most * _BYTES))
    if total.multiplications > MAX_MULTIPLICATIONS:
        raise Unbounded("one text would take more work than any model here may take")
    if total.live_bytes > LIVE_BYTES + LIVE_OF_MODEL * model_bytes:
        raise Unbounded("one text would take more memory than any model here may take")
    return total


def _found(known: Mapping[str, Sizes | None], name: str) -> Sizes:
    sizes = known.get(name)
    if sizes is None:
        raise Unbounded("an operator takes what nothing before it gives")
    return sizes


def _computed(of: Of) -> Computed:
    if not of.node.outputs:
        raise Unbounded("an operator gives nothing")
    try:
        return RULES[of.node.kind](of)
    except Unbounded:
        raise
    except (ValueError, TypeError, IndexError, ArithmeticError, AttributeError) as error:
        raise Unbounded("an operator has an attribute or an input of another kind") from error


def _checked(sizes: Sizes, fixed: bool) -> Sizes:
    """A result within the limits; an axis that is the same for each number of tokens is held once."""
    axes = [np.asarray(axis) for axis in sizes.dims]
    if len(axes) > MAX_AXES or any((axis < 0).any() or (axis > LONGEST).any() for axis in axes):
        raise Unbounded("a result is larger than any tensor here may be")
    if (sizes.elements > MAX_ELEMENTS).any():
        raise Unbounded("a result is larger than any tensor here may be")
    dims = tuple(np.broadcast_to(axis[:1], axis.shape) if axis.min() == axis.max() else axis for axis in axes)
    return replace(sizes, dims=dims, constant=fixed)


def _largest(counts: NDArray[np.float64]) -> int:
    return int(min(float(counts.max()), 2.0**62))
