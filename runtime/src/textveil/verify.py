"""What a device can check by itself: hashes, structure, certificate, and a fresh audit of randomly chosen pairs."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from textveil import entropy
from textveil.audit import Audit, scaled_distances
from textveil.bundle import Bundle
from textveil.errors import BundleDamaged
from textveil.mechanisms import TableLaw
from textveil.plan import label
from textveil.privacy import TEXTBOOK, rounding_slack
from textveil.table import LevelLaw, Table, scores

PAIRS = 1_000_000
_AT_ONCE = 50_000


@dataclass(frozen=True)
class Verification:
    """What was checked of a bundle, and held.

    Attributes:
        files: Files whose size and hash are right.
        certified: Whether there is a certificate for this very table.
        scores: Stored distances recomputed from the rows that ship; 0 without rows.
        pairs: Pairs of inputs whose loss was computed anew and is within the stated bound; 0 without rows.
    """

    files: int
    certified: bool
    scores: int
    pairs: int

    def __str__(self) -> str:
        certificate = "certificate for this very table" if self.certified else "no certificate: textbook bounds"
        lines = [f"{self.files} files with the right size and hash, structure sound", certificate]
        if not self.pairs:
            lines.append("no embedding rows: distances and losses were not audited")
        else:
            lines.append(f"{self.scores:,} stored distances recomputed from the rows: all equal")
            lines.append(f"{self.pairs:,} random pairs of words audited at all levels: all within the stated epsilon")
        return "\n".join(lines)


def verify(bundle: Bundle, pairs: int = PAIRS) -> Verification:
    """Checks what can be checked of an opened bundle (opening it has checked hashes and structure).

    A random sample, drawn from the operating system's entropy: half of the pairs are any two inputs, half are an
    input and one of its stored neighbours, where losses per distance are largest. The full search over all pairs is
    ``textveil-export certify``.

    Args:
        bundle: An opened bundle.
        pairs: How many pairs to audit, shared over all levels and mechanisms.

    Raises:
        BundleDamaged: A weight does not follow its exponent, a stored distance is not that of the rows, or a loss is
            above its bound. The level, the score or the row is named.
    """
    files = len(bundle.manifest["files"])
    laws = [(level, mechanism) for level in bundle.levels for mechanism in level.laws]
    for level, mechanism in laws:
        _check_weights(level.name, level.laws[mechanism], bundle.table.grid)
    if bundle.embeddings is None:
        return Verification(files, bundle.certificate is not None, 0, 0)
    share = -(-pairs // len(laws))
    recomputed = 0
    for level, mechanism in laws:
        level_law = level.laws[mechanism]
        audit = Audit(TableLaw.of(bundle.table, mechanism, level_law))
        epsilon, kind = label(bundle, level, mechanism)
        slack = 0.0
        if kind == TEXTBOOK:
            slack = rounding_slack(level_law.exponent, bundle.table.grid, int(level_law.weights[-1]))
        for first, second in _samples(bundle.table, share):
            distances = scaled_distances(bundle.table, bundle.embeddings, first, second)
            allowed = epsilon * distances * (1 + 1e-12) + slack + 1e-9
            used = audit.bounds(first, second)
            close = np.flatnonzero(used > allowed)
            used[close] = audit.losses(first[close], second[close])[0]
            if (used > allowed).any():
                row = int(first[np.argmax(used - allowed)])
                raise BundleDamaged(f"level {level.name}, {mechanism}: row {row} exceeds the stated epsilon")
        recomputed += _check_scores(bundle.table, bundle.embeddings, share)
    return Verification(files, bundle.certificate is not None, recomputed, share * len(laws))


def _samples(table: Table, count: int) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    for start in range(0, count, _AT_ONCE):
        size = min(_AT_ONCE, count - start)
        first, second = _random_below(table.symbols + 1, size), _random_below(table.symbols + 1, size)
        column = _random_below(table.neighbours.shape[1], size)
        near = np.arange(size) % 2 == 0
        second = np.where(near, table.neighbours[first, column], second)
        swap = np.arange(size) % 4 < 2
        yield np.where(swap, second, first), np.where(swap, first, second)


def _check_weights(name: str, law: LevelLaw, grid: int) -> None:
    """Weights must be ``exp(-alpha s / grid)`` times a constant, to within rounding; the textbook bound rests on it."""
    exact = float(law.weights[0]) * np.exp(-float(law.exponent) * np.arange(len(law.weights)) / grid)
    wrong = np.abs(law.weights - exact) > 1 + 1e-9 * exact
    if wrong.any():
        raise BundleDamaged(f"level {name}: the weight of score {int(np.argmax(wrong))} does not follow its exponent")


def _check_scores(table: Table, embeddings: NDArray[np.int8], count: int) -> int:
    for start in range(0, count, _AT_ONCE):
        size = min(_AT_ONCE, count - start)
        first, column = _random_below(table.symbols + 1, size), _random_below(table.neighbours.shape[1], size)
        squared = table.squared_distances(embeddings, first, table.neighbours[first, column].astype(np.intp))
        wrong = scores(squared, table.grid, table.median_squared_distance) != table.scores[first, column]
        if wrong.any():
            raise BundleDamaged(f"table.safetensors: row {first[np.argmax(wrong)]} stores a wrong distance")
    return count


def _random_below(limit: int, count: int) -> NDArray[np.intp]:
    # Which pairs are looked at; a bias of limit / 2**64 does not matter here.
    return (entropy.random_words(count) % np.uint64(limit)).astype(np.intp)
