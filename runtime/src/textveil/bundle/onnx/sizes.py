"""The size of what every operator of a model gives, for every number of tokens at once, from shapes alone.

Shapes follow ONNX's operator specification (https://onnx.ai/onnx/operators/) and onnxruntime's own operators
(ContribOperators.md of that project). The only open axis of a model is its tokens, so each axis is an array with one
entry for each number of tokens. Whole numbers that come from shapes and from the file are followed too, since models
compute shapes with them. A size that depends on anything else would depend on the text: it is refused.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Axis = NDArray[np.int64]  # one entry for each number of tokens
#: Whole numbers are followed in tensors of at most so many entries: shapes, and what is computed from them.
MOST_FOLLOWED = 64
#: Longest axis.
LONGEST = 1 << 31
#: Most axes of a tensor.
MAX_AXES = 16


class Unbounded(ValueError):
    """The size of a result is not known from shapes. The message says why and repeats nothing of the model."""


@dataclass(frozen=True)
class Sizes:
    """A tensor without its contents.

    Attributes:
        dims: Its axes.
        values: Its entries where they are followed, shape ``(*dims, numbers of tokens)``; else ``None``.
        kind: Element type (TensorProto.DataType), 0 where it is not followed.
        constant: Whether it is in the file, or computed from what is: it may be kept for good.
    """

    dims: tuple[Axis, ...]
    values: NDArray[np.int64] | None = None
    kind: int = 0
    constant: bool = False

    @property
    def elements(self) -> NDArray[np.float64]:
        """How many entries it has, for each number of tokens."""
        one = np.ones(1)
        return reduce(lambda product, axis: product * axis.astype(np.float64), self.dims, one)

    @property
    def held(self) -> int:
        """How many numbers hold it in memory; an axis that is the same for each number of tokens is one."""
        arrays = [*self.dims, *([] if self.values is None else [self.values])]
        return sum(array.size if array.strides[-1] else 1 for array in arrays)

    def spread(self, tokens: Axis) -> "Sizes":
        """Returns a tensor of the file, which is the same for each number of tokens."""
        dims = tuple(np.broadcast_to(axis, tokens.shape) for axis in self.dims)
        values = self.values
        if values is not None:
            values = np.broadcast_to(values, (*values.shape[:-1], len(tokens)))
        return replace(self, dims=dims, values=values)


@dataclass(frozen=True)
class Node:
    """One operator: its name with its domain, names of inputs (empty for none) and outputs, and attributes."""

    kind: str
    inputs: Sequence[str]
    outputs: Sequence[str]
    attributes: dict[str, Any] = field(default_factory=dict)


class Computed(NamedTuple):
    """What an operator gives: its outputs, the multiplications it takes, and entries of scratch memory."""

    outputs: list[Sizes]
    multiplications: Any
    scratch: Any = 0.0


class Of:
    """An operator and its inputs, as a rule sees them."""

    def __init__(self, node: Node, inputs: Sequence[Sizes | None], tokens: Axis) -> None:
        self.node, self.inputs, self.tokens = node, inputs, tokens

    def __getitem__(self, number: int) -> Sizes:
        found = self.optional(number)
        if found is None:
            raise Unbounded("an operator lacks an input")
        return found

    def optional(self, number: int) -> Sizes | None:
        """Returns an input, ``None`` where it is left out."""
        return self.inputs[number] if number < len(self.inputs) else None

    def attribute(self, name: str, default: Any) -> Any:
        """Returns an attribute."""
        return self.node.attributes.get(name, default)

    def numbers(self, name: str, number: int) -> NDArray[np.int64] | None:
        """Returns a list that is an attribute or an input, shape ``(entries, numbers of tokens)``; ``None`` if absent.

        Raises:
            Unbounded: It is an input whose entries depend on the text.
        """
        if name in self.node.attributes:
            if np.size(self.attribute(name, [])) > MOST_FOLLOWED:
                raise Unbounded("an operator has too long a list")
            return np.multiply.outer(np.array(self.attribute(name, []), np.int64), np.ones_like(self.tokens))
        given = self.optional(number)
        return None if given is None else followed(given).reshape(-1, len(self.tokens))

    def fixed(self, name: str, number: int) -> list[int] | None:
        """Returns such a list where it is the same for every number of tokens.

        Raises:
            Unbounded: It is not.
        """
        found = self.numbers(name, number)
        return None if found is None else [constant(entry) for entry in found]

    def axis(self, name: str, default: int, rank: int) -> int:
        """Returns an axis, counted from the start."""
        return place(self.attribute(name, default), rank)


def followed(sizes: Sizes) -> NDArray[np.int64]:
    """Returns entries that are followed; ``Unbounded`` where they are not."""
    if sizes.values is None:
        raise Unbounded("the size of a result depends on the text")
    return sizes.values


def constant(axis: Axis) -> int:
    """Returns a number that is the same for every number of tokens; ``Unbounded`` where it is not."""
    if (axis != axis[0]).any():
        raise Unbounded("the shape of a result depends on the number of tokens in more than its size")
    return int(axis[0])


def place(axis: int, rank: int) -> int:
    """Returns an axis counted from the start; ``Unbounded`` where there is none."""
    if not -rank <= axis < max(1, rank):
        raise Unbounded("an operator names an axis that is not there")
    return axis % rank if rank else 0


def kept(values: NDArray[np.int64]) -> NDArray[np.int64] | None:
    """Returns values if they are few enough to be followed."""
    return values if values.size <= MOST_FOLLOWED * values.shape[-1] else None


def as_axes(values: NDArray[np.int64] | None) -> tuple[Axis, ...]:
    """Returns values as axes; ``Unbounded`` where one is longer than any, or nothing is given."""
    if values is None:
        raise Unbounded("an operator lacks an input")
    if (values > LONGEST).any():
        raise Unbounded("the size of a result is beyond all bounds")
    return tuple(values)


def reshaped(sizes: Sizes, dims: Sequence[Axis]) -> NDArray[np.int64] | None:
    """Returns the values of a tensor under other axes, where they are followed there too."""
    if sizes.values is None or any((axis != axis[0]).any() for axis in dims):
        return None
    fixed = [int(axis[0]) for axis in dims]
    count = sizes.values.shape[-1]
    fits = np.prod(fixed, dtype=object) * count == sizes.values.size
    return sizes.values.reshape(*fixed, count) if fits else None


def cheap(sizes: Sizes, of: Of) -> Computed:
    """Gives every output of an operator one size; what each entry takes counts as 16 multiplications."""
    return Computed([sizes] * max(1, len(of.node.outputs)), 16.0 * sizes.elements)


def broadcast(*shapes: Sequence[Axis]) -> tuple[Axis, ...]:
    """Returns the shape that several become together; the larger axis where they do not fit, which fails anyway."""
    rank = max(map(len, shapes))
    return tuple(
        reduce(np.maximum, [shape[len(shape) - back] for shape in shapes if len(shape) >= back])
        for back in range(rank, 0, -1)
    )
