"""Sanitizing of texts with mechanisms that randomize words.

A rule classifies tokens, a mechanism samples outputs, and the outputs are written between the original gaps.
"""

from typing import TYPE_CHECKING

from textveil.lazy import Find, lazy_names

if TYPE_CHECKING:
    from textveil.text.rewrite.plan import Plan, Words
    from textveil.text.rewrite.rewriter import DrawPlan, Rewriter

__all__ = ["DrawPlan", "Plan", "Rewriter", "Words"]

__getattr__: Find = lazy_names(__name__, __all__, "plan", "rewriter")
