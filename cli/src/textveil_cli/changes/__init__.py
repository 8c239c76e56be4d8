"""Compare texts with their sanitized outputs, and show the differences to the owner of the device.

Privacy:
    All results contain original text. The text is printed on the terminal, or written to files that only their owner
    can read, never to a log.
"""

from typing import TYPE_CHECKING

from textveil.lazy import make_lazy_getattr

if TYPE_CHECKING:
    from textveil_cli.changes.alignment import CHANGED, align_pieces, compare_words
    from textveil_cli.changes.explain import TextExplainer, describe_reason
    from textveil_cli.changes.overview import write_overview
    from textveil_cli.changes.report import ReportFacts, write_report
    from textveil_cli.changes.run_review import RunReview
    from textveil_cli.changes.terminal import TerminalStyle, format_text_diff

__all__ = [
    "CHANGED",
    "ReportFacts",
    "RunReview",
    "TerminalStyle",
    "TextExplainer",
    "align_pieces",
    "compare_words",
    "describe_reason",
    "format_text_diff",
    "write_overview",
    "write_report",
]

__getattr__ = make_lazy_getattr(
    __name__, __all__, "terminal", "alignment", "explain", "run_review", "report", "overview"
)
