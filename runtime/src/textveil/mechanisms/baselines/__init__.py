"""Mechanisms that others published: SanText, SanText+, FBDD and randomized response."""
