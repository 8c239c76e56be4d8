"""Measures what an attacker learns from released vectors (``vectors``) and from sanitized text (``text``)."""
