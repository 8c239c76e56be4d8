"""Accuracy of the main task by subgroup, for sanitized text and for representations."""
