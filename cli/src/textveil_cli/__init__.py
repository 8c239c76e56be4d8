"""The ``textveil`` command, and the helpers that the command lines of other packages share."""
