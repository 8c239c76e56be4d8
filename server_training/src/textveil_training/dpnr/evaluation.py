"""A checkpoint on data: texts through encoder, bound and the device's release, then the classifier."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from textveil.mechanisms.noise import WordDropout
from torch import Tensor

from textveil_training.data import ReadOptions
from textveil_training.dpnr import checkpoint as files
from textveil_training.dpnr.checkpoint import Description
from textveil_training.dpnr.classification_data import Split, load_split
from textveil_training.dpnr.features import pooled_features, read_features
from textveil_training.dpnr.measure import DRAWS, measured
from textveil_training.dpnr.networks import Model
from textveil_training.engine.encoders import device_named
from textveil_training.engine.tokens import Tokenizer, Words
from textveil_training.errors import CheckpointError
from textveil_training.file_hashes import sha256
from textveil_training.progress import Report, no_report

MASKS = 5
"""Sets of removed words per text in a measurement with word dropout; the noise draws are shared out among them."""


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
    report: Report = no_report,
) -> dict[str, Any]:
    """Opens a checkpoint and measures it.

    Args:
        folder: Folder of the checkpoint.
        data: File or folder of the data.
        format_name: Format of the data.
        split: Split of the data; None for the whole of a file that is one split.
        options: Choices that the format leaves.
        levels: Whole-text epsilons; the checkpoint's if left out.
        word_dropout: Decimal string; the checkpoint's if left out.
        draws: Number of noise draws per text.
        device: ``cpu`` or a CUDA device.
        report: Called with progress.

    Returns:
        As ``measure.measured``.

    Raises:
        CheckpointError: The checkpoint cannot be used.
        DataError: The data cannot be read.
        EmptyClass: The data have a class that the checkpoint does not know.
        DeviceError: The device is not there.
        OptionError: An epsilon or word dropout that cannot be.
    """
    place = device_named(device)
    model, description = files.read_checkpoint(folder)
    if levels and description.mode == "none":
        raise CheckpointError("the checkpoint was trained without privacy: it has no epsilon")
    if word_dropout is not None:
        description = replace(description, word_dropout=word_dropout)
    part = load_split(format_name, data, split, description.labels, options)
    model.to(place)
    features = features_of(folder, model, description, part, split, device=device, report=report)
    return measured(model, description, features, part, levels=levels, draws=draws)


def features_of(
    folder: Path,
    model: Model,
    description: Description,
    part: Split,
    split: str | None,
    *,
    device: str = "cpu",
    report: Report = no_report,
) -> list[Tensor]:
    """Returns pooled vectors of a split, as ``device_features``, or those that a training left in the folder.

    Args:
        folder: The checkpoint.
        model: Its networks, on the device.
        description: What they are.
        part: The split.
        split: Its name.
        device: Device that the networks are on.
        report: Called with progress.

    Raises:
        CheckpointError: The checkpoint cannot be used.
        DeviceError: The device is not there.
    """
    dropout = WordDropout(description.word_dropout)
    stored = folder / f"features-{split}.safetensors"
    if not dropout.exact and stored.is_file():
        try:
            return [read_features(stored, part, sha256(folder / files.EXTRACTOR / "model.safetensors"))]
        except CheckpointError:  # of other texts, or of another encoder: they are computed
            pass
    tokenizer = Tokenizer(folder / files.VOCABULARY, lowercase=description.lowercase, max_tokens=description.max_tokens)
    words = [tokenizer.words(text) for text in part.texts]
    return device_features(model, tokenizer, words, dropout, device_named(device), report)


def device_features(
    model: Model,
    tokenizer: Tokenizer,
    words: list[Words],
    dropout: WordDropout,
    device: torch.device,
    report: Report = no_report,
) -> list[Tensor]:
    """Computes pooled vectors as devices do: once, or for ``MASKS`` sets of words removed by the device's own coins.

    Args:
        model: The networks.
        tokenizer: Tokenizer of the encoder's vocabulary.
        words: The texts in pieces.
        dropout: Word dropout.
        device: Device that the networks are on.
        report: Called with progress.

    Returns:
        One matrix, or ``MASKS`` of them.
    """
    if not dropout.exact:
        return [pooled_features(model, tokenizer, words, device, report)]
    return [
        pooled_features(model, tokenizer, [removed(text, dropout) for text in words], device, report)
        for _ in range(MASKS)
    ]


def removed(text: Words, dropout: WordDropout) -> Words:
    """Returns a text without the pieces of the words that one draw of word dropout removes."""
    if not len(text.pieces):
        return text
    stays = torch.from_numpy(~dropout.dropped(int(text.word[-1]) + 1))[text.word]
    return Words(text.pieces[stays], text.word[stays])
