"""Measure SanText and SanText+ on the task of the paper that defines them, and compare them with the paper's code."""
