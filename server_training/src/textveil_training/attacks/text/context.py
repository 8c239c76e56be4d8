"""Texts as a masked language model reads them, with one token after the other replaced by [MASK].

The attacker sees the sanitised text with its gaps and token boundaries. A token of any number of pieces is replaced
by a single [MASK]; how many pieces the original had, the attacker does not know. Where the bundle's tokens are
WordPieces they are the model's own, one to one. A text that is too long is cut around the [MASK].
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache

import torch
from torch import Tensor

from textveil_training.attacks.text.released import Released
from textveil_training.engine.tokens import Tokenizer
from textveil_training.errors import CheckpointError, EncoderMismatch, SettingError
from textveil_training.pretrain.network import LoadedMaskedLM, load_masked_lm
from textveil_training.text_channel import Ids, TextChannel, Tokens

Pieces = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Masked:
    """A text with one [MASK].

    Attributes:
        pieces: Ids with [CLS] and [SEP], shape ``(length,)``.
        at: Where the [MASK] is.
    """

    pieces: Tensor = field(repr=False)
    at: int


class Reader:
    """A masked language model, and the tokens of a bundle in its pieces.

    Args:
        channel: The bundle.
        source: The model: ``minilm``, a folder, or the id of a model on a hub.
        max_tokens: Longer texts are cut around the [MASK], [CLS] and [SEP] counted.

    Attributes:
        loaded: The model.
        tokeniser: Its pieces.

    Raises:
        CheckpointError: It cannot be loaded, or its head is not trained.
        EncoderMismatch: The bundle's pieces are not the model's, or the model is cased.
        SettingError: The model reads no texts of that length.
    """

    def __init__(self, channel: TextChannel, source: str, max_tokens: int) -> None:
        self.loaded: LoadedMaskedLM = load_masked_lm(source)
        if self.loaded.new_head:
            raise CheckpointError("that model has no trained head to predict words with: pretrain it first")
        if not self.loaded.lowercase:  # it would answer in capitals what is asked for in lower case
            raise EncoderMismatch("sanitised words are lower case here, and that masked language model is cased")
        if max_tokens > self.loaded.model.config.max_position_embeddings:
            raise SettingError("max_tokens is more than the masked language model can read")
        self.tokeniser = Tokenizer(self.loaded.vocabulary, lowercase=self.loaded.lowercase, max_tokens=max_tokens)
        if channel.pieces and not channel.bundle.ids.keys() <= self.tokeniser.ids.keys():
            raise EncoderMismatch("the bundle's pieces are not those of the masked language model")
        self._channel = channel
        self.spelled = cache(self._spelled)

    def _spelled(self, text: str) -> Pieces:
        """The pieces of a spelling, or of a gap."""
        return tuple(self.tokeniser.words(text).pieces.tolist())

    def symbol(self, spelling: str) -> Pieces:
        """The pieces of a symbol of the bundle's vocabulary."""
        return (self.tokeniser.ids[spelling],) if self._channel.pieces else self.spelled(spelling)

    def originals(self, text: Tokens) -> list[Pieces]:
        """The pieces of every token as the text has it, unknown words too."""
        unknown, pairs = self._channel.unknown, zip(text.inputs.tolist(), text.spelled, strict=True)
        if not self._channel.pieces:
            return [self.spelled(spelling) for _, spelling in pairs]
        return [
            self.spelled(spelling) if token == unknown else self.symbol(self._channel.spell(token))
            for token, spelling in pairs
        ]

    def drawn(self, outputs: Ids) -> list[Pieces]:
        """The pieces of every output of a text."""
        return [self.symbol(self._channel.spell(token)) for token in outputs.tolist()]

    def masked(self, text: Tokens, tokens: Sequence[Pieces], place: int) -> Masked:
        """A text with one token replaced by [MASK].

        Args:
            text: Its gaps stand between the tokens.
            tokens: The pieces of each token.
            place: Which token is replaced.
        """
        row: list[int] = []
        at = 0
        for number, (gap, pieces) in enumerate(zip(text.gaps, tokens, strict=False)):
            row += self.spelled(gap)
            if number == place:
                at = len(row)
                row.append(self.tokeniser.mask)
            else:
                row += pieces
        row += self.spelled(text.gaps[-1])
        room = self.tokeniser.max_tokens - 2
        start = max(0, min(at - room // 2, len(row) - room))
        window = row[start : start + room]
        return Masked(torch.tensor([self.tokeniser.first, *window, self.tokeniser.last]), at - start + 1)

    def variants(self, released: Released, sample: Ids, *, clean: bool) -> list[Masked]:
        """One text for every token of a sample, that token replaced by [MASK].

        Args:
            released: Texts and outputs.
            sample: Tokens.
            clean: In the texts as they were; else in what came out.
        """
        found: list[Masked] = []
        of_text, tokens = -1, []
        for text, place in zip(released.text[sample].tolist(), released.place[sample].tolist(), strict=True):
            if text != of_text:
                of_text = text
                tokens = self.originals(released.texts[text]) if clean else self.drawn(released.drawn[text])
            found.append(self.masked(released.texts[text], tokens, place))
        return found

    def logits(
        self,
        variants: Sequence[Masked],
        *,
        batch: int,
        device: torch.device,
        precision: str,
        report: Callable[[int, int], None],
    ) -> Iterator[tuple[Tensor, Tensor]]:
        """What the model makes of each [MASK].

        Args:
            variants: The texts.
            batch: Texts at a time, those of like length together.
            device: Where the model runs; it is moved there.
            precision: ``float32`` or ``bfloat16`` in the encoder.
            report: Called with texts done and texts in all.

        Yields:
            Numbers of some variants, shape ``(n,)``, and logits of all pieces, float32, shape ``(n, vocabulary)``.
        """
        model = self.loaded.model.to(device)
        order = torch.tensor([len(variant.pieces) for variant in variants]).argsort(stable=True)
        done = 0
        for chosen in order.split(batch):
            some = [variants[number] for number in chosen.tolist()]
            pad = torch.nn.utils.rnn.pad_sequence
            ids = pad([text.pieces for text in some], batch_first=True, padding_value=self.tokeniser.padding)
            mask = pad([torch.ones_like(text.pieces) for text in some], batch_first=True)
            at = torch.tensor([text.at for text in some])
            with torch.inference_mode(), torch.autocast(device.type, torch.bfloat16, enabled=precision == "bfloat16"):
                hidden = model.hidden(ids.to(device), mask.to(device))[torch.arange(len(some)), at]
                logits = model.logits(hidden).float().cpu()
            yield chosen, logits
            done += len(some)
            report(done, len(variants))
