"""Lazy loading for a fast start: late imports of public names, late compilation of patterns."""

import os
import re
from collections.abc import Callable, Collection
from importlib import import_module
from typing import Any

#: The ``__getattr__`` of a module.
Find = Callable[[str], Any]


class LatePattern:
    """A regular expression that is compiled at its first use.

    Args:
        compile: ``compile`` of ``re`` or ``regex``.
        pattern: The pattern.
        flags: Its flags.
    """

    def __init__(self, compile: Callable[..., Any], pattern: str, flags: int = 0) -> None:
        self._asked = compile, pattern, flags

    def __getattr__(self, name: str) -> Any:
        """Return a method of the pattern, and cache it as an attribute."""
        compile, pattern, flags = self._asked
        found = getattr(compile(pattern, flags), name)
        setattr(self, name, found)
        return found


def lazy_names(package: str, names: Collection[str], *modules: str) -> Find:
    """Return a ``__getattr__`` for a package that imports each name at its first use.

    Args:
        package: Its ``__name__``.
        names: Its ``__all__``.
        modules: Modules of the package that define the names together. The search follows this order.
    """

    def find(name: str) -> Any:
        for module in modules if name in names else ():
            found = vars(import_module(f"{package}.{module}"))
            if name in found:
                return found[name]
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return find


def called(path: "str | os.PathLike[str]") -> str:
    """Return the last part of a path for messages; an empty string if it may be a text."""
    name = os.path.basename(os.path.normpath(path))
    return repr(name) if re.fullmatch(r"[\w.+-]{1,60}", name) else ""
