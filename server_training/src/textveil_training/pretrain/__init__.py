"""Pretrain masked language models on sanitized text: mask the sanitized text, predict the original token."""
