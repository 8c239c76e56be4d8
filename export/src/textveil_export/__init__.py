"""Builds the bundles that textveil loads."""

__version__ = "0.1.0"
