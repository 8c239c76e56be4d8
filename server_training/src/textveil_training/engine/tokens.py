"""Split texts into WordPieces, as devices do, and form batches of texts of similar length."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import torch
from textveil.vector import WordPiece
from torch import Tensor

from textveil_training.errors import CheckpointError

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


class PieceSequence(Protocol):
    """Interface of objects that have a sequence of WordPieces."""

    @property
    def pieces(self) -> Tensor:
        """WordPiece ids, shape ``(length,)``."""
        ...


@dataclass(frozen=True, slots=True)
class TextPieces:
    """The WordPieces of one text, word by word, without [CLS] and [SEP].

    Attributes:
        pieces: Ids of the WordPieces of all words, shape ``(length,)``.
        word_numbers: For each WordPiece the index of its word, ascending from 0, shape ``(length,)``.
    """

    pieces: Tensor = field(repr=False)
    word_numbers: Tensor = field(repr=False)

    def drop_words(self, dropout: float) -> "TextPieces":
        """Remove each word with probability ``dropout``, and join the remaining words.

        Privacy:
            No guarantee: the function is for training and uses PyTorch's global random generator.
        """
        if dropout == 0 or not len(self.pieces):
            return self
        kept = (torch.rand(int(self.word_numbers[-1]) + 1) >= dropout)[self.word_numbers]
        return TextPieces(self.pieces[kept], self.word_numbers[kept])


class EncoderTokenizer:
    """Tokenizer that splits texts into the WordPieces of an encoder's vocabulary file.

    Args:
        vocabulary: File ``vocab.txt``, with one WordPiece per line.
        lowercase: Whether the encoder is uncased.
        max_tokens: Maximum tokens, including [CLS] and [SEP]; longer texts are truncated.

    Attributes:
        ids: Id of every WordPiece, including special symbols.
        first, last, padding, mask: Ids of [CLS], [SEP], [PAD] and [MASK].

    Raises:
        CheckpointError: The vocabulary cannot be read or lacks a special symbol.
    """

    def __init__(self, vocabulary: Path, *, lowercase: bool, max_tokens: int) -> None:
        try:
            entries = vocabulary.read_text(encoding="utf-8").split("\n")
        except (OSError, UnicodeDecodeError) as error:
            raise CheckpointError("the vocabulary file (vocab.txt) cannot be read as UTF-8 text: restore it") from error
        ids = {piece.rstrip("\r"): number for number, piece in enumerate(entries) if piece.rstrip("\r")}
        missing = [symbol for symbol in SPECIAL if symbol not in ids]
        if missing:
            raise CheckpointError(
                f"the vocabulary (vocab.txt) has no {missing[0]}: use an encoder with a WordPiece vocabulary"
            )
        self.ids = ids
        self.first, self.last, self.padding, self.mask = (ids[s] for s in ("[CLS]", "[SEP]", "[PAD]", "[MASK]"))
        self.max_tokens = max_tokens
        self._unknown = [ids["[UNK]"]]
        self._reader = WordPiece(ids, lowercase=lowercase, special=SPECIAL)

    def split_into_pieces(self, text: str) -> TextPieces:
        """Split a text into WordPieces, word by word."""
        pieces: list[int] = []
        word: list[int] = []
        for number, token in enumerate(self._reader.split_basic_tokens(text)):
            word_pieces = self._reader.find_pieces(token)
            word_pieces = self._unknown if word_pieces is None else word_pieces
            pieces += word_pieces
            word += [number] * len(word_pieces)
        return TextPieces(torch.tensor(pieces, dtype=torch.int64), torch.tensor(word, dtype=torch.int64))

    def make_batch(self, texts: Sequence[TextPieces], dropout: float = 0.0) -> tuple[Tensor, Tensor]:
        """Build the input of an encoder from texts: WordPiece ids and attention mask.

        The function truncates long texts, adds [CLS] and [SEP], and pads to the longest text.

        Args:
            texts: The texts.
            dropout: Probability with which each word is removed before the text is truncated.

        Returns:
            Ids, and mask (1 for a WordPiece, 0 for padding), both int64 of shape ``(texts, tokens)``.
        """
        rows = [text.drop_words(dropout).pieces[: self.max_tokens - 2] for text in texts]
        ids = torch.full((len(rows), max(map(len, rows)) + 2), self.padding)
        mask = torch.zeros_like(ids)
        for index, row in enumerate(rows):
            end = len(row) + 1
            ids[index, 0], ids[index, 1:end], ids[index, end] = self.first, row, self.last
            mask[index, : end + 1] = 1
        return ids, mask


def make_length_batches(
    texts: Sequence[PieceSequence], size: int, generator: torch.Generator, window: int = 50
) -> list[Tensor]:
    """Divide texts into shuffled batches of similar length, so that little padding is needed.

    Args:
        texts: The texts.
        size: Texts per batch.
        generator: Random generator of the shuffle.
        window: Number of consecutive batches whose texts are sorted by length together.

    Returns:
        For each batch the indices of its texts; every text is in one batch.
    """
    return group_by_length(torch.tensor([len(text.pieces) for text in texts]), size, generator, window)


def group_by_length(lengths: Tensor, size: int, generator: torch.Generator, window: int = 50) -> list[Tensor]:
    """Divide texts into shuffled batches of similar length, given their lengths.

    Args:
        lengths: Length of each text, shape ``(texts,)``.
        size: Texts per batch.
        generator: Random generator of the shuffle.
        window: Number of consecutive batches whose texts are sorted by length together.

    Returns:
        For each batch the indices of its texts; every text is in one batch.
    """
    order = torch.randperm(len(lengths), generator=generator)
    batches: list[Tensor] = []
    for part in order.split(size * window):
        batches += part[lengths[part].argsort(stable=True)].split(size)
    return [batches[index] for index in torch.randperm(len(batches), generator=generator).tolist()]


def sort_by_length(texts: Sequence[PieceSequence], size: int) -> Iterator[Tensor]:
    """Sort texts by length, and yield batches of text indices; every text is in exactly one batch.

    Args:
        texts: WordPieces of each text.
        size: Number of texts in a batch.
    """
    lengths = torch.tensor([len(text.pieces) for text in texts])
    yield from lengths.argsort(stable=True).split(size)


def compute_vectors(
    texts: Sequence[PieceSequence],
    size: int,
    pooled: Callable[[Tensor], Tensor],
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Tensor:
    """Compute vectors of all texts in batches of similar length.

    Args:
        texts: The texts, at least one.
        size: Texts per batch.
        pooled: Function that computes the vectors of a batch, shape ``(batch, width)``, from the indices of its texts.
        progress: Called with the number of finished texts and the total.

    Returns:
        Vectors, shape ``(texts, width)``, in the order of the texts.
    """
    result: Tensor | None = None
    done = 0
    for batch in sort_by_length(texts, size):
        vectors = pooled(batch)
        result = vectors.new_zeros(len(texts), vectors.shape[1]) if result is None else result
        result[batch] = vectors
        done += len(batch)
        progress(done, len(texts))
    if result is None:
        raise ValueError("texts is empty: pass at least one text")
    return result
