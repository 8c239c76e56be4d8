"""The commands of ``textveil``, one file each."""
