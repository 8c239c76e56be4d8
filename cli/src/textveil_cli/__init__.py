"""Package of the ``textveil`` command, with helpers that the command lines of other packages also use."""
