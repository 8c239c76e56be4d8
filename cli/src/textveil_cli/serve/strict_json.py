"""Strict JSON parser, which accepts only values that every parser reads in the same way."""

from collections.abc import Callable
from typing import Any, NoReturn

from textveil.work_steps import decode_json

#: Deeper values would cause a ``RecursionError`` in recursive functions.
MAX_DEPTH = 100
_TOO_DEEP = f"is nested more than {MAX_DEPTH} levels deep"
_NOT_FINITE = "has a number that is not finite, or too large"
_ObjectBuilder = Callable[[list[tuple[str, Any]]], dict[str, Any]]


class JSONLimitError(ValueError):
    """Error for well-formed JSON that exceeds a limit.

    The message completes a sentence that begins with *the body*, such as *is nested more than 100 levels deep*.
    """


def parse_finite_json(text: str, build_object: _ObjectBuilder | None = None, *, allow_constants: bool = False) -> Any:
    """Parse JSON in which all numbers are finite and the nesting is limited.

    Args:
        text: The JSON text.
        build_object: Function that builds an object from pairs of key and value; ``None`` for a dictionary.
        allow_constants: Whether to allow ``NaN`` and ``Infinity``, which some servers write.

    Raises:
        JSONLimitError: A number is too large for 64 bits of floating point, or the nesting is too deep.
        ValueError: The text is not JSON.
    """
    try:
        value = decode_json(
            text,
            object_pairs_hook=build_object,
            parse_float=_parse_float,
            parse_constant=None if allow_constants else _refuse_constant,
        )
    except RecursionError:
        raise JSONLimitError(_TOO_DEEP) from None
    if text.count("[") + text.count("{") > MAX_DEPTH and measure_depth(value) > MAX_DEPTH:
        raise JSONLimitError(_TOO_DEEP)
    return value


def measure_depth(value: Any) -> int:
    """Return the nesting depth of lists and objects in a value, computed without recursion."""
    depth, level = 0, [value]
    while level := [container for container in level if isinstance(container, dict | list)]:
        depth += 1
        level = [
            entry for container in level for entry in (container.values() if isinstance(container, dict) else container)
        ]
    return depth


def _parse_float(digits: str) -> float:
    value = float(digits)
    if value in (float("inf"), float("-inf")):
        raise JSONLimitError(_NOT_FINITE)
    return value


def _refuse_constant(constant: str) -> NoReturn:
    raise JSONLimitError(_NOT_FINITE)
