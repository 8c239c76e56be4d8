"""A page about the levels of a bundle, with figures and example texts."""

from textveil_export.report.page import write_report

__all__ = ["write_report"]
