"""Measures what an attacker learns: from released vectors (``vectors``), from sanitized text (``text``, ``words``)."""
