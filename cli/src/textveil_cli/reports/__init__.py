"""Format the output of commands that describe bundles, words, epsilons and counts, as text or JSON."""

from typing import TYPE_CHECKING

from textveil.lazy import make_lazy_getattr

if TYPE_CHECKING:
    from textveil_cli.reports.fbdd import calibrate_fbdd, format_fbdd_table
    from textveil_cli.reports.text import format_bound, format_levels_table, format_rate

__all__ = ["calibrate_fbdd", "format_bound", "format_fbdd_table", "format_levels_table", "format_rate"]

__getattr__ = make_lazy_getattr(__name__, __all__, "text", "fbdd")
