"""From texts to what an encoder reads: one sequence a text, or both texts of a pair in one."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from textveil_training.engine.tokens import Tokenizer


@dataclass(frozen=True, slots=True)
class Encoded:
    """A sequence with [CLS] and [SEP].

    Attributes:
        pieces: Ids, shape ``(length,)``.
        types: 0 for the first text, 1 for the second, shape ``(length,)``.
    """

    pieces: Tensor = field(repr=False)
    types: Tensor = field(repr=False)


def joined(tokenizer: Tokenizer, texts: Sequence[str]) -> Encoded:
    """Returns ``[CLS] a [SEP]``, or ``[CLS] a [SEP] b [SEP]``, cut to the tokenizer's length, the longer text first."""
    parts = [tokenizer.words(text).pieces.tolist() for text in texts]
    room = tokenizer.max_tokens - 1 - len(parts)
    while sum(map(len, parts)) > room:
        longest = max(parts, key=len)
        excess = sum(map(len, parts)) - room
        second = max((len(part) for part in parts if part is not longest), default=0)
        del longest[max(len(longest) - excess, min(second, len(longest) - 1)) :]
    pieces, types = [tokenizer.first], [0]
    for number, part in enumerate(parts):
        pieces += [*part, tokenizer.last]
        types += [number] * (len(part) + 1)
    return Encoded(torch.tensor(pieces), torch.tensor(types))


def padded(sequences: Sequence[Encoded], padding: int) -> tuple[Tensor, Tensor, Tensor]:
    """Returns ids, attention mask and types of a batch, padded to the longest; int64, shape ``(rows, tokens)``."""
    pad = torch.nn.utils.rnn.pad_sequence
    ids = pad([sequence.pieces for sequence in sequences], batch_first=True, padding_value=padding)
    mask = pad([torch.ones_like(sequence.pieces) for sequence in sequences], batch_first=True)
    return ids, mask, pad([sequence.types for sequence in sequences], batch_first=True)
