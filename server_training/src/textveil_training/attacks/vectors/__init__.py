"""Attacks on released vectors: private attributes of a text."""

from textveil_training.attacks.vectors.attribute_inference import Settings, infer, infer_from_label, infer_nothing
from textveil_training.attacks.vectors.checkpoints import attacked, attributes_of
from textveil_training.attacks.vectors.released import read_released

__all__ = [
    "Settings",
    "attacked",
    "attributes_of",
    "infer",
    "infer_from_label",
    "infer_nothing",
    "read_released",
]
