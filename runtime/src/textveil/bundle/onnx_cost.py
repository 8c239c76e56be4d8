"""Bounds what a model can cost on the longest and on every other text, before anything runs it.

Every tensor's size is computed from shapes, for each number of tokens up to the most (``onnx_rules``). A tensor is
live from the operator that gives it to the last one that takes it. What is computed from the file alone may be kept
for good, and may be computed when a session is made.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from textveil.bundle.onnx_rules import RULES
from textveil.bundle.onnx_sizes import LONGEST, Node, Of, Sizes, Unbounded

#: Most operators of a model, and entries of one tensor.
MAX_OPERATORS, MAX_ELEMENTS = 10_000, 1 << 25
#: Most multiplications for one text; an entry of an operator that multiplies no matrices counts as 16.
MAX_MULTIPLICATIONS = 1 << 35
#: Most bytes of live tensors, at eight for an entry: this much, and four times the model.
LIVE_BYTES, LIVE_OF_MODEL = 100_000_000, 4
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
    known = {name: sizes.spread(counts) for name, sizes in stored.items()}
    known |= {name: Sizes((np.ones_like(counts), counts), kind=_INT64) for name in inputs}
    last_use = {name: number for number, node in enumerate(nodes) for name in node.inputs}
    work, live, most = np.zeros(tokens), np.zeros(tokens), np.zeros(tokens)
    for number, node in enumerate(nodes):
        taken = [_found(known, name) if name else None for name in node.inputs]
        computed = RULES[node.kind](Of(node, taken, counts))
        fixed = node.kind == "Constant" or (bool(taken) and all(one is None or one.constant for one in taken))
        work = work + computed.multiplications
        freed = {name for name in node.inputs if last_use[name] == number and name and not known[name].constant}
        for name, sizes in zip(node.outputs, computed.outputs, strict=False):
            _check(sizes)
            if name in known:
                raise Unbounded("two operators give one result")
            known[name] = Sizes(sizes.dims, sizes.values, sizes.kind, constant=fixed)
            live = live + sizes.elements
            if name not in last_use and not fixed:
                freed.add(name)
        most = np.maximum(most, live + computed.scratch)
        live = live - sum((known[name].elements for name in freed if name not in inputs), start=np.zeros(tokens))
    total = Cost(_whole(work), _whole(most * _BYTES))
    if total.multiplications > MAX_MULTIPLICATIONS:
        raise Unbounded("one text would take more work than any model here may take")
    if total.live_bytes > LIVE_BYTES + LIVE_OF_MODEL * model_bytes:
        raise Unbounded("one text would take more memory than any model here may take")
    return total


def _found(known: Mapping[str, Sizes], name: str) -> Sizes:
    if name not in known:
        raise Unbounded("an operator takes what nothing before it gives")
    return known[name]


def _check(sizes: Sizes) -> None:
    if (
        any((axis < 0).any() or (axis > LONGEST).any() for axis in sizes.dims)
        or (np.asarray(sizes.elements) > MAX_ELEMENTS).any()
    ):
        raise Unbounded("a result is larger than any tensor here may be")


def _whole(counts: Any) -> int:
    largest = float(np.max(counts, initial=0.0))
    return int(min(largest, 2.0**62))
