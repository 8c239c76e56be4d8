"""Attack the noisy vectors that devices send: infer private attributes of a text, such as the author's age group."""

from textveil_training.attacks.vectors.attribute_inference import (
    AttributeAttackSettings,
    infer_attributes,
    infer_from_frequency,
    infer_from_label,
)
from textveil_training.attacks.vectors.checkpoints import attack_checkpoint, get_attributes
from textveil_training.attacks.vectors.released import read_released_vectors

__all__ = [
    "AttributeAttackSettings",
    "attack_checkpoint",
    "get_attributes",
    "infer_attributes",
    "infer_from_frequency",
    "infer_from_label",
    "read_released_vectors",
]
