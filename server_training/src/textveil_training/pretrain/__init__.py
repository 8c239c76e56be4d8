"""Sanitisation-aware pretraining of a masked language model: mask the sanitised text, predict the original token."""
