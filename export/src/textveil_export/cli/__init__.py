"""The ``textveil-export`` command."""

from textveil_export.cli.main import app, main

__all__ = ["app", "main"]
