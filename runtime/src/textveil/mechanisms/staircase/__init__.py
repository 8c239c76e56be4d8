"""The staircase mechanism, which replaces words or class labels at random, and the tables of its parameters."""

from typing import TYPE_CHECKING

from textveil.lazy import AttributeGetter, make_lazy_getattr

if TYPE_CHECKING:
    from textveil.mechanisms.staircase.label_staircase import MAX_LABELS, LabelStaircase
    from textveil.mechanisms.staircase.slots import SlotStaircases
    from textveil.mechanisms.staircase.staircase import (
        Staircase,
        StaircaseLevel,
        StaircaseTable,
        compute_output_role,
        compute_realized_ratio,
    )
    from textveil.mechanisms.staircase.staircase_randomizer import StaircaseRandomizer, make_staircase_randomizer

__all__ = [
    "MAX_LABELS",
    "LabelStaircase",
    "SlotStaircases",
    "Staircase",
    "StaircaseLevel",
    "StaircaseRandomizer",
    "StaircaseTable",
    "compute_output_role",
    "compute_realized_ratio",
    "make_staircase_randomizer",
]

__getattr__: AttributeGetter = make_lazy_getattr(
    __name__, __all__, "staircase", "slots", "label_staircase", "staircase_randomizer"
)
