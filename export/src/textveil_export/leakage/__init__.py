"""Measure how much a randomized word reveals: likely outputs and inputs, and an attacker's success."""

from textveil_export.leakage.bayes import guess_from_one_release, guess_inputs, make_zipf_prior

__all__ = ["guess_from_one_release", "guess_inputs", "make_zipf_prior"]
