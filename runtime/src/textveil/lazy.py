"""Lazy loading for a fast start: late imports of public names, patterns compiled and data read at their first use.

The data files are shared with the TypeScript package:

- ``rules.json``: words, patterns and surrogates of a language. A bundle may have a file of its own in this format.
- ``entity_types.json``: lists and pools of the mode ``names``, and how the types relate.
- ``character_tables.json``: Unicode tables, punctuation, and the gaps between words that join them.
- ``statements.json``: texts of privacy statements; names in braces are replaced by figures.

The TypeScript package has byte-for-byte copies (``web/scripts/data.mjs``).
"""

import json
from collections.abc import Callable, Collection
from functools import cache
from importlib import import_module
from itertools import accumulate
from pathlib import Path
from typing import Any

#: Names of data files.
ENTITY_TYPES, CHARACTERS, STATEMENTS = "entity_types.json", "character_tables.json", "statements.json"
#: The ``__getattr__`` of a module.
AttributeGetter = Callable[[str], Any]


class LazyPattern:
    """A regular expression that is compiled at its first use.

    Args:
        compile: ``compile`` of ``re`` or ``regex``.
        pattern: The pattern, or a function that returns it.
        flags: Its flags.
    """

    def __init__(self, compile: Callable[..., Any], pattern: str | Callable[[], str], flags: int = 0) -> None:
        self._arguments = compile, pattern, flags

    def __getattr__(self, name: str) -> Any:
        """Return a method of the pattern, and cache it as an attribute."""
        compile, pattern, flags = self._arguments
        attribute = getattr(compile(pattern() if callable(pattern) else pattern, flags), name)
        setattr(self, name, attribute)
        return attribute


def make_lazy_getattr(package: str, names: Collection[str], *modules: str) -> AttributeGetter:
    """Return a ``__getattr__`` for a package that imports each name at its first use.

    Args:
        package: Its ``__name__``.
        names: Its ``__all__``.
        modules: Modules of the package that define the names together. The search follows this order.
    """

    def get_attribute(name: str) -> Any:
        for module in modules if name in names else ():
            found = vars(import_module(f"{package}.{module}"))
            if name in found:
                return found[name]
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return get_attribute


def read_data(name: str) -> bytes:
    """Return the content of a data file."""
    return (Path(__file__).parent / "data" / name).read_bytes()


@cache
def load_data(name: str) -> dict[str, Any]:
    """Parse a data file at the first call; callers must not change the result."""
    return json.loads(read_data(name))


def decode_table(lines: "list[str]") -> list[int]:
    """Return the first code point of each range and the first one after it, alternating.

    A table has the number of code points outside and inside of each range, in turn: ``48 10`` are the ASCII digits.
    """
    return [*accumulate(map(int, " ".join(lines).split()))]
