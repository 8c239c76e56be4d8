"""Sanitization-aware pretraining of a masked language model: mask the sanitized text, predict the original token."""
