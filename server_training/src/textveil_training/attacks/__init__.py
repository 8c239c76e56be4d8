"""Measure what an attacker learns from released vectors (``vectors``) or sanitized text (``text``, ``words``)."""
