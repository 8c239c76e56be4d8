"""Sanitize whole corpora: replace the texts, copy everything else, and write files of the same format."""

from textveil_training.corpus.sanitize import sanitize_corpus

__all__ = ["sanitize_corpus"]
