"""Proven bounds on the accuracy of a private release, whatever is trained."""
