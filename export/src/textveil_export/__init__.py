"""Builds the bundles that textveil loads."""

__version__ = "0.2.0"
