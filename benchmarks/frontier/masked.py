"""A masked language model as the base of a staircase, a prototype in floating point: draws, and what an attacker knows.

MiniLM learns from public text which word a visible context wants. The base of a mention is then

    b_c(y) = (1 - w) b(y) + w S q_c(y),    S = sum of b,

so no output has less than ``1 - w`` of what it had, and the rest is the staircase: it deals from the same rows, and its
bound stays, since a context holds only what is visible and, if asked for, what came out before.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from candidates import Candidates
from fluent import exact
from minilm import ElementEncoder, batches, stepped
from numpy.typing import NDArray
from release import DRAWN, KIND, Reading, Release
from textveil.mechanisms.staircase.staircase import Staircase
from torch import Tensor, nn

Ints = NDArray[Any]
_BATCH, _BLOCK = 1024, 256
_RATE, _NEW_RATE = 1e-4, 1e-3


class SlotModel(nn.Module):
    """Says which output fits a slot, given what is visible on both sides and some of what else came out.

    Args:
        spelled: Words by number.
        outputs: Numbers of the words that may come out.
        base: Their base, which the first guesses follow.
    """

    def __init__(self, spelled: Sequence[str], outputs: Ints, base: Ints) -> None:
        super().__init__()
        self.encoder = ElementEncoder(spelled)
        self.outputs = torch.from_numpy(outputs)
        self.code = nn.Linear(self.encoder.width, self.encoder.width)
        self.code.weight.data *= 0.1
        self.bias = nn.Parameter(torch.from_numpy(np.log(base / base.sum())).float())

    def forward(self, shown: Tensor, at: Tensor) -> Tensor:
        """Returns log-probabilities of outputs.

        Args:
            shown: Words of texts by number, the number after the last for [MASK], -1 for padding, ``(texts, length)``.
            at: Which places are asked for, shape ``(texts, length)``.
        """
        there = shown >= 0
        embedded = self.encoder.pieces[shown.clamp(min=0)]
        wanted = self.code(self.encoder(embedded, there)[at])
        return (wanted @ self.encoder.pieces[self.outputs].T / 3 + self.bias).log_softmax(dim=1)


def train(model: SlotModel, reading: Reading, of_symbol: Ints, seed: int = 0) -> float:
    """Trains a model on public text in one pass, all places from a random one on hidden; returns the last mean loss.

    Args:
        model: The model.
        reading: Public text.
        of_symbol: Place among the outputs of each symbol, -1 for none; one more for unknown words.
        seed: Decides the order and what is hidden.
    """
    torch.manual_seed(seed)
    hidden = torch.from_numpy(reading.role == DRAWN)
    gold = torch.from_numpy(np.where(reading.role == DRAWN, of_symbol[reading.index], -1))
    word = torch.from_numpy(reading.word)
    mask = len(model.encoder.pieces) - 1
    plan = list(batches(torch.from_numpy(reading.document), hidden, _BATCH, shuffled=True))
    recent = 0.0
    for texts, step in stepped(model, plan, _RATE, _NEW_RATE):
        place, length = torch.arange(texts.shape[1]), (texts >= 0).sum(dim=1)
        first = (torch.rand(len(texts)) * 2 - 1).clamp(min=0) * length  # nothing is shown in half of the texts
        at = (texts >= 0) & hidden[texts] & (place >= first[:, None])
        asked = at & (gold[texts] >= 0)
        if not asked.any():
            continue
        scores = model(torch.where(texts < 0, -1, torch.where(at, mask, word[texts])), asked)
        loss = nn.functional.nll_loss(scores, gold[texts][asked])
        step(loss)
        recent = 0.98 * recent + 0.02 * loss.item() if recent else loss.item()
    return recent


@dataclass
class Bases:
    """The bases of some mentions.

    Attributes:
        plain: ``b`` of each symbol.
        sums: Running sums of it.
        place: Place of each symbol among the outputs; any for what is none.
        symbols: Symbol of each output.
        weight: Share of the base that follows the model.
        fits: ``q_c`` of each output, shape ``(n, outputs)``.
    """

    plain: Ints
    sums: Ints
    place: Ints
    symbols: Ints
    weight: float
    fits: Tensor

    def of(self, symbols: Ints) -> Ints:
        """Returns ``b_c`` of symbols, where the first axis is that of the mentions."""
        row = torch.arange(len(self.fits)).reshape(-1, *[1] * (symbols.ndim - 1))
        fits = self.fits[row, torch.from_numpy(self.place[symbols])].numpy()
        follows = self.weight * self.sums[-1] * np.where(self.plain[symbols] > 0, fits, 0)
        return (1 - self.weight) * self.plain[symbols] + follows

    def draw(self, random: np.random.Generator) -> Ints:
        """Draws a symbol from each base, shape ``(n,)``."""
        count = len(self.fits)
        plain = np.searchsorted(self.sums, random.random(count) * self.sums[-1], side="right")
        fitting = self.symbols[torch.multinomial(self.fits, 1)[:, 0].numpy()]
        return np.where(random.random(count) < self.weight, fitting, plain)


@dataclass
class MaskedRelease(Release):
    """A release whose base follows a masked language model.

    Attributes:
        plain: The staircase without contexts.
        model: Says what fits.
        weight: Share of the base that follows the model.
        earlier: Whether what came out before is read too: then texts are drawn from left to right.
    """

    plain: Staircase | None = None
    model: SlotModel | None = None
    weight: float = 0.9
    earlier: bool = True

    def draw(self, reading: Reading) -> Ints:
        """Returns what comes out for every element: a number of a word. Nothing here protects anyone: see below."""
        assert self.kinds is not None
        random, outputs = np.random.default_rng(), reading.word.copy()
        members = np.flatnonzero(reading.role == KIND)
        outputs[members] = self.kinds(reading.index[members])
        for places, bases in self._bases(reading, outputs):
            outputs[places] = self.printed[self._symbols(reading.index[places], bases, random)]
        return outputs

    def in_context(self, reading: Reading, outputs: Ints, found: Candidates) -> Candidates:
        """Returns candidates with their exact probabilities in the contexts that the released text shows."""
        assert self.plain is not None
        symbol = np.full(len(self.words.spelled), self.symbols)
        symbol[self.printed] = np.arange(self.symbols)
        row_of = np.full(len(reading.word), -1)
        row_of[found.places] = np.arange(len(found.places))
        likelihood = found.likelihood.copy()
        for places, bases in self._bases(reading, outputs):
            rows = row_of[places]
            words, total = found.words[rows], np.full(len(rows), float(bases.sums[-1]))
            inputs = symbol[np.maximum(words, 0)]
            given = exact(self.plain, inputs, symbol[outputs[places]], bases.of, total)
            likelihood[rows] = np.where(words >= 0, np.log(given), -np.inf)
        return found.weighed(likelihood)

    def _symbols(self, inputs: Ints, bases: Bases, random: np.random.Generator) -> Ints:
        """Draws an output of each input in floating point: the law of ``exact``, and no noise to rely on."""
        assert self.plain is not None
        plain, total, each = self.plain, float(bases.sums[-1]), np.arange(len(inputs))
        budget = max(1.0, np.floor(float(plain.level.share) * total))
        known = inputs < plain.table.symbols
        stored = plain.table.neighbors[np.where(known, inputs, 0)].astype(np.int64)
        most = bases.of(stored)
        most[:, 0] = np.minimum(most[:, 0], float(plain.level.own_share) * budget)
        most[~known] = 0
        dealt = np.cumsum(np.clip(budget - (np.cumsum(most, axis=1) - most), 0, most), axis=1)
        own = np.diff(dealt, axis=1, prepend=0)
        left = random.random(len(inputs)) * (plain.unit * total + plain.factor * budget) - plain.unit * total
        near = np.minimum((dealt <= left[:, None] / plain.factor).sum(axis=1), stored.shape[1] - 1)
        outputs = bases.draw(random)
        wanted = left >= plain.factor * dealt[:, -1]  # of what is left of the base when neighbors are served
        while wanted.any():
            served = np.where(stored == outputs[:, None], own, 0).sum(axis=1)
            wanted &= random.random(len(inputs)) * bases.of(outputs) < served
            outputs = np.where(wanted, bases.draw(random), outputs)
        return np.where((left >= 0) & (left < plain.factor * dealt[:, -1]), stored[each, near], outputs)

    def _bases(self, reading: Reading, outputs: Ints) -> Iterator[tuple[Ints, Bases]]:
        """Yields drawn places and the base of each; outputs of earlier places are to be there before the next."""
        assert self.model is not None
        drawn = torch.from_numpy(reading.role == DRAWN)
        mask = len(self.model.encoder.pieces) - 1
        for texts in batches(torch.from_numpy(reading.document), drawn, _BATCH):
            there = texts >= 0
            slots = there & drawn[texts]
            order = torch.where(slots, slots.long().cumsum(dim=1) if self.earlier else 1, 0)
            for step in range(1, int(order.max()) + 1):
                word = torch.from_numpy(outputs)[texts]
                asked = order == step
                shown = torch.where(there, torch.where(slots & (order >= step), mask, word), -1)
                kept = asked.any(dim=1)
                yield from self._asked(texts[kept], shown[kept], asked[kept])

    @torch.no_grad()
    def _asked(self, texts: Tensor, shown: Tensor, asked: Tensor) -> Iterator[tuple[Ints, Bases]]:
        assert self.plain is not None
        assert self.model is not None
        self.model.eval()
        fits, places = self.model(shown, asked).exp(), texts[asked].numpy()
        symbols = np.flatnonzero(self.plain.base > 0)
        place = np.zeros(len(self.plain.base), dtype=np.int64)
        place[symbols] = np.arange(len(symbols))
        for start in range(0, len(places), _BLOCK):
            part = slice(start, start + _BLOCK)
            yield places[part], Bases(self.plain.base, self.plain.sums, place, symbols, self.weight, fits[part])
