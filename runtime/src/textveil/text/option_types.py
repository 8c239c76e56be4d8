"""The types of options: Python checks none, and ``sanitize_punctuation="no"`` must not be true."""

from collections.abc import Callable, Mapping
from decimal import Decimal
from numbers import Real

from textveil.errors import OptionError


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_flag(value: object) -> bool:
    return isinstance(value, bool)


def _is_number(value: object) -> bool:
    return isinstance(value, str | Real | Decimal) and not isinstance(value, bool)


_TYPES: dict[str, tuple[Callable[[object], bool], str]] = {
    **dict.fromkeys(("mechanism", "level", "case"), (_is_text, "text")),
    **dict.fromkeys(("epsilon", "replacement_probability"), (_is_number, "a number, or its digits as text")),
    **dict.fromkeys(("kinds", "consistent", "split", "fluent", "sanitize_punctuation"), (_is_flag, "true or false")),
}


def check_types(options: Mapping[str, object]) -> None:
    """Raises ``OptionError`` if an option that is given has another type than it must; ``None`` is not given."""
    for name, value in options.items():
        if value is not None and name in _TYPES and not _TYPES[name][0](value):
            raise OptionError(f"{name} is {_TYPES[name][1]}")
