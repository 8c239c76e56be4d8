"""Attacks on released vectors: private attributes of a text, and noise that is one number for a whole text."""

from textveil_training.attacks.vectors.attribute_inference import Settings, infer, infer_from_label, infer_nothing
from textveil_training.attacks.vectors.scores import Advantage, Leak

__all__ = ["Advantage", "Leak", "Settings", "infer", "infer_from_label", "infer_nothing"]
