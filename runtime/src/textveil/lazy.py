"""Lazy loading for a fast start.

Names are imported, patterns compiled and data read at their first use.

The data files are shared with the TypeScript package, which has byte-for-byte copies (``web/scripts/data.mjs``):

- ``rules.json``: words, patterns and surrogates of a language. A bundle may have its own file in this format.
- ``entity_types.json``: lists and pools of the mode ``names``, and how the types relate.
- ``character_tables.json``: Unicode tables, punctuation, and the gaps between words that join them.
- ``statements.json``: texts of privacy statements; names in braces are replaced by figures.
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
    """Return a ``__getattr__`` for a package, which imports each public name at its first use.

    Args:
        package: ``__name__`` of the package.
        names: ``__all__`` of the package.
        modules: Modules of the package that define the names together, in the order of the search.
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
    """Return the parsed content of a data file. It is read once, so callers must not change it."""
    return json.loads(read_data(name))


def decode_table(lines: "list[str]") -> list[int]:
    """Decode a table of code point ranges: return the start and the end (exclusive) of each range, in one list.

    A table has two numbers for each range: the distance from the end of the previous range (or from 0), and its length.
    ``48 10`` gives [48, 58], the ASCII digits.
    """
    return [*accumulate(map(int, " ".join(lines).split()))]
