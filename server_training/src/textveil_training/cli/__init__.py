"""Define the command ``textveil-train``, with one module for each group of its sub-commands."""

from textveil_training.cli.main import app, main

__all__ = ["app", "main"]
