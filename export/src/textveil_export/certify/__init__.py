"""The epsilon of a finished table, proven over all pairs of words."""
