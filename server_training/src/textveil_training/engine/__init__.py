"""The one training engine: the loop, what every run has in common, its record, its files, its text."""
