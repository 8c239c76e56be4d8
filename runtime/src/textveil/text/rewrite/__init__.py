"""Sanitizing of texts with mechanisms that randomize words.

A rule classifies each token: unchanged, replaced by another entity of its type, or randomized. The mechanism samples
the outputs of randomized tokens. The outputs are written between the original gaps (blanks and punctuation).
"""

from typing import TYPE_CHECKING

from textveil.lazy import AttributeGetter, make_lazy_getattr

if TYPE_CHECKING:
    from textveil.text.rewrite.plan import PrintableWords, SanitizingPlan
    from textveil.text.rewrite.rewriter import DocumentRewriter, RandomizingPlan

__all__ = ["DocumentRewriter", "PrintableWords", "RandomizingPlan", "SanitizingPlan"]

__getattr__: AttributeGetter = make_lazy_getattr(__name__, __all__, "plan", "rewriter")
