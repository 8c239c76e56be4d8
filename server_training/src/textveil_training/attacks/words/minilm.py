"""MiniLM as the attacker: fine-tuned to name hidden words, from sanitized copies of known texts.

It reads a text element by element, not piece by piece: a text of 20 words is 22 vectors. A visible element is the mean
of its WordPieces' embeddings. A hidden one is what is believed to stand there, the mean of its candidates' embeddings
under the forward-backward posterior, and beside it what came out. The last hidden state of an element becomes a vector.
Its scalar products with the candidates are added to the logarithms of the posterior, the mechanism's exact probability
and the prior, as in ``network.py``. The encoder's weights come from a package; what is learned here is not kept.
"""

from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from textveil_training.attacks.words.network import Seen
from textveil_training.engine.encoders import MINILM, load_encoder
from textveil_training.engine.optimizer import adamw
from textveil_training.engine.tokens import Tokenizer

Ints = NDArray[Any]
Batch = TypeVar("Batch")
_DROP = 0.1
#: Elements of a batch, padding among them, and of a part of a text that is read at once.
_BATCH, _LONGEST = 1024, 128
_RATE, _NEW_RATE, _DECAY, _RISE, _MOST = 1e-4, 1e-3, 1e-2, 50, 1.0


class ElementEncoder(nn.Module):
    """MiniLM over elements instead of pieces.

    Args:
        spelled: Words by number.

    Attributes:
        pieces: A vector for each word, standardized; in a last row that of [MASK]. They stay as they are.
        width: Their size.
    """

    def __init__(self, spelled: Sequence[str]) -> None:
        super().__init__()
        self.encoder, vocabulary, lowercase = load_encoder(MINILM, _DROP)
        table: Tensor = self.encoder.embeddings.word_embeddings.weight.detach()  # type: ignore[union-attr]
        tokenizer = Tokenizer(vocabulary, lowercase=lowercase, max_tokens=_LONGEST)
        means = [table[tokenizer.words(word).pieces].mean(dim=0) for word in spelled]
        self._size = table.std()
        self._ends = table[[tokenizer.first, tokenizer.last]]
        # What has no piece, a control character say, is as unknown as a hidden word.
        self.pieces = torch.stack([*means, table[tokenizer.mask]]).nan_to_num() / self._size
        self.width = self.pieces.shape[1]
        self.dense, self.norm = nn.Linear(self.width, self.width), nn.LayerNorm(self.width)
        nn.init.eye_(self.dense.weight)

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
        states = self.encoder(inputs_embeds=read, attention_mask=mask).last_hidden_state[:, 1:-1]
        return self.norm(nn.functional.gelu(self.dense(states)))


class Reader(nn.Module):
    """Scores the candidates of hidden elements.

    Args:
        spelled: Words by number.
        vectors: Vectors of words, which stay as they are; zeros in the last row.
    """

    def __init__(self, spelled: Sequence[str], vectors: Tensor) -> None:
        super().__init__()
        self.encoder, self.vectors = ElementEncoder(spelled), vectors
        width = self.encoder.width
        self.came_out, self.sure = nn.Linear(width, width, bias=False), nn.Linear(3, width, bias=False)
        nn.init.zeros_(self.came_out.weight)
        nn.init.zeros_(self.sure.weight)
        self.code = nn.Linear(width, width + vectors.shape[1])
        self.code.weight.data *= 0.1  # the first guesses are those of the posterior
        self.bias = nn.Parameter(torch.zeros(len(vectors)))
        self.trust = nn.Parameter(torch.tensor([1.0, 0.0, 0.0]))
        self.drop = nn.Dropout(_DROP)

    def forward(self, seen: Seen, texts: Tensor, rows: Tensor) -> Tensor:
        """Returns scores of candidates, -inf for none, shape ``(hidden elements, RANKED)``.

        Args:
            seen: A release.
            texts: Numbers of elements, -1 for padding, shape ``(texts, length)``.
            rows: Row of each of them among the hidden elements, -1 for none, shape ``(texts, length)``.
        """
        at, pieces = rows >= 0, self.encoder.pieces
        embedded = pieces[seen.shown[texts]]
        hidden = rows[at]
        words, posterior = seen.words[hidden], seen.posterior(hidden)
        entropy = -(posterior * (posterior + 1e-9).log()).sum(dim=1)
        about = torch.stack([torch.ones_like(entropy), posterior.amax(dim=1), entropy], dim=1)
        believed = torch.bmm(posterior[:, None], pieces[words])[:, 0]
        embedded[at] = believed + self.came_out(pieces[seen.output[hidden]]) + self.sure(about)
        wanted = self.code(self.drop(self.encoder(embedded, texts >= 0)[at]))
        known = torch.cat([pieces[words], self.vectors[words]], dim=2)
        score = torch.bmm(known, wanted[..., None])[..., 0]
        score = score / 3 + self.bias[words] + seen.logs[hidden] @ self.trust
        return score.masked_fill(~seen.there[hidden], -torch.inf)

    @torch.no_grad()
    def scores(self, seen: Seen) -> NDArray[np.float32]:
        """Returns log-probabilities of all candidates of a release."""
        self.eval()
        found, row_of = torch.zeros(seen.words.shape), seen.row_of
        for texts in batches(seen.document, row_of >= 0, _BATCH):
            rows = torch.where(texts < 0, -1, row_of[texts])
            found[rows[rows >= 0]] = self(seen, texts, rows).log_softmax(dim=1)
        return found.numpy()


def train(spelled: Sequence[str], vectors: Tensor, copies: Sequence[tuple[Seen, Ints]], seed: int = 0) -> Reader:
    """Fine-tunes MiniLM in one pass by cross entropy, on elements whose word is among the candidates.

    Args:
        spelled: Words by number.
        vectors: Vectors of words.
        copies: Releases, and for each of their hidden elements which candidate stood there, -1 for none of them.
        seed: Decides start and order, and nothing of the draws.
    """
    torch.manual_seed(seed)
    reader = Reader(spelled, vectors)
    gold = [torch.from_numpy(truth) for _, truth in copies]
    row_of = [seen.row_of for seen, _ in copies]
    plan = [
        (number, texts)
        for number, (seen, _) in enumerate(copies)
        for texts in batches(seen.document, row_of[number] >= 0, _BATCH, shuffled=True)
    ]
    optimizer = adamw(reader, _peak, _DECAY)
    peaks = [group["lr"] for group in optimizer.param_groups]
    reader.train()
    for step, chosen in enumerate(torch.randperm(len(plan)).tolist()):
        for group, highest in zip(optimizer.param_groups, peaks, strict=True):
            group["lr"] = highest * min(1, (step + 1) / _RISE) * max(0.02, 1 - step / len(plan))
        number, texts = plan[chosen]
        rows = torch.where(texts < 0, -1, row_of[number][texts])
        right = gold[number][rows[rows >= 0]]
        scores = reader(copies[number][0], texts, rows)[right >= 0]
        optimizer.zero_grad()
        nn.functional.cross_entropy(scores, right[right >= 0]).backward()
        nn.utils.clip_grad_norm_(reader.parameters(), _MOST)
        optimizer.step()
    return reader


def _peak(name: str) -> float | None:
    """The highest rate of a parameter: that of the package, or of what is new; words' embeddings stay."""
    if name.endswith("word_embeddings.weight"):
        return None
    return _RATE if name.startswith("encoder.encoder.") else _NEW_RATE


def batches(document: Tensor, hidden: Tensor, size: int, *, shuffled: bool = False) -> Iterator[Tensor]:
    """Yields texts with hidden elements as numbers of elements, -1 for padding, shape ``(texts, length)``.

    Texts of a length go together. Long ones are cut.

    Args:
        document: Document of each element.
        hidden: Which elements are hidden.
        size: Most elements, padding among them, but for a single text.
        shuffled: Whether texts of a length are in random order.
    """
    lengths = torch.unique_consecutive(document, return_counts=True)[1].tolist()
    ends = np.cumsum(lengths).tolist()
    spans = [
        (start, min(end, start + _LONGEST))
        for end, length in zip(ends, lengths, strict=True)
        for start in range(end - length, end, _LONGEST)
        if hidden[start : min(end, start + _LONGEST)].any()
    ]
    if shuffled:
        spans = [spans[number] for number in torch.randperm(len(spans)).tolist()]
    chosen: list[Tensor] = []
    for start, end in sorted(spans, key=lambda span: span[1] - span[0]):
        if chosen and (len(chosen) + 1) * (end - start + 2) > size:
            yield nn.utils.rnn.pad_sequence(chosen, batch_first=True, padding_value=-1)
            chosen = []
        chosen.append(torch.arange(start, end))
    if chosen:
        yield nn.utils.rnn.pad_sequence(chosen, batch_first=True, padding_value=-1)
