"""The rule of every operator that may occur in a model: what it gives, and what that takes (``onnx_sizes``)."""

from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np

from textveil.bundle.onnx import shape_rules as rules
from textveil.bundle.onnx.sizes import Axis, Computed, Of, Sizes, Unbounded, broadcast, cheap, followed, kept, place

_INTEGERS = frozenset({2, 3, 4, 5, 6, 7, 9, 12, 13})  # TensorProto.DataType, booleans included
#: Where double precision no longer has every integer.
LARGEST = 1 << 53

_ARITHMETIC: dict[str, Callable[..., Any]] = {
    "Add": np.add,
    "Sub": np.subtract,
    "Mul": np.multiply,
    "Min": lambda *given: reduce(np.minimum, given),
    "Max": lambda *given: reduce(np.maximum, given),
    "Equal": lambda first, second: (first == second).astype(np.int64),
    "Where": lambda chosen, first, second: np.where(chosen != 0, first, second),
    "Div": lambda first, second: np.sign(first) * np.sign(second) * (abs(first) // np.maximum(1, abs(second))),
}


def elementwise(of: Of) -> Computed:
    """Measures operators whose inputs are spread over one shape."""
    given = [one for one in of.inputs if one is not None]
    dims = broadcast(*(one.dims for one in given))
    values = None
    compute = _ARITHMETIC.get(of.node.kind)
    if compute is not None and all(one.values is not None for one in given):
        entries = [followed(one) for one in given]
        if of.node.kind != "Div" or (entries[1] != 0).all():
            with np.errstate(all="ignore"):
                exact = compute(*[array.astype(np.float64) for array in entries])  # tells of an overflow
                if (np.abs(exact) < LARGEST).all():
                    values = kept(np.asarray(compute(*entries), np.int64))
    return cheap(Sizes(dims, values), of)


def same(of: Of) -> Computed:
    """Measures operators whose outputs have the shape of their first input, or are smaller."""
    values = of[0].values if of.node.kind == "Identity" else None
    return cheap(Sizes(of[0].dims, values, of[0].kind), of)


def cast(of: Of) -> Computed:
    """Measures a cast, which keeps whole numbers where it is to whole numbers."""
    return cheap(Sizes(of[0].dims, of[0].values if of.attribute("to", 0) in _INTEGERS else None), of)


def reduced(of: Of) -> Computed:
    """Measures sums and the like along some axes."""
    dims, axes = of[0].dims, of.fixed("axes", 1)
    if not axes:
        axes = [] if of.attribute("noop_with_empty_axes", 0) else list(range(len(dims)))
    out = {place(axis, len(dims)) for axis in axes}
    keep = of.attribute("keepdims", 1)
    one = np.ones_like(of.tokens)
    rest = tuple(one if n in out else axis for n, axis in enumerate(dims) if keep or n not in out)
    return Computed([Sizes(rest)], 16.0 * of[0].elements)


def quantized(of: Of) -> Computed:
    """Measures a tensor in bytes, what a step of it is worth, and its zero."""
    return Computed([Sizes(of[0].dims), Sizes(()), Sizes(())][: max(1, len(of.node.outputs))], 16.0 * of[0].elements)


def matrix_product(of: Of) -> Computed:
    """Measures products of matrices, whatever their numbers are made of."""
    first: tuple[Axis, ...] = of[0].dims
    second: tuple[Axis, ...] = of[3 if of.node.kind == "QLinearMatMul" else 1].dims
    if of.attribute("transBatchA", 0) or of.attribute("transBatchB", 0):
        raise Unbounded("an operator multiplies matrices in an unusual order")
    first = (*first[:-2], first[-1], first[-2]) if of.attribute("transA", 0) and len(first) > 1 else first
    second = (*second[:-2], second[-1], second[-2]) if of.attribute("transB", 0) and len(second) > 1 else second
    if not first or not second:
        raise Unbounded("an operator multiplies numbers as matrices")
    batch = broadcast(first[:-2], second[:-2]) if len(first) > 2 or len(second) > 2 else ()
    rows = first[-2:-1]
    columns = second[1:][-1:]
    result = Sizes((*batch, *rows, *columns))
    return Computed([result], result.elements * first[len(first) - 1])


def packed_product(of: Of) -> Computed:
    """Measures a product with a matrix that stores several numbers in a byte."""
    inner, columns = of.attribute("K", 0), of.attribute("N", 0)
    if not of[0].dims or inner < 1 or columns < 1:
        raise Unbounded("an operator lacks a size")
    result = Sizes((*of[0].dims[:-1], np.full_like(of.tokens, columns)))
    return Computed([result], result.elements * inner, float(inner) * columns)


def embedded(of: Of) -> Computed:
    """Measures rows for ids, added and normalized."""
    width = of[2].dims[-1:]
    result = Sizes((*of[0].dims, *width))
    return Computed([result, Sizes(of[0].dims), result][: max(1, len(of.node.outputs))], 32.0 * result.elements)


def attention(of: Of) -> Computed:
    """Measures attention with its projections, or between queries, keys and values that are given."""
    query, packed = of[0].dims, of.node.kind != "com.microsoft.MultiHeadAttention"
    past = 8 if of.node.kind == "com.microsoft.QAttention" else 4 if packed else 6
    if len(query) != 3 or any(one is not None for one in of.inputs[past:]):
        raise Unbounded("an operator attends in an unusual way")
    heads = float(max(1, of.attribute("num_heads", 1)))
    length = query[1].astype(np.float64)
    if packed:
        if len(of[1].dims) != 2 or "qkv_hidden_sizes" in of.node.attributes:
            raise Unbounded("an operator attends in an unusual way")
        result, keys = Sizes((*query[:2], of[1].dims[1] // 3)), length
        work = 3.0 * result.elements * query[2]
        scratch = 3.0 * result.elements
    else:
        if len(of[1].dims) != 3 or len(of[2].dims) != 3:
            raise Unbounded("an operator attends in an unusual way")
        result, keys, work, scratch = Sizes((*query[:2], of[2].dims[2])), of[1].dims[1].astype(np.float64), 0.0, 0.0
    pairs = query[0] * length * keys
    both = 2.0 * pairs * np.maximum(result.dims[2], query[2])
    outputs = [result] * max(1, len(of.node.outputs))
    return Computed(outputs, work + both + 16.0 * heads * pairs, scratch + 2.0 * heads * pairs + 2.0 * result.elements)


def _named(rule: Callable[[Of], Computed], names: str, domain: str = "") -> dict[str, Callable[[Of], Computed]]:
    return {f"{domain}{name}": rule for name in names.split()}


_OURS = "com.microsoft."
#: The rule of every operator that may occur.
RULES: dict[str, Callable[[Of], Computed]] = {
    **_named(elementwise, "Add And Div Equal Greater GreaterOrEqual Less LessOrEqual Max Mean Min Mul Or Pow Sub Sum"),
    **_named(elementwise, "Where"),
    **_named(same, "Abs CastLike Clip CumSum DequantizeLinear Erf Exp Gelu Identity IsInf IsNaN"),
    **_named(same, "LayerNormalization Log LpNormalization Neg Not QuantizeLinear Reciprocal Relu Sigmoid Sign"),
    **_named(same, "Softmax Sqrt Tanh Trilu"),
    **_named(same, "BiasGelu FastGelu Gelu QuickGelu SkipLayerNormalization", _OURS),
    **_named(reduced, "ReduceL1 ReduceL2 ReduceMax ReduceMean ReduceMin ReduceSum ReduceSumSquare"),
    **_named(matrix_product, "Gemm MatMul MatMulInteger QLinearMatMul"),
    **_named(matrix_product, "DynamicQuantizeMatMul FusedMatMul MatMulIntegerToFloat", _OURS),
    **_named(attention, "Attention MultiHeadAttention QAttention", _OURS),
    **_named(embedded, "EmbedLayerNormalization QEmbedLayerNormalization", _OURS),
    **_named(packed_product, "MatMulNBits", _OURS),
    **_named(rules.gather_blocks, "GatherBlockQuantized", _OURS),
    "Cast": cast,
    "DynamicQuantizeLinear": quantized,
    "Concat": rules.concat,
    "Constant": rules.stored,
    "ConstantOfShape": rules.filled,
    "Expand": rules.expand,
    "Flatten": rules.flatten,
    "Gather": rules.gather,
    "GatherElements": lambda of: cheap(Sizes(of[1].dims), of),
    "GatherND": rules.gather_nd,
    "Range": rules.span,
    "Reshape": rules.reshape,
    "Shape": rules.shape,
    "Slice": rules.slices,
    "Split": rules.split,
    "Squeeze": rules.squeeze,
    "Tile": rules.tile,
    "Transpose": rules.transpose,
    "Unsqueeze": rules.unsqueeze,
}
