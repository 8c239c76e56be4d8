"""Rewrites texts: a rule says what is drawn, a mechanism draws it, and what comes out is written into the gaps."""

from typing import TYPE_CHECKING

from textveil.lazy import lazy_names

if TYPE_CHECKING:
    from textveil.text.rewrite.plan import Plan, Words
    from textveil.text.rewrite.rewriter import DrawPlan, Rewriter

__all__ = ["DrawPlan", "Plan", "Rewriter", "Words"]

__getattr__ = lazy_names(__name__, __all__, "plan", "rewriter")
