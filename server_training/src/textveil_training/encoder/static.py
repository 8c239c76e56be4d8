"""Trains a static extractor and its linear map to classes: rows for words of a public list and for pairs of them.

    v = mean over words w of E[w] + mean over neighbors (w, w') of D[hash(w, w')],    scores = W v + c

in the manner of fastText (Joulin, Grave, Bojanowski, Mikolov 2017). Rows of words start from public ones: the main
directions of the vectors in the built-in English bundle. Cross entropy, Adam.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import torch
from numpy.typing import NDArray
from textveil.bundle import DEFAULT_BUNDLE, EMBEDDINGS, Bundle, open_tensors
from textveil.vector import pair_buckets, words_of
from torch import Tensor, nn

Report = Callable[[str, int, int], None]
Ids = NDArray[np.int64]
Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class StaticSettings:
    """How a static extractor is trained.

    Attributes:
        dimension: Numbers in a row.
        pairs: Buckets that pairs of words are hashed to: a power of two, 0 for no pairs.
        min_texts: A word of fewer training texts keeps its public row, and a bucket of fewer is like no pair. So no
            row is about one text.
        public_scale: Root mean square of the public rows.
        num_epochs: Passes over the texts.
        batch_size: Texts per step.
        learning_rate: Peak learning rate; it falls linearly to 0.
        dropout: Share of the vector's numbers that a training step leaves out.
        max_characters: Longer texts are cut.
        seed: Seed of everything random in training.
        members: Trainings, with seeds from ``seed`` on, that are added up; one where there are more classes than
            ``dimension``.
    """

    dimension: int = 64
    pairs: int = 1 << 15
    min_texts: int = 3
    public_scale: float = 1.0
    num_epochs: int = 4
    batch_size: int = 64
    learning_rate: float = 0.01
    dropout: float = 0.5
    max_characters: int = 20_000
    seed: int = 0
    members: int = 4


@dataclass(frozen=True, slots=True)
class StaticWeights:
    """A trained extractor and its classifier, in floating point.

    Attributes:
        word_rows: ``E``, shape ``(words + 2, dimension)``: numbers and unknown words have the last two rows.
        pair_rows: ``D``, shape ``(pairs, dimension)``.
        weight: ``W``, shape ``(classes, dimension)``.
        bias: ``c``, shape ``(classes,)``.
    """

    word_rows: Floats
    pair_rows: Floats
    weight: Floats
    bias: Floats


class _Static(nn.Module):
    """Public rows of words and what is added to them; rows of pairs. Row 0 of what is trained stays 0."""

    def __init__(self, public: Tensor, words: int, pairs: int, classes: int, settings: StaticSettings) -> None:
        super().__init__()
        self.public = nn.EmbeddingBag.from_pretrained(public, mode="sum")
        self.words = nn.EmbeddingBag(words + 1, settings.dimension, mode="sum", padding_idx=0)
        self.pairs = nn.EmbeddingBag(pairs + 1, settings.dimension, mode="sum", padding_idx=0)
        self.dropout = nn.Dropout(settings.dropout)
        self.out = nn.Linear(settings.dimension, classes)
        for table in (self.words, self.pairs):
            nn.init.zeros_(table.weight)

    def forward(self, public: "_Bags", words: "_Bags", pairs: "_Bags") -> Tensor:
        sums = self.public(public.ids, public.starts) + self.words(words.ids, words.starts)
        vector = sums / words.counts + self.pairs(pairs.ids, pairs.starts) / pairs.counts
        return self.out(self.dropout(vector))


@dataclass(frozen=True, slots=True)
class _Bags:
    """Ids of some texts one after the other, where each text begins, and by how much its sum is divided."""

    ids: Tensor
    starts: Tensor
    counts: Tensor

    @classmethod
    def of(cls, lists: Sequence[Ids]) -> "_Bags":
        lengths = np.array([len(ids) for ids in lists])
        ids = torch.from_numpy(np.concatenate([*lists, np.zeros(0, np.int64)]))
        starts = torch.from_numpy(np.cumsum(lengths) - lengths)
        return cls(ids, starts, torch.from_numpy(np.maximum(1, lengths))[:, None])


@dataclass(frozen=True, slots=True)
class PublicWords:
    """The public list, and a row for each of its words.

    Attributes:
        words: Row by word.
        rows: float32, shape ``(words + 2, dimension)``; the last two, of numbers and unknown words, are 0.
        identity: Identity of the bundle that both are taken from.
        license: Its license.
        attribution: What it says of its sources.
    """

    words: dict[str, int]
    rows: Floats
    identity: str
    license: str
    attribution: str


@lru_cache(maxsize=2)  # takes a second
def public_words(settings: StaticSettings) -> PublicWords:
    """Takes words and rows from the built-in English bundle: principal components of its vectors, scaled."""
    bundle = Bundle(DEFAULT_BUNDLE)
    words = {word: number for number, word in enumerate(bundle.vocabulary)}
    vectors = open_tensors(DEFAULT_BUNDLE / EMBEDDINGS)["rows"][: len(words)].astype(np.float64)
    vectors -= vectors.mean(axis=0)
    values, directions = np.linalg.eigh(vectors.T @ vectors)
    directions = directions[:, np.argsort(-values)[: settings.dimension]]
    directions *= np.sign(directions[np.abs(directions).argmax(axis=0), np.arange(directions.shape[1])])
    rows = np.zeros((len(words) + 2, settings.dimension))
    found = vectors @ directions
    rows[: len(words), : found.shape[1]] = found * (settings.public_scale / np.sqrt((found**2).mean()))
    manifest = bundle.manifest
    return PublicWords(words, rows.astype(np.float32), bundle.identity, manifest["licence"], manifest["attribution"])


def train_static(
    texts: Sequence[str],
    classes: Sequence[int],
    class_count: int,
    public: PublicWords,
    settings: StaticSettings,
    report: Report,
) -> StaticWeights:
    """Trains on labeled texts. The same texts and settings give the same weights on one machine and thread.

    Args:
        texts: Training texts.
        classes: Class id of each.
        class_count: Number of classes.
        public: Words and rows to start from.
        settings: How.
        report: Told the stage, the steps done and the steps in all.
    """
    word_ids = [words_of(text[: settings.max_characters], public.words) for text in texts]
    word_numbers = _numbers(word_ids, len(public.rows), settings.min_texts)
    pair_ids = (
        [pair_buckets(ids, settings.pairs) for ids in word_ids] if settings.pairs else [ids[:0] for ids in word_ids]
    )
    pair_numbers = _numbers(pair_ids, settings.pairs, settings.min_texts)

    torch.manual_seed(settings.seed)
    generator = np.random.default_rng(settings.seed)
    model = _Static(
        torch.from_numpy(public.rows), int(word_numbers.max()), int(pair_numbers.max(initial=0)), class_count, settings
    )
    optimizer = torch.optim.Adam(model.parameters(), lr=settings.learning_rate)
    word_lists = [word_numbers[ids] for ids in word_ids]
    pair_lists = [pair_numbers[ids] for ids in pair_ids]
    targets = np.array(classes, dtype=np.int64)
    steps = settings.num_epochs * -(-len(texts) // settings.batch_size)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1 - step / steps)
    done = 0
    model.train()
    for _ in range(settings.num_epochs):
        order = generator.permutation(len(texts))
        for start in range(0, len(order), settings.batch_size):
            batch = order[start : start + settings.batch_size]
            bags = [_Bags.of([lists[i] for i in batch]) for lists in (word_ids, word_lists, pair_lists)]
            scores = model(*bags)
            loss = nn.functional.cross_entropy(scores, torch.from_numpy(targets[batch]))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            done += 1
            report("training", done, steps)
    return StaticWeights(
        public.rows + _array(model.words.weight)[word_numbers],
        _array(model.pairs.weight)[pair_numbers],
        _array(model.out.weight),
        _array(model.out.bias),
    )


def folded(members: Sequence[StaticWeights]) -> StaticWeights:
    """Puts the map to classes into the rows, and takes the mean of several trainings: one row is a row of scores.

        scores = W (mean of E[w] + mean of D[h]) + c = mean of (E W')[w] + mean of (D W')[h] + c

    It is linear, so scores are those of the whole ensemble, in as many numbers a row as there are classes. The mean
    over the classes is taken out of each row: it decides nothing, and would cost bits of int8.

    Args:
        members: Trainings for the same classes, with different seeds.

    Returns:
        Rows of scores, and the identity as the map.
    """

    def scores(rows: Callable[[StaticWeights], Floats]) -> Floats:
        found = np.mean([rows(member) for member in members], axis=0)
        return (found - found.mean(axis=-1, keepdims=True)).astype(np.float32)

    return StaticWeights(
        scores(lambda member: member.word_rows @ member.weight.T),
        scores(lambda member: member.pair_rows @ member.weight.T),
        np.eye(len(members[0].bias), dtype=np.float32),
        scores(lambda member: member.bias),
    )


def _numbers(lists: Sequence[Ids], rows: int, min_texts: int) -> Ids:
    """Numbers the rows that enough texts use from 1; all others have 0. Shape ``(rows,)``."""
    texts = np.zeros(rows, dtype=np.int64)
    for ids in lists:
        texts[np.unique(ids)] += 1
    numbers = np.zeros(rows, dtype=np.int64)
    used = np.flatnonzero(texts >= min_texts)
    numbers[used] = np.arange(1, len(used) + 1)
    return numbers


def _array(tensor: Tensor) -> Floats:
    return tensor.detach().numpy().astype(np.float32)
