"""The sub-commands of ``textveil-train``: parse, one library call, print."""
