"""Measure which names sanitizers leave and what else they change.

Without this file, an installed package of this name would be imported instead.
"""
