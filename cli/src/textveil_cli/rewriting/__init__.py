"""What ``textveil sanitize`` and ``encode`` do once their options are read: plain text, tables, and what is charged."""

from typing import TYPE_CHECKING

from textveil.lazy import lazy_names

if TYPE_CHECKING:
    from textveil_cli.rewriting.plain import sanitize_lines

__all__ = ["sanitize_lines"]

__getattr__ = lazy_names(__name__, __all__, "plain")
