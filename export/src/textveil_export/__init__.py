"""Builds the bundles that textveil loads."""
