"""What decides a pretraining, apart from the data and the law."""

from dataclasses import dataclass

from textveil_training.engine.encoders import PRECISIONS
from textveil_training.errors import SettingError


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings of one pretraining.

    Attributes:
        start: ``minilm``, a folder or a hub id: an encoder, or a masked language model.
        steps: Optimiser steps in all; 0 for ``epochs``.
        epochs: Passes over the texts, where no steps are given.
        batch: Texts per step, of all processes together.
        accumulate: Parts that each process cuts its share of a batch into; the gradient is that of the whole.
        max_tokens: Longer texts are cut, [CLS] and [SEP] counted.
        learning_rate: Peak for the encoder; 0 for 3e-4 where the head is new, so that the encoder has never been a
            masked language model (or no longer is), else for 5e-5.
        head_learning_rate: Peak for the head's transform and bias; 0 for 2e-3 where the head is new, else for 5e-5.
        weight_decay: On matrices, decoupled (Loshchilov and Hutter 2019).
        warmup: Share of the steps in which the rates rise; they fall linearly to 0 afterwards.
        clip_norm: Longest gradient.
        dropout: Of hidden states and attention.
        mask_probability: How often a word is predicted (Devlin et al. 2019: .15).
        unchanged_share: How often a predicted word is shown as it stands in the sanitised text, not hidden (.1).
        measure_every: Steps between two measurements; 0 for 20 measurements in all.
        held_out_percent: Share of the texts, by their hash, that is measured on and never trained on.
        seed: Of the order, the masks, dropout and the division. Never of what the mechanism draws.
        precision: Of the forward pass: ``float32`` or ``bfloat16``.

    Raises:
        SettingError: A value is out of range.
    """

    start: str = "minilm"
    steps: int = 0
    epochs: int = 1
    batch: int = 64
    accumulate: int = 1
    max_tokens: int = 128
    learning_rate: float = 0.0
    head_learning_rate: float = 0.0
    weight_decay: float = 0.01
    warmup: float = 0.06
    clip_norm: float = 1.0
    dropout: float = 0.0
    mask_probability: float = 0.15
    unchanged_share: float = 0.1
    measure_every: int = 0
    held_out_percent: int = 2
    seed: int = 0
    precision: str = "bfloat16"

    def __post_init__(self) -> None:
        rules = {
            "steps": self.steps >= 0,
            "epochs": self.epochs >= 1,
            "batch": self.batch >= 1,
            "accumulate": 1 <= self.accumulate <= self.batch,
            "max_tokens": 5 <= self.max_tokens <= 512,
            "learning_rate": 0 <= self.learning_rate < 1,
            "head_learning_rate": 0 <= self.head_learning_rate < 1,
            "weight_decay": self.weight_decay >= 0,
            "warmup": 0 <= self.warmup < 1,
            "clip_norm": self.clip_norm > 0,
            "dropout": 0 <= self.dropout < 1,
            "mask_probability": 0 < self.mask_probability < 1,
            "unchanged_share": 0 <= self.unchanged_share <= 1,
            "measure_every": self.measure_every >= 0,
            "held_out_percent": 1 <= self.held_out_percent <= 50,
            "precision": self.precision in PRECISIONS,
        }
        for name, good in rules.items():
            if not good:
                raise SettingError(f"{name} is out of range")
