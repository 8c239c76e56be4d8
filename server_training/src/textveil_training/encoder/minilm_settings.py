"""Define the settings for fine-tuning MiniLM; this module does not import MiniLM's optional packages."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from textveil_training.engine.encoders import MINILM
from textveil_training.finetune.settings import FinetuningSettings

#: Number of training texts, counted in each epoch, above which the encoder does not improve (benchmarks/LOG.md).
TEXTS_SEEN = 12_000


@dataclass(frozen=True, slots=True, kw_only=True)
class MinilmSettings:
    """Settings for fine-tuning MiniLM, a small language model.

    Attributes:
        encoder: ``minilm``, a folder or the id of a BERT model on Hugging Face.
        tuned: Whether to train the encoder; otherwise only the linear map is trained.
        frozen_layers: Number of lowest layers that are not trained; if above 0, the embeddings are not trained either.
        num_epochs: Number of epochs. ``None`` for the number, from 1 to 10, that gives about ``TEXTS_SEEN`` training
            texts in total.
        batch_size: Texts per step.
        learning_rate: Peak learning rate of the encoder.
        max_tokens: Maximum tokens, including [CLS] and [SEP]; longer texts are truncated.
        seed: Seed of all random choices in training.
    """

    encoder: str = MINILM
    tuned: bool = True
    frozen_layers: int = 3
    num_epochs: int | None = None
    batch_size: int = 32
    learning_rate: float = 1e-4
    max_tokens: int = 128
    seed: int = 0

    def count_passes(self, texts: int) -> int:
        """Return the number of epochs for ``texts`` training texts."""
        return self.num_epochs or min(10, max(1, round(TEXTS_SEEN / texts)))

    def describe(self, texts: int) -> dict[str, Any]:
        """Return the settings that affect the result, for the model card.

        Of an encoder's folder, only the last part of the path is included.

        Args:
            texts: Number of training texts.
        """
        found = {**asdict(self), "num_epochs": self.count_passes(texts)}
        if not self.tuned:
            found = {name: found[name] for name in ("encoder", "tuned", "max_tokens")}
        if Path(self.encoder).is_dir():
            found["encoder"] = Path(self.encoder).resolve().name
        elif self.encoder == MINILM:
            found["encoder"] = "sentence-transformers/all-MiniLM-L6-v2 (Apache-2.0)"
        return found

    def make_finetuning_settings(self, texts: int) -> FinetuningSettings:
        """Return the fine-tuning settings for ``texts`` training texts."""
        return FinetuningSettings(
            encoder=self.encoder,
            tuned=self.tuned,
            frozen_layers=self.frozen_layers or None,
            num_epochs=self.count_passes(texts),
            batch_size=self.batch_size,
            learning_rate=self.learning_rate,
            max_tokens=self.max_tokens,
            seed=self.seed,
            precision="float32",  # float32 gives nearly the same weights on every processor
        )
