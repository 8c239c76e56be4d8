"""Measure FBDD on the vectors of its paper."""
