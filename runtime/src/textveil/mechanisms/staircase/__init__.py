"""The staircase: the mechanism, its tables, its bases that follow a text, and the index drawn by it."""

from typing import TYPE_CHECKING

from textveil.lazy import lazy_names

if TYPE_CHECKING:
    from textveil.mechanisms.staircase.context import ContextTable
    from textveil.mechanisms.staircase.fluent import FluentStaircase
    from textveil.mechanisms.staircase.index import MAX_CODES, IndexStaircase
    from textveil.mechanisms.staircase.slots import FluentSlots, SlotStaircase
    from textveil.mechanisms.staircase.staircase import Staircase, StaircaseLevel, realized_ratio
    from textveil.mechanisms.staircase.table import StaircaseTable, output_role

__all__ = [
    "MAX_CODES",
    "ContextTable",
    "FluentSlots",
    "FluentStaircase",
    "IndexStaircase",
    "SlotStaircase",
    "Staircase",
    "StaircaseLevel",
    "StaircaseTable",
    "output_role",
    "realized_ratio",
]

__getattr__ = lazy_names(__name__, __all__, "context", "fluent", "index", "slots", "staircase", "table")
