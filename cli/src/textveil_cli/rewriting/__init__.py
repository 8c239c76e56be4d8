"""What ``textveil sanitize`` and ``encode`` do once their options are read: plain text and tables."""
