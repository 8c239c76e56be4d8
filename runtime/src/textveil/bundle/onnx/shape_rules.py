"""What operators that move entries give: shapes taken apart, put together, cut and spread (``onnx_sizes``)."""

from functools import reduce

import numpy as np

from textveil.bundle.onnx.sizes import (
    LONGEST,
    MOST_FOLLOWED,
    Axis,
    Computed,
    Of,
    Sizes,
    Unbounded,
    as_axes,
    broadcast,
    cheap,
    constant,
    followed,
    kept,
    place,
    reshaped,
)

UINT8 = 2  # TensorProto.DataType


def stored(of: Of) -> Computed:
    """Measures a tensor in an attribute."""
    found = next((one for one in of.node.attributes.values() if isinstance(one, Sizes)), None)
    if found is not None:
        return Computed([found.spread(of.tokens)], 0.0)
    ones = np.ones_like(of.tokens)
    for name in ("value_int", "value_float", "value_ints", "value_floats"):
        if name in of.node.attributes:
            given = of.attribute(name, 0)
            listed = isinstance(given, list)
            if listed and len(given) > MOST_FOLLOWED:
                return Computed([Sizes((len(given) * ones,), constant=True)], 0.0)
            dims = (len(given) * ones,) if listed else ()
            values = np.multiply.outer(np.array(given, np.int64), ones) if "int" in name else None
            return Computed([Sizes(dims, None if values is None else kept(values), constant=True)], 0.0)
    raise Unbounded("a constant has no tensor")


def shape(of: Of) -> Computed:
    """Measures the axes of a tensor, as numbers."""
    rank = len(of[0].dims)
    axes = of[0].dims[slice(of.attribute("start", 0), of.attribute("end", rank))]
    values = np.array(axes, np.int64).reshape(len(axes), len(of.tokens))
    return Computed([Sizes((np.full_like(of.tokens, len(axes)),), values)], 1.0)


def reshape(of: Of) -> Computed:
    """Measures a shape from a list in which 0 copies an axis and -1 takes what is left."""
    wanted, copies = as_axes(of.numbers("shape", 1)), not of.attribute("allowzero", 0)
    axes = []
    for number, axis in enumerate(wanted):
        old = of[0].dims[number] if number < len(of[0].dims) else np.ones_like(axis)
        axes.append(np.where(axis == 0, old, axis) if copies else axis)
    if not axes:
        return Computed([Sizes((), reshaped(of[0], ()))], 1.0)
    target = np.array(axes)
    if (target < -1).any() or ((target == -1).sum(axis=0) > 1).any():
        raise Unbounded("an operator asks for an axis of a negative size")
    given = np.where(target == -1, 1, target).astype(np.float64).prod(axis=0)
    rest = of[0].elements / np.maximum(1, given)
    if (given > LONGEST).any() or (rest > LONGEST).any():
        raise Unbounded("the size of a result is beyond all bounds")
    dims = tuple(np.where(axis == -1, rest.astype(np.int64), axis) for axis in target)
    return Computed([Sizes(dims, reshaped(of[0], dims))], of[0].elements)


def flatten(of: Of) -> Computed:
    """Measures two axes."""
    at = of.attribute("axis", 1)
    at = at if 0 <= at <= len(of[0].dims) else place(at, len(of[0].dims))
    halves = [Sizes(of[0].dims[:at]).elements, Sizes(of[0].dims[at:]).elements]
    return cheap(Sizes(tuple(np.zeros_like(of.tokens) + half.astype(np.int64) for half in halves)), of)


def transpose(of: Of) -> Computed:
    """Measures axes in another order."""
    order = of.attribute("perm", list(range(len(of[0].dims)))[::-1])
    if sorted(order) != list(range(len(of[0].dims))):
        raise Unbounded("an operator names an axis that is not there")
    return cheap(Sizes(tuple(of[0].dims[axis] for axis in order)), of)


def squeeze(of: Of) -> Computed:
    """Measures axes of size 1 left out."""
    dims, axes = of[0].dims, of.fixed("axes", 1)
    if axes is None:
        axes = [number for number, axis in enumerate(dims) if constant((axis == 1).astype(np.int64))]
    out = {place(axis, len(dims)) for axis in axes}
    if any((dims[axis] != 1).any() for axis in out):
        raise Unbounded("an operator leaves out an axis that has entries")
    rest = tuple(axis for number, axis in enumerate(dims) if number not in out)
    return Computed([Sizes(rest, reshaped(of[0], rest))], 1.0)


def unsqueeze(of: Of) -> Computed:
    """Measures axes of size 1 added."""
    axes = of.fixed("axes", 1) or []
    rank = len(of[0].dims) + len(axes)
    new = {place(axis, rank) for axis in axes}
    old = iter(of[0].dims)
    if len(new) != len(axes):
        raise Unbounded("an operator adds one axis twice")
    dims = tuple(np.ones_like(of.tokens) if number in new else next(old) for number in range(rank))
    return Computed([Sizes(dims, reshaped(of[0], dims))], 1.0)


def concat(of: Of) -> Computed:
    """Measures tensors one after the other along an axis."""
    given = [of[number] for number in range(len(of.inputs))]
    at = of.axis("axis", 0, len(given[0].dims))
    if not given[0].dims or len({len(one.dims) for one in given}) > 1:
        raise Unbounded("an operator joins tensors of different ranks")
    dims = [reduce(np.maximum, axes) for axes in zip(*(one.dims for one in given), strict=True)]
    dims[at] = reduce(np.add, [one.dims[at] for one in given])
    values = None
    if len(dims) == 1 and all(one.values is not None for one in given):
        values = kept(np.concatenate([followed(one) for one in given]))
    return cheap(Sizes(tuple(dims), values), of)


def split(of: Of) -> Computed:
    """Measures parts of a tensor along an axis."""
    dims, at, parts = of[0].dims, of.axis("axis", 0, len(of[0].dims)), len(of.node.outputs)
    sizes = of.numbers("split", 1)
    each = as_axes(sizes) if sizes is not None else _even(dims[at], parts)
    if len(each) != parts or any((axis < 0).any() for axis in each):
        raise Unbounded("an operator gives another number of parts than it names")
    return Computed([Sizes((*dims[:at], axis, *dims[at + 1 :])) for axis in each], of[0].elements)


def _even(axis: Axis, parts: int) -> list[Axis]:
    each = -(-axis // parts)
    return [np.clip(axis - number * each, 0, each) for number in range(parts)]


def slices(of: Of) -> Computed:
    """Measures from, to and step along some axes."""
    starts, ends = of.numbers("starts", 1), of.numbers("ends", 2)
    if starts is None or ends is None or len(starts) != len(ends):
        raise Unbounded("an operator lacks an input")
    axes, steps = of.fixed("axes", 3), of.fixed("steps", 4)
    axes, steps = axes if axes is not None else list(range(len(starts))), steps or [1] * len(starts)
    if len(axes) != len(starts) or len(steps) != len(starts) or 0 in steps:
        raise Unbounded("an operator lacks an input")
    dims = list(of[0].dims)
    for axis, start, end, step in zip(axes, starts, ends, steps, strict=True):
        at = place(axis, len(dims))
        size = dims[at]
        first, last = (np.where(edge < 0, edge + size, edge) for edge in (start, end))
        high = size if step > 0 else size - 1
        first, last = np.clip(first, 0, high), np.clip(last, 0 if step > 0 else -1, high)
        dims[at] = np.maximum(0, -((first - last) // step) if step > 0 else -((last - first) // -step))
    values = None
    if of[0].values is not None and len(dims) == 1 and len(starts) == 1:
        first, last = (int(edge[0][0]) if (edge == edge[:, :1]).all() else None for edge in (starts, ends))
        if first is not None and last is not None and steps[0] > 0:
            values = of[0].values[first : last : steps[0]]
    return cheap(Sizes(tuple(dims), values), of)


def gather(of: Of) -> Computed:
    """Measures rows by number."""
    data, rows = of[0], of[1]
    at = of.axis("axis", 0, len(data.dims))
    dims = (*data.dims[:at], *rows.dims, *data.dims[at + 1 :])
    values = None
    if data.values is not None and rows.values is not None and len(data.dims) == 1:
        numbers, size = rows.values, constant(data.dims[0])
        if (numbers == numbers[..., :1]).all() and ((-size <= numbers) & (numbers < size)).all():
            values = kept(data.values[numbers[..., 0]])
    return cheap(Sizes(dims, values), of)


def gather_blocks(of: Of) -> Computed:
    """Measures rows by number, of a table that stores several numbers in a byte."""
    data, rows = of[0], of[1]
    at = of.axis("gather_axis", 0, len(data.dims))
    factor = 8 // max(1, of.attribute("bits", 4)) if data.kind == UINT8 else 1
    *before, last = data.dims
    unpacked = (*before, last * max(1, factor))
    return cheap(Sizes((*unpacked[:at], *rows.dims, *unpacked[at + 1 :])), of)


def gather_nd(of: Of) -> Computed:
    """Measures entries by their places."""
    data, places = of[0].dims, of[1].dims
    if not places:
        raise Unbounded("an operator lacks an input")
    return cheap(Sizes((*places[:-1], *data[of.attribute("batch_dims", 0) + constant(places[-1]) :])), of)


def expand(of: Of) -> Computed:
    """Measures a tensor spread over a larger shape."""
    return cheap(Sizes(broadcast(of[0].dims, as_axes(of.numbers("shape", 1)))), of)


def tile(of: Of) -> Computed:
    """Measures a tensor repeated along each axis."""
    times = as_axes(of.numbers("repeats", 1))
    if len(times) != len(of[0].dims):
        raise Unbounded("an operator lacks an input")
    return cheap(Sizes(tuple(axis * time for axis, time in zip(of[0].dims, times, strict=True))), of)


def filled(of: Of) -> Computed:
    """Measures a tensor of one number, of a shape that is given."""
    dims = as_axes(of.numbers("shape", 0))
    value = of.attribute("value", None)
    fill = value.spread(of.tokens).values if isinstance(value, Sizes) else np.zeros((1, len(of.tokens)), np.int64)
    values = None
    if fill is not None and len(dims) == 1 and (dims[0] == dims[0][0]).all() and 0 <= dims[0][0] <= MOST_FOLLOWED:
        values = np.repeat(fill.reshape(1, -1), int(dims[0][0]), axis=0)
    return cheap(Sizes(dims, values), of)


def span(of: Of) -> Computed:
    """Measures numbers from, to and by a step."""
    start, limit, step = (followed(of[number]).reshape(-1).astype(np.float64) for number in range(3))
    with np.errstate(all="ignore"):
        count = np.ceil((limit - start) / step)
    if not (count <= LONGEST).all() or count.shape != of.tokens.shape:
        raise Unbounded("the size of a result is beyond all bounds")
    return cheap(Sizes((np.maximum(0, count).astype(np.int64),)), of)
