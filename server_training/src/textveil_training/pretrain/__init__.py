"""Pretrain masked language models that predict original tokens from masked sanitized text."""
