"""Compute predictions of a fine-tuned model, and their accuracy or correlation."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from textveil_training.engine.encoders import get_device
from textveil_training.engine.tokens import EncoderTokenizer
from textveil_training.errors import CheckpointError
from textveil_training.finetune.features import compute_features, compute_pearson, pool_texts
from textveil_training.finetune.network import FinetunedDescription, FinetunedNetwork, read_model
from textveil_training.progress import ProgressCallback, ignore_progress


def predict(
    folder: Path,
    texts: Sequence[Sequence[str]],
    *,
    device: str = "cpu",
    precision: str = "float32",
    report: ProgressCallback = ignore_progress,
) -> tuple[Tensor, FinetunedDescription]:
    """Compute the predictions of a fine-tuned model for texts.

    Args:
        folder: Folder of the model.
        texts: One or two texts per row, as in training.
        device: ``cpu`` or a CUDA device.
        precision: ``float32`` or ``bfloat16``.
        report: Callback that takes the name of a stage, the number of its finished steps, and their total number.

    Returns:
        Logits of shape ``(rows, classes)``, or scores of shape ``(rows, 1)``; and the description of the model.

    Raises:
        CheckpointError: The model cannot be read, or it requires another number of texts per row.
        DeviceError: The device does not exist.
    """
    place = get_device(device)
    network, description, vocabulary = read_model(folder)
    if any(len(row) != 1 + description.pairs for row in texts):
        raise CheckpointError(
            "the data have single texts and the model needs pairs, or the reverse: use data like its training data"
        )
    tokenizer = EncoderTokenizer(vocabulary, lowercase=description.lowercase, max_tokens=description.max_tokens)
    network = network.to(place)
    return compute_outputs(network, description.joined, tokenizer, texts, place, precision, report), description


def compute_outputs(
    network: FinetunedNetwork,
    joined: bool,
    tokenizer: EncoderTokenizer,
    texts: Sequence[Sequence[str]],
    device: torch.device,
    precision: str,
    report: ProgressCallback = ignore_progress,
    stage: str = "vectors",
) -> Tensor:
    """Compute logits ``(rows, classes)`` or scores ``(rows, 1)``, and move them to the CPU.

    Args:
        network: The network; this function switches it to evaluation mode.
        joined: Whether both texts of a pair are one sequence; see ``FinetunedDescription``.
        tokenizer: Tokenizer of the network's vocabulary.
        texts: One or two texts per row.
        device: Device of the network.
        precision: ``float32`` or ``bfloat16``.
        report: Callback that takes the name of a stage, the number of its finished steps, and their total number.
        stage: Name of the stage in progress reports.
    """
    read = pool_texts if joined else compute_features
    vectors = read(network, tokenizer, texts, device, precision, report, stage)  # (rows, width or 4 width)
    with torch.inference_mode():
        return network(vectors.to(device)).cpu()


def measure_classes(logits: Tensor, targets: Tensor, majority: int) -> dict[str, float]:
    """Return accuracy, its standard error, and the share of rows in one class.

    The standard error is ``sqrt(a (1 - a) / n)`` for the accuracy a of n rows.

    Args:
        logits: Shape ``(rows, classes)``.
        targets: Class ids, shape ``(rows,)``.
        majority: Id of the most frequent training class, whose share is returned.

    Returns:
        ``examples`` (number of rows), ``accuracy``, ``standard_error`` and ``majority`` (share of the majority class).
    """
    right = (logits.argmax(-1) == targets).double()
    accuracy = right.mean().item()
    return {
        "examples": len(targets),
        "accuracy": accuracy,
        "standard_error": (accuracy * (1 - accuracy) / len(targets)) ** 0.5,
        "majority": (targets == majority).double().mean().item(),
    }


def measure_scores(found: Tensor, wanted: Tensor) -> dict[str, float]:
    """Return Pearson's and Spearman's correlation and the mean squared error of scores.

    The standard error of Pearson's correlation r of n pairs is ``(1 - r^2) / sqrt(n - 3)``. This is Fisher's formula
    for normally distributed pairs, so it is approximate here.

    Args:
        found: Predicted scores, shape ``(rows,)``.
        wanted: True scores, shape ``(rows,)``.

    Returns:
        ``examples`` (number of rows), ``pearson``, ``pearson_standard_error``, ``spearman`` and ``mse``.
    """
    from scipy.stats import rankdata

    ours, theirs = found.double().numpy(), wanted.double().numpy()
    r = compute_pearson(ours, theirs)
    return {
        "examples": len(theirs),
        "pearson": r,
        "pearson_standard_error": (1 - r * r) / max(1, len(theirs) - 3) ** 0.5,
        "spearman": compute_pearson(rankdata(ours), rankdata(theirs)),
        "mse": float(np.square(ours - theirs).mean()),
    }
