"""MiniLM as the body of a denoiser: an encoder that reads elements, and is tuned to name the hidden ones.

It reads a text element by element, not piece by piece: a text of 20 words is 22 vectors. The vector of a word is the
mean of its WordPieces' embeddings, which stay as they are. The encoder's weights come from a package; what is learned
here is not kept.
"""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn

from textveil_training.attacks.words.denoiser import LONGEST, Denoiser, Drawn
from textveil_training.attacks.words.denoiser import train as train_denoiser
from textveil_training.engine.encoders import MINILM, load_encoder, precision_for
from textveil_training.engine.tokens import Tokenizer

_DROP = 0.1
_BATCH = 1024
_RATE, _NEW_RATE = 1e-4, 1e-3


class ElementEncoder(nn.Module):
    """MiniLM over elements instead of pieces.

    Args:
        spelled: Words by number.

    Attributes:
        pieces: A vector for each word, standardized; in a last row that of [MASK].
        width: Their size.
    """

    def __init__(self, spelled: Sequence[str]) -> None:
        super().__init__()
        self.encoder, vocabulary, lowercase = load_encoder(MINILM, _DROP)
        table: Tensor = self.encoder.embeddings.word_embeddings.weight.detach()  # type: ignore[union-attr]
        tokenizer = Tokenizer(vocabulary, lowercase=lowercase, max_tokens=LONGEST)
        means = [table[tokenizer.words(word).pieces].mean(dim=0) for word in spelled]
        self._size = table.std()
        self._ends = table[[tokenizer.first, tokenizer.last]]
        # What has no piece, a control character say, is as unknown as a hidden word.
        self.pieces = torch.stack([*means, table[tokenizer.mask]]).nan_to_num() / self._size
        self.width = self.pieces.shape[1]
        self.dense, self.norm = nn.Linear(self.width, self.width), nn.LayerNorm(self.width)
        nn.init.eye_(self.dense.weight)
        self._bfloat16 = precision_for("bfloat16", self.pieces.device) == "bfloat16"

    def forward(self, embedded: Tensor, there: Tensor) -> Tensor:
        """Returns what the encoder makes of each element.

        Args:
            embedded: Vectors like ``pieces``, shape ``(texts, length, width)``.
            there: Which places are not padding, shape ``(texts, length)``.
        """
        first, last = (end.expand(len(embedded), 1, -1) for end in self._ends)
        inside = torch.ones(len(there), 1, dtype=torch.bool)
        mask = torch.cat([inside, there, inside], dim=1).long()
        read = torch.cat([first, embedded * self._size, last], dim=1)
        with torch.autocast("cpu", torch.bfloat16, enabled=self._bfloat16):
            states = self.encoder(inputs_embeds=read, attention_mask=mask).last_hidden_state[:, 1:-1]
        return self.norm(nn.functional.gelu(self.dense(states.float())))


def train(spelled: Sequence[str], draws: Sequence[Callable[[], Sequence[Drawn]]]) -> Denoiser:
    """Tunes MiniLM on elements whose word is among the candidates.

    Args:
        spelled: Words by number.
        draws: Each makes draws of some texts.
    """
    body = ElementEncoder(spelled)
    network = Denoiser(body.pieces, body, learned=False)
    return train_denoiser(network, draws, _peak, batch=_BATCH)


def _peak(name: str) -> float | None:
    """The highest rate of a parameter: that of the package, or of what is new; words' embeddings stay."""
    if name.endswith("word_embeddings.weight"):
        return None
    return _RATE if name.startswith("body.encoder.") else _NEW_RATE
