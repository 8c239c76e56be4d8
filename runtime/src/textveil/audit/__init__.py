"""Computations about a finished bundle: losses of pairs of words, and the effects of its levels."""

from typing import TYPE_CHECKING

from textveil.lazy import lazy_names

if TYPE_CHECKING:
    from textveil.audit.capped import LOG_MARGIN, CappedAudit, pure_ldp_levels
    from textveil.audit.exact import ExactAudit, largest_differences, log_totals
    from textveil.audit.index import verify_index
    from textveil.audit.levels import RELEASES, LevelSummary, Measures, summaries
    from textveil.audit.verify import Verification, verify_encoder, verify_text

__all__ = [
    "LOG_MARGIN",
    "RELEASES",
    "CappedAudit",
    "ExactAudit",
    "LevelSummary",
    "Measures",
    "Verification",
    "largest_differences",
    "log_totals",
    "pure_ldp_levels",
    "summaries",
    "verify_encoder",
    "verify_index",
    "verify_text",
]

__getattr__ = lazy_names(__name__, __all__, "capped", "exact", "index", "levels", "verify")
