"""Measures what a sanitized word still tells: how far words spread, how often an attacker guesses them."""

from textveil_export.leakage.bayes import guess, one_release, zipf

__all__ = ["guess", "one_release", "zipf"]
