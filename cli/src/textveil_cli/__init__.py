"""The ``textveil`` command, with helpers for the command lines of other packages."""
