"""What decides a fine-tuning, apart from the data. The defaults are those of Yue et al. 2021."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from textveil_training.engine.encoders import PRECISIONS
from textveil_training.errors import SettingError


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings of one fine-tuning.

    Attributes:
        encoder: ``minilm``, a folder or a hub id.
        tuned: Whether the encoder learns; otherwise its pooled vectors are computed once, and a linear model is
            fitted to them.
        max_tokens: Longer inputs are cut, [CLS] and [SEP] counted.
        epochs: Passes over the training examples.
        batch: Examples per step.
        learning_rate: Peak for the encoder.
        head_learning_rate: Peak for the new linear layer.
        weight_decay: On matrices, decoupled (Loshchilov and Hutter 2019).
        warmup: Share of the steps in which the rates rise; they fall linearly to 0 afterwards.
        clip_norm: Longest gradient.
        dropout: Of the encoder and of the pooled vector.
        train_examples: At most so many training examples, the same rows for every seed and every sanitised copy;
            0 for all.
        seed: Of everything random in training.
        precision: Of the encoder's forward pass: ``float32`` or ``bfloat16``.

    Raises:
        SettingError: A value is out of range.
    """

    encoder: str = "minilm"
    tuned: bool = True
    max_tokens: int = 128
    epochs: int = 3
    batch: int = 64
    learning_rate: float = 2e-5
    head_learning_rate: float = 1e-3
    weight_decay: float = 0.01
    warmup: float = 0.1
    clip_norm: float = 1.0
    dropout: float = 0.1
    train_examples: int = 0
    seed: int = 0
    precision: str = "bfloat16"

    def __post_init__(self) -> None:
        rules = {
            "max_tokens": 5 <= self.max_tokens <= 512,
            "epochs": self.epochs >= 1,
            "batch": self.batch >= 1,
            "learning_rate": 0 < self.learning_rate < 1,
            "head_learning_rate": 0 < self.head_learning_rate < 1,
            "weight_decay": self.weight_decay >= 0,
            "warmup": 0 <= self.warmup < 1,
            "clip_norm": self.clip_norm > 0,
            "dropout": 0 <= self.dropout < 1,
            "train_examples": self.train_examples >= 0,
            "precision": self.precision in PRECISIONS,
        }
        for name, holds in rules.items():
            if not holds:
                raise SettingError(f"{name} is out of range")

    def described(self) -> dict[str, Any]:
        """For a record: what has an effect, and of a folder its name alone."""
        found = asdict(self)
        if not self.tuned:
            found = {name: found[name] for name in ("encoder", "tuned", "max_tokens", "train_examples", "precision")}
        if Path(self.encoder).is_dir():
            found["encoder"] = Path(self.encoder).resolve().name
        return found
