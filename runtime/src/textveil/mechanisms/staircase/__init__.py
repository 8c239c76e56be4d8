"""The staircase: the mechanism, its tables, its bases that follow a text, and the index drawn by it."""
