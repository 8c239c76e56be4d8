"""Pooled vectors of whole splits: what an encoder says about its texts, computed once."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from textveil_training.dpnr.classification_data import Split
from textveil_training.dpnr.networks import Model
from textveil_training.engine.tensor_files import write_tensors
from textveil_training.engine.tokens import Tokenizer, Words, vectors_of
from textveil_training.errors import CheckpointError
from textveil_training.progress import Report, no_report

BATCH = 64


def pooled_features(
    model: Model, tokenizer: Tokenizer, texts: Sequence[Words], device: torch.device, report: Report = no_report
) -> Tensor:
    """Returns pooled vectors in evaluation mode, float32 of shape ``(texts, width)``, on the processor.

    Args:
        model: Networks, of which the encoder is used.
        tokenizer: Tokenizer of its vocabulary.
        texts: The texts.
        device: Device that the encoder is on.
        report: Called after each batch.
    """

    def of(batch: Tensor) -> Tensor:
        ids, mask = tokenizer.batch([texts[index] for index in batch.tolist()])  # (batch, tokens)
        return model.pooled(ids.to(device), mask.to(device)).cpu()

    model.eval()
    with torch.inference_mode():
        found = vectors_of(texts, BATCH, of, partial(report, "features"))
    return found.clone()  # an inference tensor cannot be trained on


def write_features(path: Path, features: Tensor, split: Split, encoder: str) -> None:
    """Writes the pooled vectors of a split.

    Args:
        path: A safetensors file.
        features: Pooled vectors of the split, in its order.
        split: Split with the hash of its texts.
        encoder: SHA-256 of the encoder's weights.

    Raises:
        OutputError: It cannot be written.
    """
    header = {"split_sha256": split.sha256, "encoder_sha256": encoder}
    write_tensors(path, {"features": features}, header)


def read_features(path: Path, split: Split, encoder: str) -> Tensor:
    """Reads ``features`` back.

    Raises:
        CheckpointError: The file is missing or damaged, or was made from other texts or by another encoder.
    """
    try:
        with safe_open(path, "pt") as file:
            header = file.metadata() or {}
            features = file.get_tensor("features")
    except (OSError, SafetensorError) as error:
        raise CheckpointError("a file of features is missing or damaged") from error
    if header.get("split_sha256") != split.sha256 or header.get("encoder_sha256") != encoder:
        raise CheckpointError("the features were made from other texts or by another encoder")
    return features
