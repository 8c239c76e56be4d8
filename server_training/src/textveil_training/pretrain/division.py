"""Which texts are trained on and which are held out, as an encoder reads them."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor

from textveil_training.data import share_of
from textveil_training.errors import EmptyData
from textveil_training.pretrain.aligned_corpus import Corpus, Strings
from textveil_training.pretrain.sources import Texts
from textveil_training.token_randomizer import TextChannel

MEASURED_AT_MOST = 2000
"""Texts held out that are measured on; the others are left alone."""


@dataclass(frozen=True, slots=True)
class Division:
    """Texts divided by their hash, so that equal texts are on one side.

    Attributes:
        train: Texts that are trained on.
        held_out: Texts that are measured on.
        described: Sources, sizes and hashes, for a record; no text.
    """

    train: Corpus = field(repr=False)
    held_out: Corpus = field(repr=False)
    described: Mapping[str, object]


def divided(texts: Texts, percent: int, seed: int, strings: Strings, channel: TextChannel | None) -> Division:
    """Divides texts and reads them.

    Args:
        texts: The texts.
        percent: Share that is held out.
        seed: Seed of the division; another seed holds out others.
        strings: Strings of the encoder.
        channel: Reads words as this mechanism does; None to read words alone.

    Raises:
        EmptyData: No text with a word is left on a side.
    """
    shares = {"held out": percent, "train": 100 - percent}
    parts: dict[str, list[str]] = {name: [] for name in shares}
    for text in texts.texts:
        parts[share_of(text, shares, seed)].append(text)
    away = parts["held out"]
    train = Corpus(parts["train"], strings, channel)
    held_out = Corpus(away[:: math.ceil(len(away) / MEASURED_AT_MOST) or 1], strings, channel)
    if not len(train) or not len(held_out):
        raise EmptyData("there are too few texts with words in them to train on and to hold some out")
    described = {
        "sources": list(texts.described),
        "train": {"texts": len(train), "pieces": int(train.lengths.sum())},
        "held_out": {"texts": len(away), "measured": len(held_out)},
    }
    return Division(train, held_out, described)


def log_frequencies(corpus: Corpus, strings: Strings, vocabulary: int) -> Tensor:
    """Returns the log frequency of each piece in the words of a corpus, one added to each count: ``(vocabulary,)``."""
    flat, begins = strings.flat
    words = np.bincount(corpus.items[corpus.words], minlength=len(begins) - 1)
    counts = 1 + np.bincount(flat, np.repeat(words, np.diff(begins)), minlength=vocabulary)
    return torch.from_numpy(np.log(counts / counts.sum()))
