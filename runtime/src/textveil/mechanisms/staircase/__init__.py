"""The staircase mechanism, its tables, and its version for class labels."""

from typing import TYPE_CHECKING

from textveil.lazy import Find, lazy_names

if TYPE_CHECKING:
    from textveil.mechanisms.staircase.channel import StaircaseChannel, staircase_channel
    from textveil.mechanisms.staircase.index import MAX_CODES, IndexStaircase
    from textveil.mechanisms.staircase.slots import SlotStaircase
    from textveil.mechanisms.staircase.staircase import Staircase, StaircaseLevel, realized_ratio
    from textveil.mechanisms.staircase.tables import StaircaseTable, output_role

__all__ = [
    "MAX_CODES",
    "IndexStaircase",
    "SlotStaircase",
    "Staircase",
    "StaircaseChannel",
    "StaircaseLevel",
    "StaircaseTable",
    "output_role",
    "realized_ratio",
    "staircase_channel",
]

__getattr__: Find = lazy_names(__name__, __all__, "tables", "staircase", "slots", "index", "channel")
