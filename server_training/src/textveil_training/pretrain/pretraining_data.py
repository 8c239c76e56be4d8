"""Read texts for pretraining from several sources, and divide them into training and held-out texts."""

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from textveil_training.data import (
    FORMATS,
    ReadOptions,
    choose_share,
    get_format,
    list_splits,
    load_examples,
    read_release_terms,
)
from textveil_training.errors import DataOptionError, EmptyData, MissingSplit
from textveil_training.pretrain.aligned_corpus import AlignedCorpus, AlignedPairs, ModeTexts, StringPieces
from textveil_training.release_terms import format_release_terms
from textveil_training.token_randomizer import TokenRandomizer


@dataclass(frozen=True, slots=True)
class TextSource:
    """One file or folder of texts.

    Attributes:
        path: File or folder.
        format_name: A key of ``data.FORMATS``.
        splits: Splits to read; None for a file without splits.
    """

    path: Path = field(repr=False)
    format_name: str
    splits: tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class SourceTexts:
    """Texts read from one or several sources.

    Attributes:
        texts: All texts; the two texts of a pair are separate texts.
        descriptions: Format, split, number of texts and hash of each source, for the JSON record of a run.
        release: Mode, mechanism and epsilon of the sanitized corpus with these texts (``read_release_terms``); ``None``
            for raw texts.
    """

    texts: tuple[str, ...] = field(repr=False)
    descriptions: tuple[dict[str, object], ...]
    release: dict[str, Any] | None = None


def parse_source(given: str) -> TextSource:
    """Parse a value of the option ``--data``: ``PATH:FORMAT`` or ``PATH:FORMAT:SPLIT+SPLIT``.

    If no split is given and the data have named splits, only ``train`` is read: the dev and test splits of a task are
    read only if they are given.

    Args:
        given: Value of the option ``--data``.

    Raises:
        DataOptionError: The format is missing or unknown.
        MissingSplit: No split is given, and the data have no ``train`` split.
    """
    path, _, last = given.rpartition(":")
    if last in FORMATS:
        return _make_source(path, last, None)
    path, _, name = path.rpartition(":")
    if name in FORMATS and path:
        return _make_source(path, name, tuple(last.split("+")))
    raise DataOptionError(
        f"data must be given as PATH:FORMAT or PATH:FORMAT:SPLIT; the format must be one of {', '.join(FORMATS)}"
    )


def _make_source(path: str, format_name: str, splits: tuple[str, ...] | None) -> TextSource:
    if not path:
        raise DataOptionError("data must be given as PATH:FORMAT or PATH:FORMAT:SPLIT")
    if splits is None:
        there = list_splits(format_name, path)
        if there and "train" not in there:
            raise MissingSplit(f"there is no train split: name one of {', '.join(there)}, as in PATH:FORMAT:SPLIT")
        splits = ("train",) if there else None
    return TextSource(Path(path), format_name, splits)


def restore_wikitext(text: str) -> str:
    """Undo WikiText's tokenization: ``@-@`` becomes a hyphen, and ``<unk>`` is removed.

    One word in twenty of WikiText is ``<unk>``. A model trained on such text would mainly learn to predict ``<unk>``.
    """
    for mark in "-,.":
        text = text.replace(f" @{mark}@ ", mark)
    return " ".join(text.replace("<unk>", " ").split())


def read_texts(sources: Sequence[TextSource], text_key: str = "text") -> SourceTexts:
    """Read all texts of several sources.

    Args:
        sources: Files and folders to read.
        text_key: Key of the text (format ``jsonl``).

    Raises:
        DataError: A file cannot be read or is malformed, or it does not match the record of a sanitized corpus in its
            folder (see ``read_release_terms``).
        DataOptionError: The sources were sanitized with different modes, mechanisms or epsilons.
    """
    releases = [read_release_terms(source.format_name, source.path) for source in sources]
    for number, release in enumerate(releases, 1):
        if release != releases[0]:
            first, other = format_release_terms(releases[0]), format_release_terms(release)
            which = f"{first} and {other}" if first != other else f"{first} under different options"
            raise DataOptionError(f"data 1 and {number} are {which}: pass data of one release")
    texts: list[str] = []
    described: list[dict[str, object]] = []
    for source in sources:
        keyed = get_format(source.format_name).has_named_columns
        options = ReadOptions(text_key=text_key, label_key=None) if keyed else ReadOptions()
        for split in source.splits or (None,):
            rows = load_examples(source.format_name, source.path, split, options)
            found = [text for row in rows for text in row.texts]
            if source.format_name == "wikitext":
                found = [restore_wikitext(text) for text in found]
            digest = hashlib.sha256()
            for text in found:
                digest.update(text.encode("utf-8", "surrogatepass") + b"\n")
            entry = {"format": source.format_name, "split": split, "texts": len(found), "sha256": digest.hexdigest()}
            described.append(entry)
            texts += found
    return SourceTexts(tuple(texts), tuple(described), releases[0] if releases else None)


MEASURED_AT_MOST = 2000
"""Number of held-out texts that are used for measurements."""


@dataclass(frozen=True, slots=True)
class PretrainingData:
    """Training and held-out texts, divided by the hash of each text.

    Equal texts are never divided between both.

    Attributes:
        train: Training texts.
        held_out: Texts for measurements.
        description: Sources, sizes and hashes, without texts, for the JSON record of a run.
    """

    train: AlignedCorpus = field(repr=False)
    held_out: AlignedCorpus = field(repr=False)
    description: Mapping[str, object]


def split_pretraining_texts(
    texts: SourceTexts, percent: int, seed: int, strings: StringPieces, randomizer: TokenRandomizer | ModeTexts | None
) -> PretrainingData:
    """Divide texts into training and held-out texts, and convert both to items (words and punctuation).

    Args:
        texts: The texts.
        percent: Share of held-out texts in percent.
        seed: Seed of the division.
        strings: Table that collects the ids and WordPieces of all items.
        randomizer: Mechanism whose tokenization to use, or mode that sanitizes whole texts; ``None`` to tokenize only.

    Raises:
        EmptyData: There is no training text, or no held-out text, with a word.
    """
    shares = {"held out": percent, "train": 100 - percent}
    parts: dict[str, list[str]] = {name: [] for name in shares}
    for text in texts.texts:
        parts[choose_share(text, shares, seed)].append(text)
    away = parts["held out"]
    measured = away[:: math.ceil(len(away) / MEASURED_AT_MOST) or 1]
    if isinstance(randomizer, ModeTexts):
        train, held_out = (AlignedPairs(some, strings, randomizer) for some in (parts["train"], measured))
    else:
        train, held_out = (AlignedCorpus(some, strings, randomizer) for some in (parts["train"], measured))
    if not len(train) or not len(held_out):
        raise EmptyData("there are too few texts with words for a training and a held-out part: add texts")
    description = {
        "sources": list(texts.descriptions),
        "train": {"texts": len(train), "pieces": int(train.lengths.sum())},
        "held_out": {"texts": len(away), "measured": len(held_out)},
    }
    return PretrainingData(train, held_out, description)


def compute_log_frequencies(corpus: AlignedCorpus, strings: StringPieces, vocabulary: int) -> Tensor:
    """Compute the log frequency of each WordPiece in the words of a corpus, shape ``(vocabulary,)``.

    The function adds one to each count, so that no logarithm is infinite.

    Args:
        corpus: The corpus.
        strings: Table of the WordPieces of all items (words and punctuation strings).
        vocabulary: Number of WordPieces.
    """
    flat, begins = strings.flat_pieces
    words = np.bincount(corpus.items[corpus.words], minlength=len(begins) - 1)
    counts = 1 + np.bincount(flat, np.repeat(words, np.diff(begins)), minlength=vocabulary)
    return torch.from_numpy(np.log(counts / counts.sum()))
