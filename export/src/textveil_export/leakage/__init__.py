"""Measures what a sanitized word still tells: how far words spread, how often an attacker guesses them."""

from textveil_export.leakage.bayes import guess_from_one_release, guess_inputs, make_zipf_prior

__all__ = ["guess_from_one_release", "guess_inputs", "make_zipf_prior"]
