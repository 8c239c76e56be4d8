"""The command line ``textveil-export``."""

from textveil_export.cli.main import app, main

__all__ = ["app", "main"]
