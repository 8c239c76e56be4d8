"""Measure which names sanitizers leave, and which other words they change.

Without this file, an installed package named ``names`` would be imported instead.
"""
