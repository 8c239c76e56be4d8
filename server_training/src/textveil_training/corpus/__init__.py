"""Sanitize whole corpora: replace the texts, copy everything else, and keep the file format."""

from textveil_training.corpus.sanitize import sanitize_corpus

__all__ = ["sanitize_corpus"]
