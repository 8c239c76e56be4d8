"""Lazy loading of modules, regular expressions and data files at their first use, for a fast start.

The TypeScript package has exact copies of the data files (``web/scripts/data.mjs``):

- ``rules.json``: words, patterns and surrogates of English. A bundle may have a file of this format for its language.
- ``entity_types.json``: entity types of the mode ``names``, with their lists, surrogate pools and relations.
- ``character_tables.json``: Unicode tables, punctuation, and the characters between two words that can be one name.
- ``statements.json``: texts of privacy statements. They have names in braces, which the program replaces by numbers.
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
#: Type of the function ``__getattr__`` of a module.
AttributeGetter = Callable[[str], Any]


class LazyPattern:
    """A regular expression that is compiled at its first use.

    Args:
        compile: Function ``compile`` of the module ``re`` or ``regex``.
        pattern: The pattern, or a function that returns the pattern.
        flags: Flags for ``compile``.
    """

    def __init__(self, compile: Callable[..., Any], pattern: str | Callable[[], str], flags: int = 0) -> None:
        self._arguments = compile, pattern, flags

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of the compiled pattern, such as the method ``match``, and cache it in this object."""
        compile, pattern, flags = self._arguments
        attribute = getattr(compile(pattern() if callable(pattern) else pattern, flags), name)
        setattr(self, name, attribute)
        return attribute


def make_lazy_getattr(package: str, names: Collection[str], *modules: str) -> AttributeGetter:
    """Create a function ``__getattr__`` for a package, which imports each public name at its first use.

    Args:
        package: Value of ``__name__`` in the package.
        names: Value of ``__all__`` in the package.
        modules: Names of the modules that define the public names. They are searched in this order.
    """

    def get_attribute(name: str) -> Any:
        for module in modules if name in names else ():
            found = vars(import_module(f"{package}.{module}"))
            if name in found:
                return found[name]
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return get_attribute


def read_data(name: str) -> bytes:
    """Return the bytes of a data file of this package."""
    return (Path(__file__).parent / "data" / name).read_bytes()


@cache
def load_data(name: str) -> dict[str, Any]:
    """Parse a JSON file of this package, and return the value. Callers share it and must not change it."""
    return json.loads(read_data(name))


def decode_table(lines: "list[str]") -> list[int]:
    """Decode a table of code point ranges into a flat list with the start and the end (exclusive) of each range.

    Args:
        lines: The table. It has two numbers for each range: the distance from the end of the previous range (or from
            0), and the length. For example, ``48 10`` gives ``[48, 58]``, the range of the ASCII digits.
    """
    return [*accumulate(map(int, " ".join(lines).split()))]
