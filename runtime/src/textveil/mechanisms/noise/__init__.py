"""Noise for vectors, and what it loses."""
