"""Lets a package give its public names without importing them all: a start pays for what it uses."""

from collections.abc import Callable, Collection
from importlib import import_module
from typing import Any

#: The ``__getattr__`` of a module.
Find = Callable[[str], Any]


def lazy_names(package: str, names: Collection[str], *modules: str) -> Find:
    """Returns the ``__getattr__`` of a package whose names are imported when they are first asked for.

    Args:
        package: Its ``__name__``.
        names: Its ``__all__``.
        modules: Modules of the package that have the names between them. They are looked at in this order.
    """

    def find(name: str) -> Any:
        for module in modules if name in names else ():
            found = vars(import_module(f"{package}.{module}"))
            if name in found:
                return found[name]
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return find
