"""Sanitize whole corpora: texts are sanitized, everything else is copied, the format stays."""

from textveil_training.corpus.sanitize import sanitize_corpus

__all__ = ["sanitize_corpus"]
