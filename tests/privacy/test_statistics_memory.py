"""No memory between tokens of the shipped bundle: not in a row, in a text, in processes, threads or batches.

Each test is run on draws that have the fault too, from a seeded generator, and must reject them. It rejects a faultless
sampler with probability 1e-9, and finds the fault with probability above 0.999.
"""

import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import pytest
from chi_square import POWER, SIGNIFICANCE, SMALLEST_CELL, Cells, Reals
from drawn_words import BATCH, Sample
from numpy.typing import NDArray
from scipy.stats import chi2, ncx2
from textveil import Sanitizer
from textveil.mechanisms import entropy

pytestmark = pytest.mark.statistical

_PAIRS = 100_000  # pairs of tokens that are drawn at once


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
    written = sanitizer.sanitize(f"{tested.word} " * count, mechanism="santext+").text.split()
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
    ("kind", "share", "times"),
    [
        ("sensitive-2", 5, 1),
        ("kept-3", 5, 3),
    ],
)
@pytest.mark.parametrize("repeated", [0.03, pytest.param(0.01, marks=pytest.mark.full)])
def test_tokens_in_a_row_are_independent(
    sanitizer: Sanitizer,
    samples: Callable[..., Sample],
    kind: str,
    share: int,
    times: int,
    repeated: float,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As many pairs as show a generator that repeats one to three words in a hundred, and the same function finds it.

    Most pairs are not from one round: it takes five times that. A word that is mostly kept hides most of its draws:
    three times as many pairs.
    """
    tested = samples(kind)
    pairs = times * pairs_to_find(tested.law, repeated)
    draw = partial(tested.outputs, sanitizer)
    assert not remembers(draw, tested, pairs)
    monkeypatch.setattr(entropy, "random_uint64", forgetful_but_for(0.0, seed=54))
    assert not remembers(draw, tested, _PAIRS)
    monkeypatch.setattr(entropy, "random_uint64", forgetful_but_for(share * repeated, seed=54))
    assert remembers(draw, tested, pairs)


@pytest.mark.parametrize(
    ("kind", "pairs"),
    [
        ("sensitive-2", _PAIRS),
        pytest.param("sensitive-2", 2 * BATCH, marks=pytest.mark.full),
        pytest.param("kept-3", 6 * BATCH, marks=pytest.mark.full),
    ],
)
def test_words_of_a_text_are_independent(
    sanitizer: Sanitizer,
    samples: Callable[..., Sample],
    kind: str,
    pairs: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The same through text, which is cut into parts that are drawn one after the other."""
    tested = samples(kind)
    draw = partial(through_text, sanitizer, tested)
    assert not remembers(draw, tested, pairs)
    monkeypatch.setattr(entropy, "random_uint64", forgetful_but_for(0.25, seed=54))
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
