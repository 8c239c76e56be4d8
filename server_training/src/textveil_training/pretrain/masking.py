"""Mask whole words as in BERT, with the WordPieces of the original word as targets.

A word is chosen with probability .15. Of the chosen words, 80 % become [MASK] piece by piece, 10 % become WordPieces
that are sampled uniformly from the vocabulary, and 10 % are unchanged (Devlin et al. 2019, section 3.1). The target at
WordPiece j of a chosen word of the SANITIZED text is WordPiece j of the word in its ORIGINAL (Yue et al. 2021, section
4.3), up to the length of the shorter one.

The share of unchanged words is a setting. With a larger share the model also learns to infer the original of a
sanitized word that it sees, besides predicting masked words. Of the other chosen words, eight in nine become [MASK] for
any share.
"""

from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor

from textveil_training.engine.tokens import EncoderTokenizer
from textveil_training.pretrain.aligned_corpus import BoolArray, IntArray, StringPieces, expand_ranges

IGNORED = -100
MASKED = 8 / 9
"""Share of the chosen and changed words that become [MASK]; the others become random WordPieces."""


@dataclass(frozen=True, slots=True)
class MaskedBatch:
    """A batch of masked texts; all tensors are int64 of shape ``(texts, tokens)``.

    Attributes:
        ids: WordPieces that are the input of the model.
        mask: 1 for a WordPiece, 0 for padding.
        targets: Original WordPiece at positions that the model must predict, ``IGNORED`` at all others.
    """

    ids: Tensor = field(repr=False)
    mask: Tensor = field(repr=False)
    targets: Tensor = field(repr=False)

    def take_part(self, number: int, parts: int) -> "MaskedBatch":
        """Return every ``parts``-th text from the text ``number`` on, without columns that contain only padding.

        If there is no such text, the result is text 0 with its targets removed, since every process must compute each
        step.

        Args:
            number: Index of the first text, from 0.
            parts: Number of parts into which the batch is divided.
        """
        if number >= len(self.ids):
            return MaskedBatch(self.ids[:1], self.mask[:1], torch.full_like(self.targets[:1], IGNORED))
        mask = self.mask[number::parts]
        end = int(mask.sum(1).max())
        return MaskedBatch(self.ids[number::parts, :end], mask[:, :end], self.targets[number::parts, :end])

    def to(self, device: torch.device) -> "MaskedBatch":
        """Return a copy of the batch on a device."""
        return MaskedBatch(self.ids.to(device), self.mask.to(device), self.targets.to(device))


class Masker:
    """Function object that creates batches of texts in which random words are masked.

    Args:
        tokenizer: Tokenizer of the encoder, for special symbols and the maximum length.
        strings: Table of the WordPieces of all items (words and punctuation strings).
        probability: Probability with which a word is chosen.
        vocabulary: Number of WordPieces of the vocabulary, for random replacements.
        unchanged: Share of the chosen words that are not replaced.
    """

    def __init__(
        self,
        tokenizer: EncoderTokenizer,
        strings: StringPieces,
        probability: float,
        vocabulary: int,
        unchanged: float = 0.1,
    ) -> None:
        self._tokenizer, self._strings = tokenizer, strings
        self._probability, self._vocabulary, self._unchanged = probability, vocabulary, unchanged

    def __call__(
        self,
        shown: IntArray,
        original: IntArray,
        words: BoolArray,
        counts: IntArray,
        generator: torch.Generator | None = None,
        *,
        only_masks: bool = False,
    ) -> MaskedBatch:
        """Create a batch in which random words are masked.

        Args:
            shown: Words and punctuation strings (*items*) of the texts that are the input of the model, text after
                text.
            original: Items of the original texts.
            words: True for items that are words.
            counts: Number of items of each text.
            generator: Random generator of the masks; ``None`` for PyTorch's global one.
            only_masks: Whether all chosen words become [MASK], as measurements require.
        """
        flat, begins = self._strings.flat_pieces
        sizes = np.diff(begins)
        item = np.repeat(np.arange(len(shown)), sizes[shown])
        first = np.cumsum(sizes[shown]) - sizes[shown]
        within = np.arange(len(item)) - first[item]
        pieces = flat[expand_ranges(begins[shown], sizes[shown])]
        text = np.repeat(np.arange(len(counts)), counts)[item]
        lengths = np.bincount(text, minlength=len(counts))
        column = np.arange(len(item)) - (np.cumsum(lengths) - lengths)[text]

        coins = torch.rand(2, len(shown), generator=generator).numpy()
        noise = torch.randint(self._vocabulary, (len(item),), generator=generator).numpy()
        chosen = (words & (coins[0] < self._probability))[item]
        action = np.zeros(len(item)) if only_masks else coins[1][item]
        hidden = 1.0 if only_masks else 1 - self._unchanged
        read = np.where(chosen & (action < hidden), noise, pieces)
        read = np.where(chosen & (action < hidden * MASKED), self._tokenizer.mask, read)
        asked = chosen & (within < sizes[original][item])
        targets = np.full(len(item), IGNORED)
        targets[asked] = flat[begins[original][item[asked]] + within[asked]]
        targets[targets == self._tokenizer.ids["[UNK]"]] = IGNORED

        kept = column < self._tokenizer.max_tokens - 2
        ends = np.minimum(lengths, self._tokenizer.max_tokens - 2) + 1
        shape = len(counts), int(ends.max()) + 1
        ids, wanted = np.full(shape, self._tokenizer.padding), np.full(shape, IGNORED)
        ids[text[kept], column[kept] + 1] = read[kept]
        wanted[text[kept], column[kept] + 1] = targets[kept]
        ids[:, 0], ids[np.arange(len(counts)), ends] = self._tokenizer.first, self._tokenizer.last
        mask = (np.arange(shape[1]) <= ends[:, None]).astype(np.int64)
        return MaskedBatch(torch.from_numpy(ids), torch.from_numpy(mask), torch.from_numpy(wanted))
