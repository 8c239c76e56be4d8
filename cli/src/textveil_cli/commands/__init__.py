"""The commands of ``textveil``, one module each."""
