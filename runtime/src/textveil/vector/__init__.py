"""Turns a text into a short vector with noise that covers the whole text, and classifies such vectors."""

from textveil.vector.classifier import Decision, VectorClassifier
from textveil.vector.encoder import Encoder, VectorRelease
from textveil.vector.statement import VectorStatement, vector_statement

__all__ = [
    "Decision",
    "Encoder",
    "VectorClassifier",
    "VectorRelease",
    "VectorStatement",
    "vector_statement",
]
