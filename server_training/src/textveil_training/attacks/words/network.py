"""A neural inversion: a network that sees what came out around a word, and says what forward-backward leaves open.

It starts from the forward-backward posterior of each hidden element. Around each of them it sees the expected word
vectors of its neighbors under that posterior, the mean of the text, and what came out. It returns a vector. Its scalar
product with the vectors of the candidates is added to the logarithms of the posterior, the mechanism's exact
probability and the prior. One network is trained for all mechanisms, on fresh draws. The posteriors that it is trained
on come from bigrams that lack the text at hand: with its own pairs counted, they would look better than they are.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from textveil_training.attacks.words.candidates import Candidates
from textveil_training.attacks.words.release import MARK, Reading, Words

Ints = NDArray[Any]
#: Candidates of an element that the network ranks.
RANKED = 64
#: How far it sees to each side.
_REACH = 3
_WIDTH, _CODE, _DROP = 256, 96, 0.5
_PASSES, _BATCH, _RATE, _DECAY, _RISE = 2, 512, 2e-3, 1e-2, 30
_LEAST = -20.0


def read_vectors(path: Path) -> Iterator[tuple[str, Sequence[str]]]:
    """Yields words and their numbers from lines of text, a word and its numbers with blanks between."""
    for line in path.read_text("utf-8").splitlines():
        word, *numbers = line.split(" ")
        yield word, numbers


def word_vectors(words: Words, vectors: Iterable[tuple[str, Any]]) -> Tensor:
    """Returns standardized vectors of words, shape ``(words + 1, dimensions)``: 0 for others and in the last row."""
    found = np.zeros((len(words.spelled) + 1, 0), dtype=np.float32)
    for word, numbers in vectors:
        if not found.shape[1]:
            found = np.zeros((len(found), len(numbers)), dtype=np.float32)
        if word in words.ids:
            found[words.ids[word]] = np.array(numbers, dtype=np.float32)
    there = found.any(axis=1)
    found[there] -= found[there].mean(axis=0)
    return torch.from_numpy(found / found[there].std())


@dataclass(frozen=True)
class Seen:
    """What the network sees of one release of some texts.

    Attributes:
        places: The hidden elements, shape ``(n,)``.
        document: Document of each element of the texts.
        shown: Row in the vectors of each element that is visible, the last row for others, shape ``(elements,)``.
        vectors: Vector of each element, expected for hidden ones, shape ``(elements, dimensions)``.
        mean: Sum of the vectors of each document, and in a last column how many there are.
        output: Row in the vectors of what came out of each hidden element, shape ``(n,)``.
        words: Candidates, as rows in the vectors, shape ``(n, RANKED)``.
        logs: Logarithms of posterior, probability of the output and prior, shape ``(n, RANKED, 3)``.
        there: Which candidates there are.
    """

    places: Tensor
    document: Tensor
    shown: Tensor
    vectors: Tensor
    mean: Tensor
    output: Tensor
    words: Tensor
    logs: Tensor
    there: Tensor

    @classmethod
    def of(cls, vectors: Tensor, reading: Reading, outputs: Ints, found: Candidates, chained: Ints) -> "Seen":
        """Returns what it sees of a release.

        Args:
            vectors: Vectors of words, ``word_vectors``.
            reading: The texts.
            outputs: What came out; below 0 where that is not to be seen.
            found: Candidates of the hidden elements.
            chained: Logarithms of their forward-backward posterior.
        """

        def row(word: Ints) -> Tensor:
            none = len(vectors) - 1
            return torch.from_numpy(np.where((word < 0) | (word >= none), none, word))

        there = torch.from_numpy(found.words[:, :RANKED] >= 0)
        words = row(found.words[:, :RANKED])
        stack = np.stack([part[:, :RANKED] for part in (chained, found.likelihood, found.prior)], axis=-1)
        logs = torch.from_numpy(np.maximum(stack, [_LEAST, 2 * _LEAST, 1.5 * _LEAST]).astype(np.float32))
        posterior = logs[..., 0].masked_fill(~there, -torch.inf).softmax(dim=1)
        each = vectors[row(reading.word)]
        shown = row(reading.word)
        shown[torch.from_numpy(found.places)] = len(vectors) - 1
        places = torch.from_numpy(found.places)
        for start in range(0, len(places), 8192):
            part = slice(start, start + 8192)
            each[places[part]] = torch.bmm(posterior[part, None], vectors[words[part]])[:, 0]
        document = torch.from_numpy(reading.document)
        said = torch.from_numpy(reading.role != MARK).float()[:, None]
        mean = torch.zeros(reading.documents, vectors.shape[1] + 1)
        mean.index_add_(0, document, torch.cat([each * said, said], dim=1))
        return cls(places, document, shown, each, mean, row(outputs[found.places]), words, logs, there)

    @property
    def row_of(self) -> Tensor:
        """Row of each element among the hidden ones, -1 for visible ones, shape ``(elements,)``."""
        rows = torch.full((len(self.document),), -1)
        rows[self.places] = torch.arange(len(self.places))
        return rows

    def posterior(self, rows: Tensor) -> Tensor:
        """Returns the forward-backward posterior of some hidden elements, shape ``(len(rows), RANKED)``."""
        return self.logs[rows, :, 0].masked_fill(~self.there[rows], -torch.inf).softmax(dim=1)

    def around(self, rows: Tensor, vectors: Tensor) -> Tensor:
        """Returns what the network reads for some hidden elements, shape ``(len(rows), inputs)``."""
        place = self.places[rows]
        document = self.document[place]
        parts = []
        for distance in (*range(-_REACH, 0), *range(1, _REACH + 1)):
            at = place + distance
            inside = (at >= 0) & (at < len(self.document))
            at = at.clamp(0, len(self.document) - 1)
            inside &= self.document[at] == document
            parts += [self.vectors[at] * inside[:, None], inside[:, None].float()]
        here = self.vectors[place]
        whole = self.mean[document]
        parts.append((whole[:, :-1] - here) / (whole[:, -1:] - 1).clamp(min=1))
        posterior = self.posterior(rows)
        entropy = -(posterior * (posterior + 1e-9).log()).sum(dim=1, keepdim=True)
        return torch.cat([*parts, vectors[self.output[rows]], here, posterior.amax(1, keepdim=True), entropy], dim=1)


class Network(nn.Module):
    """Scores the candidates of hidden elements.

    Args:
        vectors: Vectors of words, which stay as they are.
    """

    def __init__(self, vectors: Tensor) -> None:
        super().__init__()
        self.vectors = vectors
        inputs = (2 * _REACH + 3) * vectors.shape[1] + 2 * _REACH + 2
        self.first, self.second = nn.Linear(inputs, _WIDTH), nn.Linear(_WIDTH, _WIDTH)
        self.code = nn.Linear(_WIDTH, _CODE)
        self.code.weight.data *= 0.1  # the first guesses are those of the posterior
        self.word_code = nn.Linear(vectors.shape[1], _CODE, bias=False)
        self.bias = nn.Parameter(torch.zeros(len(vectors)))
        self.trust = nn.Parameter(torch.tensor([1.0, 0.0, 0.0]))
        self.drop = nn.Dropout(_DROP)

    def forward(self, seen: Seen, rows: Tensor) -> Tensor:
        """Returns scores of candidates, -inf for none, shape ``(len(rows), RANKED)``."""
        hidden = nn.functional.gelu(self.first(self.drop(seen.around(rows, self.vectors))))
        hidden = hidden + nn.functional.gelu(self.second(self.drop(hidden)))
        wanted = self.code(self.drop(hidden)) @ self.word_code.weight
        words = seen.words[rows]
        score = torch.bmm(self.vectors[words], wanted[..., None])[..., 0] / 3 + self.bias[words]
        return (score + seen.logs[rows] @ self.trust).masked_fill(~seen.there[rows], -torch.inf)

    @torch.no_grad()
    def scores(self, seen: Seen) -> NDArray[np.float32]:
        """Returns log-probabilities of all candidates of a release."""
        self.eval()
        parts = torch.arange(len(seen.places)).split(4096)
        return torch.cat([self(seen, part).log_softmax(dim=1) for part in parts]).numpy()


def train(vectors: Tensor, copies: Sequence[tuple[Seen, Ints]], seed: int = 0) -> Network:
    """Trains a network by cross entropy, on elements whose word is among the candidates.

    Args:
        vectors: Vectors of words.
        copies: Releases, and for each of their hidden elements which candidate stood there, -1 for none of them.
        seed: Decides start and order, and nothing of the draws.
    """
    torch.manual_seed(seed)
    network = Network(vectors)
    optimizer = torch.optim.AdamW(network.parameters(), _RATE, weight_decay=_DECAY)
    usable = [torch.from_numpy(np.flatnonzero(truth >= 0)) for _, truth in copies]
    gold = [torch.from_numpy(truth) for _, truth in copies]
    total = _PASSES * sum(-(-len(rows) // _BATCH) for rows in usable)
    step = 0
    for _ in range(_PASSES):
        network.train()
        parts = [
            (number, part)
            for number, rows in enumerate(usable)
            for part in rows[torch.randperm(len(rows))].split(_BATCH)
        ]
        for chosen in torch.randperm(len(parts)).tolist():
            number, rows = parts[chosen]
            for group in optimizer.param_groups:
                group["lr"] = _RATE * min(1, (step + 1) / _RISE) * max(0.02, 1 - step / total)
            step += 1
            loss = nn.functional.cross_entropy(network(copies[number][0], rows), gold[number][rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return network
