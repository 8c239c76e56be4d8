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
from textveil.table import SANTEXT_OUTPUT, Table, scores, wrong_weight

PAIRS = 1_000_000
_AT_ONCE = 50_000
_COMPLETE_ROWS = 30


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
            lines.append(f"all {self.scores:,} stored distances recomputed from the rows: equal")
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
        BundleDamaged: A weight does not follow its exponent, a stored distance is not that of the rows, a neighbour is
            missing, or a loss is above its bound. The level, the score or the row is named.
    """
    files = len(bundle.manifest["files"])
    laws = [(level, mechanism) for level in bundle.levels for mechanism in level.laws]
    for level, mechanism in laws:
        law = level.laws[mechanism]
        score = wrong_weight(law.weights, law.exponent, bundle.table.grid)
        if score is not None:
            raise BundleDamaged(f"level {level.name}: the weight of score {score} does not follow its exponent")
    if bundle.embeddings is None:
        return Verification(files, bundle.certificate is not None, 0, 0)
    share = -(-pairs // len(laws))
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
    recomputed = _check_scores(bundle.table, bundle.embeddings)
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


def _check_scores(table: Table, embeddings: NDArray[np.int8]) -> int:
    """Every stored distance, and for some rows also that no candidate nearer than the last stored one is missing."""
    inputs, k = table.neighbours.shape
    for start in range(0, inputs, _AT_ONCE // k + 1):
        rows = np.arange(start, min(start + _AT_ONCE // k + 1, inputs))
        stored = table.neighbours[rows].astype(np.intp)
        squared = table.squared_distances(embeddings, np.repeat(rows, k), stored.ravel())
        wrong = scores(squared, table.grid, table.median_squared_distance) != table.scores[rows].ravel()
        if wrong.any():
            raise BundleDamaged(f"table.safetensors: row {rows[int(np.argmax(wrong)) // k]} stores a wrong distance")
    candidates = np.flatnonzero(table.roles & SANTEXT_OUTPUT)
    for row in _random_below(inputs, _COMPLETE_ROWS):
        squared = table.squared_distances(embeddings, np.full(len(candidates), row), candidates)
        nearer = candidates[scores(squared, table.grid, table.median_squared_distance) < table.scores[row, -1]]
        if not np.isin(nearer, table.neighbours[row]).all():
            raise BundleDamaged(f"table.safetensors: row {row} lacks a neighbour")
    return inputs * k


def _random_below(limit: int, count: int) -> NDArray[np.intp]:
    # Which pairs are looked at; a bias of limit / 2**64 does not matter here.
    return (entropy.random_words(count) % np.uint64(limit)).astype(np.intp)
