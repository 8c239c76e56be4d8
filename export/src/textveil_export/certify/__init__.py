"""Prove the epsilon of a finished table (data of a mechanism that replaces words at random) over all word pairs."""
