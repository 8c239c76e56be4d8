"""Whole corpora through a bundle: texts are sanitized, everything else is carried through, the format stays."""

from textveil_training.corpus.sanitize import sanitize_corpus

__all__ = ["sanitize_corpus"]
