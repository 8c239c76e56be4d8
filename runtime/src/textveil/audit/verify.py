"""Checks that a device can make: hashes, structure, certificate, and a fresh audit of random pairs."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from textveil.audit.capped import CappedAudit
from textveil.audit.exact import ExactAudit, largest_differences, log_totals
from textveil.audit.staircase import verify_staircase
from textveil.bundle.santext_files import Level
from textveil.bundle.text import TextBundle
from textveil.bundle.vectors import VectorBundle
from textveil.errors import BundleDamaged, OptionError
from textveil.mechanisms import entropy
from textveil.mechanisms.baselines.santext import CappedSanText, ExactSanText, rounding_slack
from textveil.mechanisms.baselines.table import CAPPED, EXACT, SANTEXT_OUTPUT, Table, wrong_weight
from textveil.mechanisms.metric import Floats, Metric
from textveil.mechanisms.noise.parameters import L2
from textveil.release import counted
from textveil.text.levels import label
from textveil.text.statement import TEXTBOOK
from textveil.vector.statement import vector_statement

PAIRS = 1_000_000
_AT_ONCE = 50_000
_FAR = np.iinfo(np.int64).max


@dataclass(frozen=True)
class Verification:
    """The checks that a bundle passed.

    Attributes:
        files: Files whose size and hash are right.
        certified: Whether there is a certificate for this very table.
        scores: Stored distances recomputed from the rows that ship; 0 without rows.
        pairs: Pairs of inputs whose loss was computed anew and is within the stated bound; 0 without rows.
        staircase: What was checked of the staircase; ``None`` without one.
        santext: Whether there is SanText.
    """

    files: int
    certified: bool
    scores: int
    pairs: int
    staircase: str | None = None
    santext: bool = True

    def __str__(self) -> str:
        if self.staircase is not None:
            first = f"{counted(self.files, 'file')} with the right size and hash, structure sound"
            rest = replace(self, staircase=None)
            return "\n".join([first, self.staircase, *(str(rest).split("\n")[1:] if self.santext else [])])
        certificate = "certificate for this very table" if self.certified else "no certificate: textbook bounds"
        lines = [f"{counted(self.files, 'file')} with the right size and hash, structure sound", certificate]
        if not self.pairs:
            lines.append("no embedding rows: distances and losses were not audited")
        else:
            lines.append(
                f"all {self.scores:,} stored distances recomputed from the rows: equal, no nearer word missing"
            )
            lines.append(
                f"{counted(self.pairs, 'random pair')} of words audited at all levels: all within the stated epsilon"
            )
        return "\n".join(lines)


def verify_text(bundle: TextBundle, pairs: int = PAIRS) -> Verification:
    """Checks what can be checked of an opened bundle (opening it has checked hashes and structure).

    A random sample, drawn from the operating system's entropy: half of the pairs are any two inputs, half are an
    input and one of its stored neighbors, where losses per distance are largest; for exact tails, all pairs among a
    sample of inputs, half of them stored neighbors of the other half. The full search over all pairs is
    ``textveil-export certify``. Stored distances and neighbors are checked in all rows.

    Args:
        bundle: An opened bundle.
        pairs: How many pairs to audit, shared over all levels and mechanisms.

    Raises:
        BundleDamaged: A weight does not follow its exponent, a stored distance is not that of the rows, a neighbor is
            missing, or a loss is above its bound. The level, the score or the row is named.
    """
    files = len(bundle.manifest["files"])
    staircase = None if bundle.staircase is None else verify_staircase(bundle)
    if not bundle.levels:
        return Verification(files, False, 0, 0, staircase, santext=False)
    return replace(_verify_santext(bundle, pairs, files), staircase=staircase)


def _verify_santext(bundle: TextBundle, pairs: int, files: int) -> Verification:
    all_parameters = [(level, *key) for level in bundle.levels for key in level.parameters]
    for level, mechanism, tail in all_parameters:
        parameters = level.parameters[mechanism, tail]
        score = wrong_weight(parameters.weights, parameters.exponent, bundle.table.grid)
        if score is not None:
            raise BundleDamaged(f"level {level.name}: the weight of score {score} does not follow its exponent")
    if bundle.metric is None:
        return Verification(files, bundle.certificate is not None, 0, 0)
    share = -(-pairs // len(all_parameters))
    audited = 0
    for level, mechanism, tail in all_parameters:
        if tail == CAPPED:
            audited += _audit_capped(bundle, bundle.metric, level, mechanism, share)
    exact = [(level, mechanism) for level, mechanism, tail in all_parameters if tail == EXACT]
    if exact:
        audited += _audit_exact(bundle, bundle.metric, exact, share)
    recomputed = _check_scores(bundle.table, bundle.metric)
    return Verification(files, bundle.certificate is not None, recomputed, audited)


def verify_encoder(bundle: VectorBundle) -> str:
    """Checks what can be checked of an opened encoder bundle, and returns what was checked.

    Opening it has checked hashes, structure and the model. Here the finished noise of every level is audited: its
    exact distribution gives the realized loss between any two texts, which must not be above the stated one.

    Raises:
        BundleDamaged: There is no noise for a level, or it loses more than is stated. The level is named.
    """
    for level in bundle.levels:
        try:
            statement = vector_statement(level, "0", bundle.identity)
            sound = statement.whole_text.covers(statement.realized)
        except OptionError as error:
            raise BundleDamaged(f"level {level.epsilon}: {error}") from error
        if not sound:
            raise BundleDamaged(f"level {level.epsilon}: the noise loses more than the stated epsilon")
    files, model = len(bundle.manifest["files"]), bundle.model
    levels, tensors = counted(len(bundle.levels), "level"), counted(model.tensors, "tensor")
    operators = counted(sum(model.operators.values()), "operator")
    kind = "a bound on delta" if bundle.default_level.mode == L2 else "in exact rationals"
    return "\n".join(
        [
            f"{counted(files, 'file')} with the right size and hash, structure sound",
            f"model: {operators}, all known; {tensors}, all inside",
            f"finished noise of {levels} audited, {kind}: within the stated epsilon",
        ]
    )


def _audit_capped(bundle: TextBundle, metric: Metric, level: Level, mechanism: str, pairs: int) -> int:
    audit = CappedAudit(CappedSanText.of(bundle.table, mechanism, level.parameters[mechanism, CAPPED]))
    for first, second in _samples(bundle.table, pairs):
        allowed = _allowed(bundle, level, mechanism, CAPPED, metric.scaled(metric.squared(first, second)))
        used = audit.bounds(first, second)
        close = np.flatnonzero(used > allowed)
        used[close] = audit.losses(first[close], second[close])[0]
        _refuse(used, allowed, first, level, mechanism)
    return pairs


def _audit_exact(bundle: TextBundle, metric: Metric, levels: list[tuple[Level, str]], pairs: int) -> int:
    """All pairs among some inputs and a neighbor of each: their rows are computed over all outputs."""
    table = bundle.table
    half = _random_below(table.symbols + 1, max(1, math.isqrt(pairs) // 2))
    column = _random_below(table.neighbors.shape[1], len(half))
    inputs = np.unique(np.concatenate([half, table.neighbors[half, column]])).astype(np.intp)
    squared = np.concatenate([block for _, block in metric.squared_to_all(inputs)])
    scores = metric.scores(squared)
    first, second = (index.ravel() for index in np.indices((len(inputs), len(inputs))))
    first, second = first[first != second], second[first != second]
    distances = metric.scaled(squared[first, inputs[second]])
    for level, mechanism in levels:
        exact = ExactSanText(CappedSanText.of(table, mechanism, level.parameters[mechanism, EXACT]), metric)
        audit = ExactAudit(exact, log_totals([exact], scores)[0])
        allowed = _allowed(bundle, level, mechanism, EXACT, distances)
        used = audit.bounds(first, second, scores[first, inputs[second]] + 1)
        outputs = np.flatnonzero(exact.capped.base)
        close = np.flatnonzero(used > allowed)
        for x in np.unique(first[close]):  # the scan over all outputs, for inputs that are none
            of_x = close[first[close] == x]
            differences = largest_differences(scores[x], scores[second[of_x]], outputs)
            used[of_x] = audit.bounds(x, second[of_x], differences)
        _refuse(used, allowed, inputs[first], level, mechanism)
    return len(first) * len(levels)


def _allowed(bundle: TextBundle, level: Level, mechanism: str, tail: str, distances: Floats) -> Floats:
    epsilon, kind = label(bundle, level, mechanism, tail)
    parameters = level.parameters[mechanism, tail]
    slack = 0.0
    if kind == TEXTBOOK:
        slack = rounding_slack(parameters.exponent, bundle.table.grid, int(parameters.weights[-1]))
    return epsilon * distances * (1 + 1e-12) + slack + 1e-9


def _refuse(used: Floats, allowed: Floats, first: NDArray[np.intp], level: Level, mechanism: str) -> None:
    if (used > allowed).any():
        row = int(first[np.argmax(used - allowed)])
        raise BundleDamaged(f"level {level.name}, {mechanism}: row {row} exceeds the stated epsilon")


def _samples(table: Table, count: int) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    for start in range(0, count, _AT_ONCE):
        size = min(_AT_ONCE, count - start)
        first, second = _random_below(table.symbols + 1, size), _random_below(table.symbols + 1, size)
        column = _random_below(table.neighbors.shape[1], size)
        near = np.arange(size) % 2 == 0
        second = np.where(near, table.neighbors[first, column], second)
        swap = np.arange(size) % 4 < 2
        yield np.where(swap, second, first), np.where(swap, first, second)


def _check_scores(table: Table, metric: Metric) -> int:
    """Every stored distance, and of every row that no candidate nearer than the last stored one is missing.

    A draw with an exact tail proposes from the stored rows: a neighbor that is missing would come out too seldom.
    """
    inputs, k = table.neighbors.shape
    no_candidate = np.append((table.roles & SANTEXT_OUTPUT) == 0, True)
    for rows, squared in metric.squared_to_all(np.arange(inputs)):
        stored = table.neighbors[rows].astype(np.intp)
        wrong = (metric.scores(np.take_along_axis(squared, stored, axis=1)) != table.scores[rows]).any(axis=1)
        if wrong.any():
            raise BundleDamaged(f"table.safetensors: row {rows[wrong.argmax()]} stores a wrong distance")
        np.put_along_axis(squared, stored, _FAR, axis=1)
        squared[:, no_candidate] = _FAR
        nearest = squared.min(axis=1)
        lacks = (metric.scores(np.where(nearest < _FAR, nearest, 0)) < table.scores[rows, -1]) & (nearest < _FAR)
        if lacks.any():
            raise BundleDamaged(f"table.safetensors: row {rows[lacks.argmax()]} lacks a neighbor")
    return inputs * k


def _random_below(limit: int, count: int) -> NDArray[np.intp]:
    # Which pairs are looked at; a bias of limit / 2**64 does not matter here.
    return (entropy.random_uint64(count) % np.uint64(limit)).astype(np.intp)
