"""Accuracy of the main task by subgroup, for sanitised text and for representations."""
