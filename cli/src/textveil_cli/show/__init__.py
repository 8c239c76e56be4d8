"""Descriptions of bundles, words, epsilons and counts: as text for a person, or as JSON."""

from typing import TYPE_CHECKING

from textveil.lazy import lazy_names

if TYPE_CHECKING:
    from textveil_cli.show.text import bound, levels_table, share

__all__ = ["bound", "levels_table", "share"]

__getattr__ = lazy_names(__name__, __all__, "text")
