"""Prove the epsilon of a finished table over all pairs of words."""
