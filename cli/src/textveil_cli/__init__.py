"""The ``textveil`` command, and what the command lines of the other wheels share with it."""
