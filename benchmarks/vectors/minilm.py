"""Compute MiniLM's sentence vectors: frozen (computed once and stored in float16), or tuned on a task's labels.

The forward pass is in bfloat16 if the processor supports it, and otherwise in float32. The mean is taken in float32.
"""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from textveil_training.encoder import LabeledPart
from textveil_training.engine import (
    MINILM,
    EncoderTokenizer,
    choose_precision,
    compute_vectors,
    load_transformer,
    make_adamw,
    make_length_batches,
    pool_mean,
)
from torch import Tensor, nn
from torch.nn import functional

MAX_TOKENS = 128
PRECISION = choose_precision("bfloat16", torch.device("cpu"))
#: Number of lower layers that tuning does not change; the embeddings are not changed either.
FROZEN_LAYERS = 3
LEARNING_RATE, HEAD_LEARNING_RATE, WEIGHT_DECAY, DROPOUT = 1e-4, 1e-3, 0.01, 0.1
TUNED_BATCH, WARMUP, CLIP_NORM = 32, 0.1, 1.0
_BATCH = 64
Floats = NDArray[np.float32]


class MiniLM:
    """The encoder and its tokenizer; after ``tune`` also a linear classifier.

    Args:
        dropout: Dropout of hidden states and attention during tuning.
    """

    def __init__(self, dropout: float = 0.0) -> None:
        self.network, vocabulary, lowercase = load_transformer(MINILM, dropout)
        self.tokenizer = EncoderTokenizer(vocabulary, lowercase=lowercase, max_tokens=MAX_TOKENS)
        self.classifier: nn.Module = nn.Identity()

    def vectors(self, texts: Sequence[str]) -> Floats:
        """Return the mean of the last hidden states, shape ``(texts, 384)``."""
        words = [self.tokenizer.split_into_pieces(text) for text in texts]

        def of(batch: Tensor) -> Tensor:
            inputs = self.tokenizer.make_batch([words[at] for at in batch.tolist()])
            return pool_mean(self.network, *inputs, PRECISION)

        self.network.eval()
        with torch.inference_mode():
            return compute_vectors(words, _BATCH, of).numpy()

    def tune(self, part: LabeledPart, classes: int, num_epochs: int, seed: int) -> None:
        """Minimize the cross entropy of a linear classifier on the vectors; the lower layers stay fixed.

        Args:
            part: Training texts.
            classes: Number of classes.
            num_epochs: Passes over the training texts.
            seed: Seed of the order of texts, of the classifier's initial weights and of dropout.
        """
        torch.manual_seed(seed)
        network: Any = self.network
        for module in (network.embeddings, *network.encoder.layer[:FROZEN_LAYERS]):
            module.requires_grad_(False)
        self.classifier = nn.Linear(network.config.hidden_size, classes)
        model = nn.ModuleDict({"extractor": network, "classifier": self.classifier})
        words = [self.tokenizer.split_into_pieces(text) for text in part.texts]
        labels = torch.from_numpy(part.classes)

        def rate(name: str) -> float:
            return LEARNING_RATE if name.startswith("extractor.") else HEAD_LEARNING_RATE

        optimizer = make_adamw(model, rate, WEIGHT_DECAY)
        steps = num_epochs * -(-len(words) // TUNED_BATCH)
        schedule = torch.optim.lr_scheduler.LambdaLR(
            optimizer, lambda step: min(1.0, step / (WARMUP * steps), (1 - step / steps) / (1 - WARMUP))
        )
        generator = torch.Generator().manual_seed(seed)
        model.train()
        for _ in range(num_epochs):
            for batch in make_length_batches(words, TUNED_BATCH, generator):
                inputs = self.tokenizer.make_batch([words[at] for at in batch.tolist()])
                vectors = pool_mean(network, *inputs, PRECISION)
                loss = functional.cross_entropy(self.classifier(vectors), labels[batch])
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(model.parameters(), CLIP_NORM)
                optimizer.step()
                schedule.step()

    def decisions(self, texts: Sequence[str]) -> NDArray[np.int64]:
        """Return the class of each text, shape ``(texts,)``."""
        with torch.inference_mode():
            return self.classifier(torch.from_numpy(self.vectors(texts))).argmax(1).numpy()


def frozen_vectors(texts: Sequence[str], cache: Path) -> Floats:
    """Return vectors of the pretrained encoder, cached in a float16 file named by the hash of the texts."""
    name = hashlib.sha256("\0".join([PRECISION, *texts]).encode()).hexdigest()[:16]
    path = cache / f"minilm-{name}.npy"
    if not path.exists():
        cache.mkdir(parents=True, exist_ok=True)
        np.save(path, MiniLM().vectors(texts).astype(np.float16))
    return np.load(path).astype(np.float32)
