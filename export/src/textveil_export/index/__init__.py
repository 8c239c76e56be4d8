"""From probabilities and weights to a bundle whose devices release an index."""

from textveil_export.index.integer_channel import drawn_epsilon, integer_channel

__all__ = ["drawn_epsilon", "integer_channel"]
