"""The ``textveil`` command, and what the command lines of the other wheels share with it."""

__version__ = "0.2.0"
