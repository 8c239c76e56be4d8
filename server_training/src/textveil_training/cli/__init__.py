"""The ``textveil-train`` command, one module for each group of sub-commands: parse, one library call, print."""

from textveil_training.cli.main import app, main

__all__ = ["app", "main"]
