"""Sanitization-aware pretraining: mask the sanitized text, predict the original token."""
