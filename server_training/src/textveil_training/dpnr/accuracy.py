"""Measure the accuracy of a server's classifier on noisy vectors, computed with the code that devices run.

``evaluate_checkpoint`` runs all steps on a data set: encode texts, bound the vectors, add noise, classify.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from textveil.mechanisms import RandomUint64
from textveil.mechanisms.noise import BOX, ReleaseParameters, VectorReleaser, WordDropout
from textveil_cli.aggregation import compute_label_scores, extract_layers
from torch import Tensor

from textveil_training.data import ReadOptions
from textveil_training.dpnr import checkpoint as files
from textveil_training.dpnr.checkpoint import RepresentationDescription
from textveil_training.dpnr.classification_data import ClassifiedSplit, load_classification_split
from textveil_training.dpnr.features import compute_pooled_features, read_features, remove_random_words
from textveil_training.dpnr.networks import RepresentationModel
from textveil_training.engine.encoders import get_device
from textveil_training.engine.tokens import EncoderTokenizer, TextPieces
from textveil_training.errors import CheckpointError
from textveil_training.file_hashes import hash_file
from textveil_training.progress import ProgressCallback, ignore_progress

DRAWS = 20
GRID = 1024
_COARSE_GRID = 16
_LARGEST_TABLE = 1 << 18


def make_release_parameters(description: RepresentationDescription, epsilon: str) -> ReleaseParameters:
    """Choose the parameters of the noise with which a model's accuracy is measured.

    Vectors are rounded to a grid of ``GRID`` integer steps per unit. For mode ``box`` with many dimensions the grid is
    coarser, since the table of the noise would be too large.

    Args:
        description: Content of ``checkpoint.json``.
        epsilon: Epsilon per text, a decimal string.

    Raises:
        OptionError: Epsilon is not a number that the noise can have.
    """
    parameters = ReleaseParameters(
        mode=description.mode,
        dimension=description.dimension,
        grid=_COARSE_GRID,
        epsilon=epsilon,
        delta=description.delta,
    )  # the constructor checks epsilon before it is used below
    if description.mode == BOX and 8 * description.dimension * GRID / float(epsilon) > _LARGEST_TABLE:
        return parameters
    return replace(parameters, grid=GRID)


def release_vectors(
    vectors: NDArray[np.float32], parameters: ReleaseParameters, random_uint64: RandomUint64 | None = None
) -> NDArray[np.float32]:
    """Add noise to vectors as devices do: round them to integers, limit their norm, add noise, and scale them back.

    Args:
        vectors: Vectors before the noise, shape ``(n, k)``.
        parameters: Parameters of bound and noise, with epsilon.
        random_uint64: Source of random 64-bit words, for tests; ``None`` for the operating system's.

    Returns:
        Noisy vectors, shape ``(n, k)``.

    Privacy:
        Each row spends the epsilon per text of ``parameters`` once; see ``textveil.mechanisms``.
    """
    releaser = VectorReleaser(parameters)
    return releaser.dequantize_vectors(releaser.release_vectors(vectors, random_uint64))


def measure_accuracy(
    model: RepresentationModel,
    description: RepresentationDescription,
    features: Tensor | Sequence[Tensor],
    split: ClassifiedSplit,
    *,
    levels: Sequence[str] | None = None,
    draws: int = DRAWS,
    random_uint64: RandomUint64 | None = None,
) -> dict[str, Any]:
    """Measure the accuracy of a model's classifier on noisy vectors of a split's texts.

    Args:
        model: The networks.
        description: Content of ``checkpoint.json`` for these networks.
        features: Mean output vectors of the encoder for the texts, one matrix; with word dropout several matrices, each
            from texts with other words removed.
        split: Split with its labels.
        levels: Epsilons per text; ``None`` for those of the checkpoint (folder with the model).
        draws: Number of noisy vectors of every text at every epsilon, divided among the matrices of ``features``.
        random_uint64: Source of random 64-bit words, for tests; ``None`` for the operating system's.

    Returns:
        For a checkpoint without noise: ``accuracy``, ``standard_error`` and ``confusion`` (counts by true class and
        decision). For other checkpoints, at each epsilon: the mean ``accuracy`` over the noisy vectors,
        ``standard_error`` (for the choice of test texts), ``standard_error_draws`` (for the noise alone),
        ``without_noise`` (the accuracy without noise) and the mean ``confusion``.

    Raises:
        OptionError: A number is not an epsilon that the noise can have.
    """
    by_epsilon: dict[str, Any] = {}
    labels, classes, masks = split.labels, len(description.labels), 1 if isinstance(features, Tensor) else len(features)
    if description.mode == "none":
        return _summarize_decisions(decide_released(model, description, features, None).decisions, labels, classes)
    for level in description.levels if levels is None else levels:
        released = decide_released(model, description, features, level, draws=draws, random_uint64=random_uint64)
        right = np.mean([(decision == labels).double().mean().item() for decision in released.without_noise])
        by_epsilon[level] = _summarize_decisions(released.decisions, labels, classes) | {"without_noise": float(right)}
    return {"levels": by_epsilon, "draws": draws, "masks": masks}


@dataclass(frozen=True)
class ReleasedDecisions:
    """Classes that a model's classifier predicts from noisy vectors of a split's texts.

    Attributes:
        decisions: Predicted class ids, one int64 array of shape ``(texts,)`` for each time that noise was drawn. A
            model without noise has one array for each matrix of vectors: one matrix, or several with word dropout, each
            computed from the texts with other words removed.
        without_noise: Predictions from the vectors before the noise, for each matrix of vectors; empty for a model
            without noise.
    """

    decisions: list[Tensor]
    without_noise: list[Tensor]


def decide_released(
    model: RepresentationModel,
    description: RepresentationDescription,
    features: Tensor | Sequence[Tensor],
    level: str | None,
    *,
    draws: int = DRAWS,
    random_uint64: RandomUint64 | None = None,
) -> ReleasedDecisions:
    """Classify the texts of a split from noisy vectors, computed with the code that devices run.

    Args:
        model: The networks.
        description: Content of ``checkpoint.json`` for these networks.
        features: Mean output vectors of the encoder for the texts (see ``measure_accuracy``).
        level: Epsilon per text; ``None`` exactly for a model without noise.
        draws: Number of noisy vectors of every text.
        random_uint64: Source of random 64-bit words, for tests; ``None`` for the operating system's.

    Raises:
        OptionError: The level is not an epsilon that the noise can have.

    Privacy:
        Every text spends the epsilon of ``level`` as many times as ``draws`` states.
    """
    masks = [features] if isinstance(features, Tensor) else list(features)
    model.eval()
    with torch.inference_mode():
        device = model.classifier.out.weight.device
        vectors = [model.represent(matrix.to(device)) for matrix in masks]
        if level is None:
            return ReleasedDecisions([model.classifier(matrix, None).argmax(-1).cpu() for matrix in vectors], [])
        parameters = make_release_parameters(description, level)
        log_epsilon = np.full((1, 1), math.log(float(level)))
        layers = extract_layers({name: tensor.cpu().numpy() for name, tensor in model.classifier.state_dict().items()})

        def decide(released: NDArray[np.float32]) -> Tensor:
            return torch.from_numpy(compute_label_scores(layers, released, log_epsilon).argmax(axis=1))

        clean = [matrix.cpu().numpy() for matrix in vectors]
        draws_of = (clean[draw % len(clean)] for draw in range(draws))
        decisions = [decide(release_vectors(matrix, parameters, random_uint64)) for matrix in draws_of]
        return ReleasedDecisions(decisions, [decide(matrix) for matrix in clean])


def _summarize_decisions(decisions: list[Tensor], labels: Tensor, classes: int) -> dict[str, Any]:
    accuracies = np.array([(decision == labels).double().mean().item() for decision in decisions])
    mean = float(accuracies.mean())
    cells = torch.zeros(classes * classes, dtype=torch.float64)
    for decision in decisions:
        cells += torch.bincount(labels * classes + decision, minlength=classes * classes)
    figures: dict[str, Any] = {"accuracy": mean, "standard_error": math.sqrt(mean * (1 - mean) / len(labels))}
    if len(decisions) > 1:
        figures["standard_error_draws"] = float(accuracies.std(ddof=1) / math.sqrt(len(decisions)))
    return figures | {"confusion": (cells / len(decisions)).view(classes, classes).tolist()}


MASKS = 5
"""Number of word dropout samples per text in a measurement; the noise draws are divided among them."""


def evaluate_checkpoint(
    folder: Path,
    data: Path,
    format_name: str,
    split: str | None,
    *,
    options: ReadOptions | None = None,
    levels: Sequence[str] | None = None,
    word_dropout: str | None = None,
    draws: int = DRAWS,
    device: str = "cpu",
    report: ProgressCallback = ignore_progress,
) -> dict[str, Any]:
    """Open a checkpoint (folder with a trained model), and measure the accuracy of the model on data.

    Args:
        folder: Folder of the checkpoint.
        data: File or folder of the data.
        format_name: Format of the data.
        split: Split of the data; ``None`` for a file without splits.
        options: Column names, for formats that need them.
        levels: Epsilons per text; ``None`` for those of the checkpoint (folder with the model).
        word_dropout: Word dropout as a decimal string; ``None`` for that of the checkpoint.
        draws: Number of noisy vectors of each text at each epsilon.
        device: ``cpu`` or a CUDA device.
        report: Callback that takes the name of a stage, the number of its finished steps, and their total number.

    Returns:
        The result of ``measure_accuracy``.

    Raises:
        CheckpointError: The checkpoint cannot be used.
        DataError: The data cannot be read.
        EmptyClass: The data have a class that the checkpoint does not have.
        DeviceError: The device does not exist.
        OptionError: An epsilon or the word dropout is not a valid number.
    """
    place = get_device(device)
    model, description = files.read_checkpoint(folder)
    if levels and description.mode == "none":
        raise CheckpointError(
            "the checkpoint was trained without noise, so it has no epsilon: omit --epsilon, or pass another checkpoint"
        )
    if word_dropout is not None:
        description = replace(description, word_dropout=word_dropout)
    part = load_classification_split(format_name, data, split, description.labels, options)
    model.to(place)
    features = load_or_compute_features(folder, model, description, part, split, device=device, report=report)
    return measure_accuracy(model, description, features, part, levels=levels, draws=draws)


def load_or_compute_features(
    folder: Path,
    model: RepresentationModel,
    description: RepresentationDescription,
    part: ClassifiedSplit,
    split: str | None,
    *,
    device: str = "cpu",
    report: ProgressCallback = ignore_progress,
) -> list[Tensor]:
    """Load the encoder's output vectors for a split from the folder of a trained model, or compute them if missing.

    Args:
        folder: Folder of the model (checkpoint).
        model: The networks, on the device.
        description: Content of ``checkpoint.json`` for these networks.
        part: Texts of the split.
        split: Name under which training stored the vectors. With ``None`` they are always computed.
        device: Device of the networks.
        report: Callback that takes the name of a stage, the number of its finished steps, and their total number.

    Raises:
        CheckpointError: The checkpoint cannot be used.
        DeviceError: The device does not exist.
    """
    dropout = WordDropout(description.word_dropout)
    stored = folder / f"features-{split}.safetensors"
    if not dropout.exact and stored.is_file():
        try:
            return [read_features(stored, part, hash_file(folder / files.EXTRACTOR / "model.safetensors"))]
        except CheckpointError:  # the stored vectors are of other texts or of another encoder
            pass
    tokenizer = EncoderTokenizer(
        folder / files.VOCABULARY, lowercase=description.lowercase, max_tokens=description.max_tokens
    )
    words = [tokenizer.split_into_pieces(text) for text in part.texts]
    return compute_device_features(model, tokenizer, words, dropout, get_device(device), report)


def compute_device_features(
    model: RepresentationModel,
    tokenizer: EncoderTokenizer,
    words: list[TextPieces],
    dropout: WordDropout,
    device: torch.device,
    report: ProgressCallback = ignore_progress,
) -> list[Tensor]:
    """Compute the mean of the encoder's output vectors for each text, with words removed at random as on devices.

    Args:
        model: The networks.
        tokenizer: Tokenizer of the encoder's vocabulary.
        words: The texts as WordPieces.
        dropout: Word dropout: the probability with which each word is removed.
        device: Device of the networks.
        report: Callback that takes the name of a stage, the number of its finished steps, and their total number.

    Returns:
        One matrix without word dropout; with it ``MASKS`` matrices, each with other words removed.
    """
    if not dropout.exact:
        return [compute_pooled_features(model, tokenizer, words, device, report)]
    return [
        compute_pooled_features(
            model, tokenizer, [remove_random_words(text, dropout) for text in words], device, report
        )
        for _ in range(MASKS)
    ]
