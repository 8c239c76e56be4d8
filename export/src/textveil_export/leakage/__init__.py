"""Measure what a randomized word reveals: spread of words, and recovery by an attacker."""

from textveil_export.leakage.bayes import guess_from_one_release, guess_inputs, make_zipf_prior

__all__ = ["guess_from_one_release", "guess_inputs", "make_zipf_prior"]
