"""What comes out of the shipped bundle, counted: the distribution of every kind of word, and no memory between tokens.

The exact tests enumerate small tables; this one draws millions of tokens from the bundle that ships, with the operating
system's entropy: through the call that applications use, and, many more, through the plan that this call draws with. It
could fail where the path from text to draw does what no small table shows: a large table read at the wrong offset, a
batch that reuses words, a process that shares a stream with its child.

A test of chance has two errors, and both are computed here. It rejects a faultless one with probability 1e-9 per
word. And it is strong enough: for every word that has a likely output, the number of draws is the one at which a
fault of 2 % in that one weight is rejected with probability above 0.999 (non-central chi-square). That is the full run;
in the default run it is 4 %, and 8 % through text, where most time goes into words. The same function is run on draws
with that fault, from a seeded generator, and must reject them.
"""

import os
import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, partial

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import chi2, ncx2
from textveil import Sanitizer
from textveil.mechanisms import entropy
from textveil.mechanisms import integer_sampling as sampling
from textveil.mechanisms.integer_sampling import Rows
from textveil.mechanisms.santext import CappedSanText
from textveil.mechanisms.table import CAPPED, EXACT, KEPT, SANTEXT_PLUS_OUTPUT

pytestmark = pytest.mark.statistical

SIGNIFICANCE = 1e-9
POWER = 0.999
#: No cell has a smaller expected count: the chi-square approximation holds far into its tail.
SMALLEST_CELL = 500
_SINGLE_CELLS, _GROUPS = 6, 8
_BATCH = 200_000
_PAIRS = 100_000  # pairs of tokens that are drawn at once

Reals = NDArray[np.float64]


# The test and its power.


@dataclass(frozen=True)
class Cells:
    """Outputs pooled: the likeliest have a cell each, the others share a few by id, in parts of equal mass.

    Attributes:
        cell_of: Cell of every output id.
        probabilities: Of the cells; they sum to 1.
    """

    cell_of: NDArray[np.intp]
    probabilities: Reals

    @classmethod
    def of(cls, law: Reals, draws: int) -> "Cells":
        """Pools a distribution so that no cell expects fewer than ``SMALLEST_CELL`` of so many draws."""
        cell_of = np.full(len(law), -1)
        singles = [y for y in np.argsort(-law, kind="stable")[:_SINGLE_CELLS] if law[y] * draws >= SMALLEST_CELL]
        cell_of[singles] = np.arange(len(singles))
        rest = np.where(cell_of < 0, law, 0)
        groups = int(min(_GROUPS, rest.sum() * draws // (2 * SMALLEST_CELL)))
        if groups:
            share = np.minimum(np.cumsum(rest) / rest.sum() * groups, groups - 0.5).astype(np.intp)
            cell_of = np.where(cell_of < 0, len(singles) + share, cell_of)
        else:
            cell_of[cell_of < 0] = 0
        probabilities = np.bincount(cell_of, law)
        assert probabilities.min() * draws >= SMALLEST_CELL
        return cls(cell_of, probabilities)

    def pool(self, counts: NDArray[np.int64]) -> Reals:
        return np.bincount(self.cell_of, counts)


def rejects(counts: NDArray[np.int64], law: Reals) -> bool:
    """Whether counts are too far from a distribution to be chance: Pearson's chi-square at ``SIGNIFICANCE``.

    An output of probability 0 is rejected at once.
    """
    if counts[law == 0].any():
        return True
    draws = int(counts.sum())
    cells = Cells.of(law, draws)
    expected = cells.probabilities * draws
    statistic = ((cells.pool(counts) - expected) ** 2 / expected).sum()
    return bool(statistic > chi2.isf(SIGNIFICANCE, len(expected) - 1))


def power(law: Reals, faulty: Reals, draws: int) -> float:
    """Probability that ``rejects`` finds the fault. The non-centrality is ``draws sum((p' - p)^2 / p)`` over cells."""
    cells = Cells.of(law, draws)
    difference = np.bincount(cells.cell_of, faulty) - cells.probabilities
    freedom = len(cells.probabilities) - 1
    non_centrality = draws * (difference**2 / cells.probabilities).sum()
    return float(ncx2.sf(chi2.isf(SIGNIFICANCE, freedom), freedom, non_centrality))


def raised(law: Reals, outputs: NDArray[np.intp], factor: float) -> Reals:
    """The distribution in which some weights are multiplied by ``factor``."""
    faulty = law.copy()
    faulty[outputs] *= factor
    return faulty / faulty.sum()


# The words.


@dataclass(frozen=True)
class Sample:
    """One kind of token, and how to draw it through ``sanitize``.

    Attributes:
        kind: What is special about it.
        tail: The tail of the distribution.
        word: The token.
        host: What stands before it in the same segment (a clitic has no blank before it), or nothing.
        law: Its distribution in SanText+ at the default level, shape ``(symbols,)``.
        faulty: The same with the fault that must be seen.
        draws: How many draws that takes.
    """

    kind: str
    tail: str
    word: str
    host: str
    law: Reals
    faulty: Reals
    draws: int

    def counts(self, sanitizer: Sanitizer) -> NDArray[np.int64]:
        """Draws and counts. Strict mode separates all outputs by one blank, clitics and punctuation too."""
        counted: Counter[str] = Counter()
        done = 0
        while done < self.draws:
            size = min(_BATCH, self.draws - done)
            text = f"{self.host}{self.word} " * size
            written = sanitizer.sanitize(
                text, mechanism="santext+", sanitize_punctuation=True, tail=self.tail
            ).text.split(" ")
            step = 2 if self.host else 1
            assert len(written) == step * size
            counted.update(written[step - 1 :: step])
            done += size
        counts = np.zeros(len(self.law), dtype=np.int64)
        for word, count in counted.items():
            counts[sanitizer.bundle.ids[word]] = count
        return counts

    def outputs(self, sanitizer: Sanitizer, count: int) -> NDArray[np.int64]:
        """Output ids of so many tokens in a row, drawn by the plan of ``counts`` in one batch: no text is written."""
        plan = sanitizer._plan({"mechanism": "santext+", "sanitize_punctuation": True, "tail": self.tail})
        word = sanitizer._lexicon.word(self.host + self.word, sanitize_punctuation=True)
        inputs = np.array(word.inputs * count, np.int64)
        drawn = plan.draw(inputs, np.full(len(inputs), word.whole))
        return drawn[len(word.inputs) - 1 :: len(word.inputs)]

    def counts_without_text(self, sanitizer: Sanitizer) -> NDArray[np.int64]:
        sizes = [min(_BATCH, self.draws - done) for done in range(0, self.draws, _BATCH)]
        return sum(np.bincount(self.outputs(sanitizer, size), minlength=len(self.law)) for size in sizes)


def exact_law(sanitizer: Sanitizer, word: str, tail: str) -> Reals:
    """Probabilities of the default call with a tail, by output id."""
    distribution = sanitizer.distribution(word, mechanism="santext+", tail=tail)
    law = np.zeros(sanitizer.bundle.symbols)
    total = distribution.total
    for y, weight in zip(distribution.words, distribution.weights, strict=True):
        law[sanitizer.bundle.ids[y]] = weight / total
    return law


def sample(sanitizer: Sanitizer, kind: str, tail: str, word: str, host: str = "", fault: float = 0.02) -> Sample:
    """A word with a fault to be seen, and the draws it takes to see it.

    The fault is 2 % in the likeliest weight. Words without a likely output (``<unk>``, words that are never an
    output: their rows are nearly flat) have none that few million draws could show; for them one eighth of all
    outputs, by id, weighs three times as much more, as a base measure read at the wrong place would do.
    """
    law = exact_law(sanitizer, word, tail)
    likeliest = np.argsort(-law)[:1]
    if law[likeliest[0]] > 0.2:
        faulty = raised(law, likeliest, 1 + fault)
    else:
        eighth = np.flatnonzero((np.cumsum(law) > 0.5) & (np.cumsum(law) <= 0.625))
        faulty = raised(law, eighth, 1 + 3 * fault)
    draws = 50_000
    while power(law, faulty, draws) <= POWER:
        draws += draws // 8
    return Sample(kind, tail, word, host, law, faulty, draws)


@pytest.fixture(scope="module")
def sanitizer() -> Sanitizer:
    return Sanitizer.load()


@pytest.fixture(scope="module")
def samples(sanitizer: Sanitizer) -> Callable[..., Sample]:
    """Samples by kind and tail. Words are taken from the bundle by what they are, not by spelling."""
    roles, vocabulary = sanitizer.bundle.table.roles, sanitizer.bundle.vocabulary
    letters = np.array([word.isalpha() for word in vocabulary])

    def words(mask: NDArray[np.bool_], count: int) -> list[str]:
        ids = np.flatnonzero(mask & letters)
        return [vocabulary[i] for i in ids[np.linspace(0, len(ids) - 1, count).astype(int)]]

    kept = words((roles & KEPT) != 0, 5)
    kinds = {f"kept-{i}": (word, "") for i, word in enumerate(kept)}
    kinds |= {f"sensitive-{i}": (w, "") for i, w in enumerate(words((roles & SANTEXT_PLUS_OUTPUT) != 0, 9))}
    kinds |= {f"never-output-{i}": (word, "") for i, word in enumerate(words(roles == 0, 2))}
    kinds |= {"clitic-s": ("'s", kept[2]), "clitic-not": ("n't", kept[2]), "mark": (",", ""), "unknown": ("qzx7", "")}

    @cache
    def by_kind(kind: str, tail: str = CAPPED, fault: float = 0.02) -> Sample:
        return sample(sanitizer, kind, tail, *kinds[kind], fault=fault)

    assert set(kinds) == set(KINDS)
    return by_kind


KINDS = [
    *(f"kept-{i}" for i in range(5)),
    *(f"sensitive-{i}" for i in range(9)),
    *(f"never-output-{i}" for i in range(2)),
    "clitic-s",
    "clitic-not",
    "mark",
    "unknown",
]
#: Draws of an exact tail take several rounds: every kind of word, but fewer of each.
EXACT_KINDS = [kind for kind in KINDS if kind.partition("-")[2] not in ("1", "3", "5", "7", "s")]
CASES = [(kind, CAPPED) for kind in KINDS] + [(kind, EXACT) for kind in EXACT_KINDS]
#: Through text, the default run draws one word of every kind.
FIRST = {"kept-2", "sensitive-2", "sensitive-4", "never-output-0", "clitic-not", "mark", "unknown"}
OF_TEXT = [
    *((kind, tail, 0.08) for kind, tail in CASES if kind in FIRST),
    *(pytest.param(kind, tail, 0.02, marks=pytest.mark.full) for kind, tail in CASES),
]
OF_PLAN = [
    *((kind, tail, 0.04) for kind, tail in CASES if tail == CAPPED or kind in FIRST),
    *(pytest.param(kind, tail, 0.02, marks=pytest.mark.full) for kind, tail in CASES),
]


# Laws.


@pytest.mark.parametrize(("kind", "tail", "fault"), OF_TEXT)
def test_the_law_of_a_word(
    sanitizer: Sanitizer, samples: Callable[..., Sample], kind: str, tail: str, fault: float
) -> None:
    tested = samples(kind, tail, fault)
    assert not rejects(tested.counts(sanitizer), tested.law)


@pytest.mark.parametrize(("kind", "tail", "fault"), OF_PLAN)
def test_the_law_of_a_word_without_its_text(
    sanitizer: Sanitizer, samples: Callable[..., Sample], kind: str, tail: str, fault: float
) -> None:
    """By the plan that a text is drawn with: words take no time, and smaller faults are seen."""
    tested = samples(kind, tail, fault)
    assert not rejects(tested.counts_without_text(sanitizer), tested.law)


def test_enough_draws(samples: Callable[..., Sample]) -> None:
    """More than a million with each tail, and for most words enough to see 2 % in one weight."""
    for tail, kinds in ((CAPPED, KINDS), (EXACT, EXACT_KINDS)):
        tested = [samples(kind, tail) for kind in kinds]
        assert len({one.word for one in tested}) == len(kinds)
        assert sum(one.draws for one in tested) > 1_000_000
        assert all(power(one.law, one.faulty, one.draws) > POWER for one in tested)
        assert sum(np.count_nonzero(one.faulty > one.law) == 1 for one in tested) >= len(kinds) - 4


@pytest.mark.parametrize(("kind", "tail"), CASES)
def test_a_fault_in_the_law_is_seen(samples: Callable[..., Sample], kind: str, tail: str) -> None:
    """As many draws with the fault are rejected; draws without it, by the same generator, are not."""
    tested = samples(kind, tail)
    chance = np.random.default_rng(51)
    assert rejects(chance.multinomial(tested.draws, tested.faulty), tested.law)
    assert not rejects(chance.multinomial(tested.draws, tested.law / tested.law.sum()), tested.law)


def test_a_fault_in_the_table_is_seen(sanitizer: Sanitizer, samples: Callable[..., Sample]) -> None:
    """The same through the sampler: integers of a row with 2 % more for the word itself, drawn and rejected."""
    tested = samples("sensitive-4")
    bundle = sanitizer.bundle
    level = next(level for level in bundle.levels if level.name == bundle.default_level)
    rows = CappedSanText.of(bundle.table, "santext+", level.parameters["santext+", CAPPED]).rows(
        np.array([bundle.ids[tested.word]])
    )
    chance = np.random.default_rng(52)

    def words(count: int) -> NDArray[np.uint64]:
        return chance.integers(0, 2**64, count, dtype=np.uint64)

    def counts(drawn_from: Rows) -> NDArray[np.int64]:
        outputs = sampling.draw(drawn_from, np.zeros(tested.draws, dtype=np.intp), words)
        return np.bincount(outputs, minlength=len(tested.law))

    assert rows.stored[0, 0] == bundle.ids[tested.word]
    more = int(rows.weights(0)[rows.stored[0, 0]]) // 50
    assert not rejects(counts(rows), tested.law)
    assert rejects(counts(Rows(rows.stored, rows.cumulative + more, rows.tail, rows.base)), tested.law)


def test_an_impossible_output_is_seen(samples: Callable[..., Sample]) -> None:
    """One draw of an output that the distribution does not have is enough."""
    tested = samples("sensitive-0")
    counts = np.random.default_rng(53).multinomial(tested.draws, tested.law / tested.law.sum())
    counts[np.flatnonzero(tested.law == 0)[0]] += 1
    assert rejects(counts, tested.law)


# No memory.


def pairs_to_find(law: Reals, share: float) -> int:
    """Pairs of tokens at which ``remembers`` finds that a share of the words repeats the word before, with ``POWER``.

    The two cells of a pair are then the same with probability ``share``, else independent: the sum over pairs of cells
    of ``(p' - p)^2 / p`` is ``share^2 (cells - 1)``.
    """
    pairs = _PAIRS
    while True:
        cells = len(Cells.of(law, pairs).probabilities)
        freedom = cells**2 - 1
        if ncx2.sf(chi2.isf(SIGNIFICANCE, freedom), freedom, pairs * share**2 * (cells - 1)) > POWER:
            return pairs
        pairs += _PAIRS


def through_text(sanitizer: Sanitizer, tested: Sample, count: int) -> NDArray[np.int64]:
    """Output ids of so many tokens in a row, drawn and written as a text."""
    written = sanitizer.sanitize(f"{tested.word} " * count, mechanism="santext+", tail=tested.tail).text.split()
    return np.array([sanitizer.bundle.ids[output.lower()] for output in written])


def remembers(draw: Callable[[int], NDArray[np.int64]], tested: Sample, pairs: int) -> bool:
    """Whether two tokens in a row depend on each other: pairs of cells against the product of their probabilities."""
    cells = Cells.of(tested.law, pairs)
    count = len(cells.probabilities)
    table = np.zeros((count, count))
    for _ in range(pairs // _PAIRS):
        found = cells.cell_of[draw(2 * _PAIRS)]
        table += np.bincount(found[0::2] * count + found[1::2], minlength=count * count).reshape(count, count)
    expected = np.outer(cells.probabilities, cells.probabilities) * pairs
    # Cells of a pair that expect too few are pooled into one.
    small = expected < SMALLEST_CELL
    terms = ((table - expected) ** 2 / expected)[~small].sum()
    if small.any():
        terms += (table[small].sum() - expected[small].sum()) ** 2 / expected[small].sum()
    freedom = np.count_nonzero(~small) + small.any() - 1
    return bool(terms > chi2.isf(SIGNIFICANCE, freedom))


def forgetful_but_for(share: float, seed: int) -> Callable[[int], NDArray[np.uint64]]:
    """A generator in which a share of the words repeats the word before."""
    chance = np.random.default_rng(seed)

    def words(count: int) -> NDArray[np.uint64]:
        drawn = chance.integers(0, 2**64, count, dtype=np.uint64)
        again = 1 + np.flatnonzero(chance.random(max(0, count - 1)) < share)
        drawn[again] = drawn[again - 1]
        return drawn

    return words


@pytest.mark.parametrize(
    ("kind", "tail", "share", "times"),
    [
        ("sensitive-2", CAPPED, 1, 1),
        ("kept-3", CAPPED, 1, 3),
        ("sensitive-2", EXACT, 5, 1),
    ],
)
@pytest.mark.parametrize("repeated", [0.03, pytest.param(0.01, marks=pytest.mark.full)])
def test_tokens_in_a_row_are_independent(
    sanitizer: Sanitizer,
    samples: Callable[..., Sample],
    kind: str,
    tail: str,
    share: int,
    times: int,
    repeated: float,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As many pairs as show a generator that repeats one to three words in a hundred, and the same function finds it.

    With an exact tail most pairs are not from one round: there it is five times that. A word that is mostly kept
    hides most of its draws: three times as many pairs.
    """
    tested = samples(kind, tail)
    pairs = times * pairs_to_find(tested.law, repeated)
    draw = partial(tested.outputs, sanitizer)
    assert not remembers(draw, tested, pairs)
    monkeypatch.setattr(entropy, "random_uint64", forgetful_but_for(0.0, seed=54))
    assert not remembers(draw, tested, _PAIRS)
    monkeypatch.setattr(entropy, "random_uint64", forgetful_but_for(share * repeated, seed=54))
    assert remembers(draw, tested, pairs)


@pytest.mark.parametrize(
    ("kind", "tail", "pairs"),
    [
        ("sensitive-2", CAPPED, _PAIRS),
        ("sensitive-2", EXACT, _PAIRS),
        pytest.param("sensitive-2", CAPPED, 2 * _BATCH, marks=pytest.mark.full),
        pytest.param("sensitive-2", EXACT, 2 * _BATCH, marks=pytest.mark.full),
        pytest.param("kept-3", CAPPED, 6 * _BATCH, marks=pytest.mark.full),
    ],
)
def test_words_of_a_text_are_independent(
    sanitizer: Sanitizer,
    samples: Callable[..., Sample],
    kind: str,
    tail: str,
    pairs: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The same through text, which is cut into parts that are drawn one after the other."""
    tested = samples(kind, tail)
    draw = partial(through_text, sanitizer, tested)
    assert not remembers(draw, tested, pairs)
    if tail == CAPPED:
        monkeypatch.setattr(entropy, "random_uint64", forgetful_but_for(0.05, seed=54))
        assert remembers(draw, tested, pairs)


# No shared streams.

_WORDS = 1_000


def outputs_of_children(sanitizer: Sanitizer, text: str, children: int = 2) -> list[str]:
    """What forked processes make of one text; the sanitizer was loaded, and used, before the fork."""
    written = []
    for _ in range(children):
        read_end, write_end = os.pipe()
        child = os.fork()
        if child == 0:
            status = 1
            try:
                os.close(read_end)
                with os.fdopen(write_end, "wb") as pipe:
                    pipe.write(sanitizer.sanitize(text, mechanism="santext+").text.encode())
                status = 0
            finally:
                os._exit(status)
        os.close(write_end)
        with os.fdopen(read_end, "rb") as pipe:
            written.append(pipe.read().decode())
        _, status = os.waitpid(child, 0)
        assert status == 0
    return written


def all_differ(texts: list[str]) -> bool:
    """Whether no two texts are the same. For a thousand such words that has probability below 1e-100."""
    return len(set(texts)) == len(texts)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_forked_processes_share_no_stream(
    sanitizer: Sanitizer, samples: Callable[..., Sample], monkeypatch: pytest.MonkeyPatch
) -> None:
    tested = samples("sensitive-3")
    assert (tested.law**2).sum() ** _WORDS < 1e-100
    text = " ".join([tested.word] * _WORDS)
    here = sanitizer.sanitize(text, mechanism="santext+").text
    children = outputs_of_children(sanitizer, text)
    assert all(len(output.split()) == _WORDS for output in children)
    assert all_differ([here, *children, sanitizer.sanitize(text, mechanism="santext+").text])

    # A generator with state in the process gives both children the same words, and is found.
    monkeypatch.setattr(entropy, "random_uint64", forgetful_but_for(0.0, seed=55))
    assert not all_differ(outputs_of_children(sanitizer, text))


def test_threads_share_no_stream(sanitizer: Sanitizer, samples: Callable[..., Sample]) -> None:
    text = " ".join([samples("sensitive-3").word] * _WORDS)
    start = threading.Barrier(8)

    def at_once(_: int) -> str:
        start.wait()
        return sanitizer.sanitize(text, mechanism="santext+").text

    with ThreadPoolExecutor(8) as threads:
        assert all_differ(list(threads.map(at_once, range(8))))


def test_batches_share_no_stream(sanitizer: Sanitizer, samples: Callable[..., Sample]) -> None:
    """Two batches in one process, two texts in one batch, and two sanitizers of one bundle."""
    text = " ".join([samples("sensitive-3").word] * _WORDS)
    results = [
        *sanitizer.sanitize_batch([text, text], mechanism="santext+"),
        *sanitizer.sanitize_batch([text, text], mechanism="santext+"),
    ]
    results.append(Sanitizer(sanitizer.bundle).sanitize(text, mechanism="santext+"))
    assert all_differ([result.text for result in results])
