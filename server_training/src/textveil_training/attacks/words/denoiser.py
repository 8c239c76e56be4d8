"""Train a denoising network, which scores the possible originals of a word by the outputs around it.

An element is a word or a punctuation mark. The network represents an unchanged element by its own vector. It represents
a hidden (replaced or randomized) element by the sum of three vectors: a learned linear map of the vector of the output;
the mean of the vectors of the possible originals, weighted by their probability given the output,
``E[vector | output]``; and a learned linear map of the certainty of this distribution (its largest probability and its
entropy). The original of a hidden element is never an input. A stack of convolutions processes the text. The state of
the convolutions at a hidden element is mapped to a vector. The score of a candidate (possible original) is the scalar
product of this vector with the candidate's vector, plus a learned constant for each word, plus the log probability of
the output and the log prior, each with a learned weight. The training data are raw texts that are randomized anew in
each pass, by all attacked mechanisms.
"""

import gzip
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from textveil_training.attacks.words.candidates import Candidates
from textveil_training.attacks.words.word_release import ReadElements, WordIds

Ints = NDArray[Any]
#: Number of candidates of an element that are ranked, and number that are used in training.
RANKED, LEARNED = 64, 32
#: Size of a word's vector. Its first coordinates are initialized with the word's known vector.
WIDTH = 128
_CHANNELS, _DILATIONS, _DROP = 256, (1, 2, 4), 0.2
#: Number of elements in a batch, including padding, and in a part of a long text.
_BATCH, _LONGEST = 4096, 128
_RATE, _DECAY, _RISE, _MOST = 2e-3, 1e-2, 50, 1.0


def read_vectors(path: Path) -> Iterator[tuple[str, Sequence[str]]]:
    """Yield words and their vectors from a text file, plain or compressed with gzip.

    Each line must have a word and the numbers of its vector, separated by blanks.
    """
    data = path.read_bytes()
    for line in (gzip.decompress(data) if path.suffix == ".gz" else data).decode("utf-8").splitlines():
        word, *numbers = line.split(" ")
        yield word, numbers


def make_word_vectors(words: WordIds, vectors: Iterable[tuple[str, Any]] | None) -> Tensor:
    """Return standardized word vectors, shape ``(words + 1, WIDTH)``; the last row is for all hidden (replaced) words.

    Args:
        words: Table of word ids; the vector of a word is in the row of its id.
        vectors: Known words and vectors, or ``None``. Words without a known vector get small random ones.
    """
    found = 0.1 * torch.randn(len(words.spellings) + 1, WIDTH, generator=torch.Generator().manual_seed(1))
    listed = [(words.ids[word], numbers) for word, numbers in vectors or () if word in words.ids]
    if listed:
        known = np.array([numbers for _, numbers in listed], dtype=np.float32)[:, :WIDTH]
        known -= known.mean(axis=0)
        found[[number for number, _ in listed], : known.shape[1]] = torch.from_numpy(known / known.std())
    return found


@dataclass(frozen=True, kw_only=True)
class DenoiserInput:
    """Input tensors of the network for some texts and one output of each.

    An element is a word or a punctuation mark; hidden elements are those that were replaced or randomized.

    Attributes:
        document: Document of each element of the texts.
        shown: For each element its row in the table of word vectors; hidden elements have the last row; shape
            ``(elements,)``.
        row_of: Index of each element among the hidden ones, -1 for unchanged elements, shape ``(elements,)``.
        output: For each hidden element the row of its output in the table of word vectors, shape ``(n,)``.
        words: For each hidden element the rows of its candidates (possible originals) in the table of word vectors,
            shape ``(n, candidates)``.
        logs: Log probability of the output given the candidate, and log prior of the candidate, shape
            ``(n, candidates, 2)``.
        there: Boolean for each entry of ``words``: true for a candidate, false for padding.
    """

    document: Tensor
    shown: Tensor
    row_of: Tensor
    output: Tensor
    words: Tensor
    logs: Tensor
    there: Tensor

    @classmethod
    def from_release(cls, reading: ReadElements, outputs: Ints, found: Candidates, rows: int) -> "DenoiserInput":
        """Convert texts, and one sanitized output of each, to the input tensors of the network.

        A word without a vector gets the last row of the table, like a hidden word.

        Args:
            reading: The texts as arrays of elements (words and punctuation marks).
            outputs: Output of each element.
            found: Possible originals (candidates) of the hidden elements.
            rows: Number of rows in the table of word vectors.
        """

        def make_rows(words: Ints) -> Tensor:
            return torch.from_numpy(np.where((words < 0) | (words >= rows - 1), rows - 1, words))

        there = torch.from_numpy(found.words >= 0)
        stack = np.stack([found.likelihood, found.prior], axis=-1)
        logs = torch.from_numpy(np.maximum(stack, -30).astype(np.float32))
        shown = make_rows(reading.word)
        shown[torch.from_numpy(found.places)] = rows - 1
        row_of = torch.full((len(reading.word),), -1)
        row_of[torch.from_numpy(found.places)] = torch.arange(len(found.places))
        document = torch.from_numpy(reading.document)
        return cls(
            document=document,
            shown=shown,
            row_of=row_of,
            output=make_rows(outputs[found.places]),
            words=make_rows(found.words),
            logs=logs,
            there=there,
        )

    def compute_posterior(self, rows: Tensor) -> Tensor:
        """Return the probability of each possible original of hidden (replaced) words, without context.

        The result has the shape ``(len(rows), candidates)``.

        Args:
            rows: Indices of hidden words.
        """
        # An element without candidates gets a uniform distribution.
        return self.logs[rows].sum(dim=2).masked_fill(~self.there[rows], -60).softmax(dim=1)


class Convolutions(nn.Module):
    """Network: a residual stack of convolutions over the elements (words and punctuation marks) of a text.

    Args:
        width: Size of the input vectors.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.first = nn.Linear(width, _CHANNELS)
        self.layers = nn.ModuleList(
            nn.Conv1d(_CHANNELS, _CHANNELS, 3, padding=apart, dilation=apart) for apart in _DILATIONS
        )
        self.norms = nn.ModuleList(nn.LayerNorm(_CHANNELS) for _ in _DILATIONS)
        self.drop = nn.Dropout(_DROP)

    def forward(self, embedded: Tensor, there: Tensor) -> Tensor:
        """Compute a state for each word or punctuation mark of texts, shape ``(texts, length, _CHANNELS)``.

        Args:
            embedded: Vectors, shape ``(texts, length, width)``.
            there: False for padding, shape ``(texts, length)``.
        """
        states = self.first(embedded)
        for layer, norm in zip(self.layers, self.norms, strict=True):
            read = (self.drop(norm(states)) * there[..., None]).transpose(1, 2)
            states = states + nn.functional.gelu(layer(read).transpose(1, 2))
        return states


class Denoiser(nn.Module):
    """Network that scores the candidates (possible originals) of hidden elements (replaced or randomized words).

    Args:
        vectors: Initial word vectors, which training changes; the last row stands for a hidden word.
    """

    def __init__(self, vectors: Tensor) -> None:
        super().__init__()
        width = vectors.shape[1]
        self.vectors, self.body = nn.Parameter(vectors), Convolutions(width)
        self.came_out, self.sure = nn.Linear(width, width, bias=False), nn.Linear(3, width, bias=False)
        nn.init.zeros_(self.sure.weight)
        self.code = nn.Linear(_CHANNELS, width)
        self.code.weight.data *= 0.1  # before training, the scores are those without context
        self.bias = nn.Parameter(torch.zeros(len(vectors)))
        self.trust = nn.Parameter(torch.ones(2))
        self.drop = nn.Dropout(_DROP)

    def forward(self, seen: DenoiserInput, texts: Tensor) -> Tensor:
        """Compute scores of the candidates (possible originals) of hidden words, shape ``(hidden words, candidates)``.

        The score of padding is -inf.

        Args:
            seen: Texts and one output of each, as input tensors.
            texts: Indices of the elements (words and punctuation marks) of each text in ``seen``, -1 for padding, shape
                ``(texts, length)``.
        """
        rows = torch.where(texts < 0, -1, seen.row_of[texts])
        at = rows >= 0
        hidden = rows[at]
        posterior, candidates = (
            seen.compute_posterior(hidden),
            nn.functional.embedding(seen.words[hidden], self.vectors),
        )
        entropy = -(posterior * (posterior + 1e-9).log()).sum(dim=1)
        about = torch.stack([torch.ones_like(entropy), posterior.amax(dim=1), entropy], dim=1)
        believed = torch.bmm(posterior[:, None], candidates)[:, 0]
        came_out = self.came_out(nn.functional.embedding(seen.output[hidden], self.vectors))
        embedded = nn.functional.embedding(seen.shown[texts], self.vectors)
        embedded = embedded.masked_scatter(at[..., None], believed + came_out + self.sure(about))
        wanted = self.code(self.drop(self.body(embedded, texts >= 0)[at]))
        score = torch.bmm(candidates, wanted[..., None])[..., 0] + self.bias[seen.words[hidden]]
        return (score + seen.logs[hidden] @ self.trust).masked_fill(~seen.there[hidden], -torch.inf)

    @torch.no_grad()
    def score_candidates(self, seen: DenoiserInput) -> NDArray[np.float32]:
        """Return the log probabilities of all candidates (possible originals) of the hidden (replaced) words."""
        self.eval()
        found = torch.full(seen.words.shape, -torch.inf)
        for texts in make_batches(seen.document, seen.row_of >= 0, _BATCH):
            rows = torch.where(texts < 0, -1, seen.row_of[texts])
            found[rows[rows >= 0]] = self(seen, texts).log_softmax(dim=1)
        return found.numpy()


TrainingDraw = tuple[DenoiserInput, Ints]
"""A release, and for each hidden element the index of the candidate that is its original; -1 if none is."""


def train_denoiser(
    network: Denoiser,
    draws: Sequence[Callable[[], Sequence[TrainingDraw]]],
    *,
    rate: float = _RATE,
    batch: int = _BATCH,
) -> Denoiser:
    """Train a network by cross entropy to choose the original of each replaced word among its candidates.

    Args:
        network: The network, which is changed in place.
        draws: Functions that each return outputs of some texts as input tensors. They are called one after another,
            since all tensors together would not fit into memory.
        rate: Peak learning rate.
        batch: Number of words and punctuation marks in a batch, including padding.

    Returns:
        The network.
    """
    torch.manual_seed(0)  # determines the order of batches; the draws have their own randomness
    optimizer = torch.optim.AdamW(network.parameters(), weight_decay=_DECAY, fused=True)
    network.train()
    steps = 0
    for number, draw in enumerate(draws):
        drawn = [(seen, torch.from_numpy(truth)) for seen, truth in draw()]
        parts = [
            (seen, gold, texts)
            for seen, gold in drawn
            for texts in make_batches(seen.document, seen.row_of >= 0, batch, shuffled=True)
        ]
        for step, chosen in enumerate(torch.randperm(len(parts)).tolist()):
            done, steps = (number + step / len(parts)) / len(draws), steps + 1
            optimizer.param_groups[0]["lr"] = rate * min(1.0, steps / _RISE) * max(0.02, 1 - done)
            seen, gold, texts = parts[chosen]
            rows = torch.where(texts < 0, -1, seen.row_of[texts])
            right = gold[rows[rows >= 0]]
            scores = network(seen, texts)[right >= 0]
            optimizer.zero_grad()
            nn.functional.cross_entropy(scores, right[right >= 0]).backward()
            nn.utils.clip_grad_norm_(network.parameters(), _MOST)
            optimizer.step()
    return network


def make_batches(document: Tensor, hidden: Tensor, size: int, *, shuffled: bool = False) -> Iterator[Tensor]:
    """Yield batches of the texts that have hidden (replaced) words, as indices of shape ``(texts, length)``.

    A batch has texts of similar length, padded with -1. Long texts are cut into parts.

    Args:
        document: Index of the document of each element (word or punctuation mark).
        hidden: Whether each element is hidden.
        size: Largest number of elements in a batch, including padding; a single text may have more.
        shuffled: Whether texts of equal length are in random order.
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
