"""Measure what an attacker learns from released vectors, or from sanitized text."""
