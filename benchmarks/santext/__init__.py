"""Measure SanText and SanText+ on the task of their paper, and compare them with the paper's code."""
