"""Execution of ``textveil sanitize`` and ``encode`` on plain text and tables."""
