"""Convert texts to input of a masked language model, with [MASK] in place of one token at a time.

The attacker sees the sanitized text with token boundaries and gaps (the text between two tokens). A single [MASK]
replaces a token of any number of WordPieces, since the attacker does not know how many the original had. A text that is
too long is cut around the [MASK].
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Protocol

import torch
from torch import Tensor

from textveil_training.attacks.text.released import ReleasedTexts
from textveil_training.engine.tokens import EncoderTokenizer
from textveil_training.errors import CheckpointError, EncoderMismatch, SettingError
from textveil_training.pretrain.masked_lm import LoadedMaskedLM, load_masked_lm
from textveil_training.token_randomizer import Ids, TokenizedText, TokenRandomizer

Pieces = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class MaskedText:
    """A text in which [MASK] replaces one token.

    Attributes:
        pieces: WordPiece ids with [CLS] and [SEP], shape ``(length,)``.
        at: Position of the [MASK] in ``pieces``.
    """

    pieces: Tensor = field(repr=False)
    at: int


class TextWithGaps(Protocol):
    """Interface of texts that have gaps: the strings between the tokens, which sanitizing does not change."""

    @property
    def gaps(self) -> tuple[str, ...]:
        """Return the text before each token and after the last one."""
        ...


class MaskedLMReader:
    """A masked language model that predicts the tokens of sanitized texts.

    Args:
        randomizer: The mechanism that sanitized the texts, to attack single tokens; ``None`` to attack the replaced
            words of the modes 'names', 'words' and 'all'.
        source: The model: ``minilm``, a folder, or the id of a model on Hugging Face.
        max_tokens: Maximum number of WordPieces of a text, including [CLS] and [SEP]; a longer text is cut around the
            [MASK].

    Attributes:
        loaded: The model and its vocabulary.
        tokenizer: Tokenizer of the model.

    Raises:
        CheckpointError: The model cannot be loaded, or its head is not trained.
        EncoderMismatch: The model distinguishes upper and lower case.
        SettingError: The model cannot read texts of that length.
    """

    def __init__(self, randomizer: TokenRandomizer | None, source: str, max_tokens: int) -> None:
        self.loaded: LoadedMaskedLM = load_masked_lm(source)
        if self.loaded.new_head:
            raise CheckpointError(
                "the model of --model has no trained head that predicts words: train it with textveil-train pretrain "
                "first"
            )
        if not self.loaded.lowercase:  # its predictions could have capitals
            raise EncoderMismatch(
                "the masked language model distinguishes case, but sanitized words are in lower case: pass an "
                "uncased model"
            )
        if max_tokens > self.loaded.model.config.max_position_embeddings:
            raise SettingError(
                "--max-tokens exceeds the number of positions of the masked language model: use a smaller value"
            )
        self.tokenizer = EncoderTokenizer(
            self.loaded.vocabulary, lowercase=self.loaded.lowercase, max_tokens=max_tokens
        )
        self._randomizer = randomizer
        self.get_pieces = cache(self._compute_pieces)

    def _compute_pieces(self, text: str) -> Pieces:
        """Return the model's WordPieces of a word or of a gap between tokens."""
        return tuple(self.tokenizer.split_into_pieces(text).pieces.tolist())

    def get_original_pieces(self, text: TokenizedText) -> list[Pieces]:
        """Return the model's WordPieces of every original token, unknown words included."""
        return [self.get_pieces(spelling) for spelling in text.spellings]

    def get_output_pieces(self, outputs: Ids) -> list[Pieces]:
        """Return the model's WordPieces of every output token of a text."""
        assert self._randomizer is not None  # callers with tokens always pass a mechanism
        return [self.get_pieces(self._randomizer.spell_token(token)) for token in outputs.tolist()]

    def mask_token(self, text: TextWithGaps, tokens: Sequence[Pieces], position: int) -> MaskedText:
        """Replace one token of a text by [MASK].

        Args:
            text: The text, for its gaps between tokens.
            tokens: WordPieces of each token.
            position: Position of the token to replace.
        """
        row: list[int] = []
        at = 0
        for number, (gap, pieces) in enumerate(zip(text.gaps, tokens, strict=False)):
            row += self.get_pieces(gap)
            if number == position:
                at = len(row)
                row.append(self.tokenizer.mask)
            else:
                row += pieces
        row += self.get_pieces(text.gaps[-1])
        room = self.tokenizer.max_tokens - 2
        start = max(0, min(at - room // 2, len(row) - room))
        window = row[start : start + room]
        return MaskedText(torch.tensor([self.tokenizer.first, *window, self.tokenizer.last]), at - start + 1)

    def make_variants(self, released: ReleasedTexts, sample: Ids, *, clean: bool) -> list[MaskedText]:
        """Return one text for each attacked token, in which [MASK] replaces this token.

        Args:
            released: Raw texts with one sanitized output each.
            sample: Indices of the tokens.
            clean: Whether to use the raw texts; otherwise the sanitized ones.
        """
        found: list[MaskedText] = []
        of_text, tokens = -1, []
        for text, position in zip(released.text[sample].tolist(), released.position[sample].tolist(), strict=True):
            if text != of_text:
                of_text = text
                tokens = (
                    self.get_original_pieces(released.texts[text])
                    if clean
                    else self.get_output_pieces(released.outputs_by_text[text])
                )
            found.append(self.mask_token(released.texts[text], tokens, position))
        return found

    def predict_pieces(
        self,
        variants: Sequence[MaskedText],
        *,
        batch_size: int,
        device: torch.device,
        precision: str,
        report: Callable[[int, int], None],
    ) -> Iterator[tuple[Tensor, Tensor]]:
        """Predict the WordPiece at each [MASK].

        Args:
            variants: Texts in which one token is replaced by [MASK].
            batch_size: Texts at a time; texts of similar length are in one batch.
            device: Device on which the model runs; the function moves the model there.
            precision: Precision of the encoder, ``float32`` or ``bfloat16``.
            report: Called with the number of finished texts and the total.

        Yields:
            Indices of some variants, shape ``(n,)``, and logits of all WordPieces, float32, shape ``(n, vocabulary)``.
        """
        model = self.loaded.model.to(device)
        order = torch.tensor([len(variant.pieces) for variant in variants]).argsort(stable=True)
        done = 0
        for chosen in order.split(batch_size):
            some = [variants[number] for number in chosen.tolist()]
            pad = torch.nn.utils.rnn.pad_sequence
            ids = pad([text.pieces for text in some], batch_first=True, padding_value=self.tokenizer.padding)
            mask = pad([torch.ones_like(text.pieces) for text in some], batch_first=True)
            at = torch.tensor([text.at for text in some])
            with torch.inference_mode(), torch.autocast(device.type, torch.bfloat16, enabled=precision == "bfloat16"):
                hidden = model.compute_hidden(ids.to(device), mask.to(device))[torch.arange(len(some)), at]
                logits = model.compute_logits(hidden).float().cpu()
            yield chosen, logits
            done += len(some)
            report(done, len(variants))
