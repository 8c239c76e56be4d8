"""Checks of an opened bundle (data folder): weights, distances, possible outputs and privacy losses.

Opening a bundle has already checked hashes and structure. This module computes the privacy losses of pairs of words
from the exact output distribution of each mechanism (``Randomizer``). For the mechanism SanText, it checks only a
random sample of pairs; ``textveil-export certify`` checks all pairs.
"""

import math
from collections.abc import Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textveil.bundle.components import SanTextLevel
from textveil.bundle.files import read_bundle_files
from textveil.bundle.label_bundle import LabelBundle
from textveil.bundle.layout import STAIRCASE_MODES
from textveil.bundle.text_bundle import TextBundle
from textveil.bundle.vector_bundle import VectorBundle
from textveil.errors import BundleDamaged, OptionError
from textveil.formatting import format_count
from textveil.mechanisms import entropy
from textveil.mechanisms.arrays import Floats
from textveil.mechanisms.baselines.santext import SanText, bound_rounding_slack
from textveil.mechanisms.baselines.table import SANTEXT_OUTPUT_ROLE, SanTextTable, find_wrong_weight
from textveil.mechanisms.metric import WordMetric
from textveil.mechanisms.noise.parameters import L2
from textveil.mechanisms.randomizer import Randomizer
from textveil.mechanisms.staircase import make_staircase_randomizer
from textveil.text.levels import find_epsilon_and_kind, format_epsilon
from textveil.text.staircase_plans import StaircasePlanFactory
from textveil.text.statement import TEXTBOOK
from textveil.vector.statement import make_vector_statement

AUDITED_PAIRS = 250_000
#: Number of inputs of the staircase mechanism that are compared in pairs, for all levels and modes.
_STAIRCASE_INPUTS = 24
#: Number of entries that are compared at a time, small enough for the cache of a processor.
_BLOCK_ENTRIES = 1 << 16
_MAX_SQUARED = np.iinfo(np.int64).max
#: Value in place of the logarithm of 0, so that the difference of two such values is 0.
_LOG_OF_ZERO = -1e300
#: Tolerance: larger than the rounding error of logarithms of doubles, smaller than a printed digit.
_MARGIN = 1e-9


def compute_largest_losses(randomizer: Randomizer, inputs: NDArray[np.intp]) -> Floats:
    """Return the largest privacy loss over all outputs, for each pair of the given inputs.

    The privacy loss of a pair at an output is ``ln(p / q)``, where ``p`` and ``q`` are the probabilities of the output
    for the first and the second input.

    Args:
        randomizer: The output distribution of a mechanism. For SanText+ pass ``randomizer.without_coin``, because the
            function compares only outputs that are sampled (``output_ids``), not words that stay unchanged.
        inputs: Ids of the inputs, shape ``(inputs,)``.

    Returns:
        Losses, shape ``(inputs, inputs)``, with a row for the first input and a column for the second input.
    """
    logs = np.maximum(randomizer.compute_log_rows(inputs)[:, randomizer.output_ids], _LOG_OF_ZERO)
    losses = np.full((len(inputs), len(inputs)), -np.inf)
    size = max(1, _BLOCK_ENTRIES // len(inputs))
    for start in range(0, logs.shape[1], size):
        part = np.ascontiguousarray(logs[:, start : start + size])
        for row, of_row in zip(losses, part, strict=True):
            np.maximum(row, (of_row - part).max(axis=1), out=row)
    return losses


def verify_text(bundle: TextBundle, pairs: int = AUDITED_PAIRS) -> str:
    """Check an opened text bundle (data folder for rewriting texts), and return a report of the checks.

    * Mechanism SanText, which replaces words at random: the weights, all stored distances, and whether a nearer word is
      missing. Also the privacy losses of all pairs of words in a random sample; half of these words are stored
      neighbors of the other half.
    * Staircase mechanism, which replaces words at random: the possible outputs of every protection mode, and the
      privacy losses of a smaller sample.
    * Mode ``names``, which hides names: its word lists.

    Args:
        bundle: An opened bundle.
        pairs: Number of pairs of words to check for SanText, divided among all levels (epsilons) and mechanisms.

    Raises:
        BundleDamaged: A weight does not follow from its exponent, a stored distance is wrong, a neighbor is missing, an
            output is not allowed, a privacy loss exceeds its bound, or a list is malformed. The message names the level
            (epsilon), the score, the row or the line.
    """
    files = read_bundle_files(bundle.path, bundle.manifest["files"], bundle.max_bytes)
    lines = [f"{format_count(len(files), 'file')} with the right size and hash, structure sound"]
    if bundle.staircase_table is not None:
        lines.append(_verify_staircase(bundle))
    if bundle.santext_levels:
        lines += _verify_santext(bundle, pairs)
    if bundle.names_files is not None:
        lists = bundle.get_names_lists()
        lines.append(
            f"mode names: {len(lists.common_words):,} common words, none of them a weekday, month, title or group"
        )
    return "\n".join(lines)


def verify_encoder(bundle: VectorBundle) -> str:
    """Check an opened vector bundle (data folder for noisy vectors of texts), and return a report of the checks.

    Opening the bundle has already checked the model. For every level (one epsilon with its parameters), this function
    computes the privacy loss for any two texts from the exact distribution of the noise. The loss must not exceed the
    loss that the bundle states.

    Raises:
        BundleDamaged: No noise is possible for a level, or the loss exceeds the stated loss. The message names the
            level.
    """
    for level in bundle.levels:
        try:
            statement = make_vector_statement(level, "0", bundle.content_hash)
            sound = statement.whole_text.covers(statement.realized)
        except OptionError as error:
            raise BundleDamaged(f"level {level.epsilon}: {error}") from error
        if not sound:
            raise BundleDamaged(f"epsilon {level.epsilon}: the privacy loss of the noise exceeds the stated epsilon")
    files, model = len(bundle.manifest["files"]), bundle.model_counts
    levels, tensors = format_count(len(bundle.levels), "level"), format_count(model.tensors, "tensor")
    operators = format_count(sum(model.operators.values()), "operator")
    kind = "a bound on delta" if bundle.default_level.mode == L2 else "in exact rationals"
    return "\n".join(
        [
            f"{format_count(files, 'file')} with the right size and hash, structure sound",
            f"model: {operators}, all known; {tensors}, all inside",
            f"finished noise of {levels} audited, {kind}: within the stated epsilon",
        ]
    )


def verify_labels(bundle: LabelBundle) -> str:
    """Check an opened label bundle (data folder for noisy class labels of texts), and return a report of the checks.

    Opening the bundle has already checked the randomizers (rules that replace a label at random). This function
    computes the output distribution of every class label in exact rational numbers. For any two labels, the
    probabilities of an output must not differ by more than the factor ``exp(epsilon)``. If the manifest has a
    certificate, its integers must equal those of the bundle.

    Raises:
        BundleDamaged: The privacy loss of a randomizer exceeds its epsilon, or the certificate belongs to another
            bundle. The message names the level.
    """
    certificate = bundle.manifest.get("certificate")
    entries: list[Any] = certificate if isinstance(certificate, list) else []
    stated = [
        tuple(entry.get(key) for key in ("randomizer", "epsilon", "base_sum", "budget", "factor"))
        for entry in entries
        if isinstance(entry, dict)
    ]
    computed = []
    for name, levels in bundle.randomizers.items():
        for staircase in levels:
            epsilon = f"{staircase.level.epsilon:f}"
            rows = [
                make_staircase_randomizer(staircase).compute_exact_row(code) for code in range(staircase.label_count)
            ]
            if exceeds_epsilon(rows, staircase.level.epsilon):
                raise BundleDamaged(
                    f"randomizer {name}, epsilon {epsilon}: its privacy loss exceeds the stated epsilon"
                )
            computed.append((name, epsilon, staircase.base_sum, staircase.budget, staircase.factor))
    if certificate is not None and stated != computed:
        raise BundleDamaged("the certificate in the manifest does not match the randomizers")
    return "\n".join(
        [
            f"{format_count(len(bundle.manifest['files']), 'file')} with the right size and hash, structure sound",
            "no certificate" if certificate is None else "the certificate matches the randomizers",
            f"{format_count(len(computed), 'level')} of {format_count(len(bundle.randomizers), 'randomizer')} computed "
            "in exact "
            "rationals: all within the stated epsilon",
        ]
    )


def exceeds_epsilon(rows: Sequence[Sequence[int]], epsilon: Decimal) -> bool:
    """Return whether two inputs have probabilities of an output that differ by more than a factor ``exp(epsilon)``.

    The comparison uses exact rational numbers.

    Args:
        rows: Exact weights of the outputs, one row for each input.
        epsilon: The stated upper bound of the privacy loss.
    """
    totals = [sum(row) for row in rows]
    ratio = Fraction(0)
    for column in zip(*rows, strict=True):
        shares = [Fraction(weight, total) for weight, total in zip(column, totals, strict=True)]
        if max(shares) and not min(shares):
            return True
        ratio = max(ratio, max(shares) / min(shares)) if max(shares) else ratio
    with localcontext(prec=60):
        bound = Fraction(epsilon.exp() * (1 - Decimal(10) ** -50))
    return ratio > bound


def _verify_santext(bundle: TextBundle, pairs: int) -> list[str]:
    table, metric = bundle.table, bundle.metric
    laws = [(level, mechanism) for level in bundle.santext_levels for mechanism in level.parameters]
    for level, mechanism in laws:
        parameters = level.parameters[mechanism]
        score = find_wrong_weight(parameters.weights, parameters.exponent, table.grid)
        if score is not None:
            raise BundleDamaged(f"level {level.name}: the weight of score {score} does not follow its exponent")
    inputs = _sample_inputs(table, -(-pairs // len(laws)))
    squared = np.concatenate([block for _, block in metric.iterate_squared_blocks(inputs)])[:, inputs]
    for level, mechanism in laws:
        channel = SanText.from_table(table, metric, mechanism, level.parameters[mechanism]).randomizer
        over = compute_largest_losses(channel, inputs) - _compute_allowed(
            bundle, level, mechanism, metric.compute_scaled(squared)
        )
        np.fill_diagonal(over, -np.inf)
        if (over > 0).any():
            row = int(inputs[int(over.argmax()) // len(inputs)])
            raise BundleDamaged(f"level {level.name}, {mechanism}: row {row} exceeds the stated epsilon")
    _check_scores(table, metric)
    audited = len(laws) * len(inputs) * (len(inputs) - 1)
    return [
        "no certificate: textbook epsilons" if bundle.certificate is None else "the certificate matches the table",
        f"all {table.scores.size:,} stored distances recomputed from the rows: equal, no nearer word missing",
        f"{format_count(audited, 'random pair')} of words audited at all levels: all within the stated epsilon",
    ]


def _compute_allowed(bundle: TextBundle, level: SanTextLevel, mechanism: str, distances: Floats) -> Floats:
    epsilon, kind = find_epsilon_and_kind(bundle, level, mechanism)
    parameters = level.parameters[mechanism]
    slack = 0.0
    if kind == TEXTBOOK:
        slack = bound_rounding_slack(parameters.exponent, bundle.table.grid, int(parameters.weights[-1]))
    return epsilon * distances * (1 + 1e-12) + slack + _MARGIN


def _sample_inputs(table: SanTextTable, pairs: int) -> NDArray[np.intp]:
    """Sample words at random, and a similar word for each: enough words that they form about ``pairs`` pairs."""
    half = _draw_below(table.symbol_count + 1, max(1, math.isqrt(pairs) // 2))
    column = _draw_below(table.neighbors.shape[1], len(half))
    return np.unique(np.concatenate([half, table.neighbors[half, column]])).astype(np.intp)


def _check_scores(table: SanTextTable, metric: WordMetric) -> None:
    """Check the stored distances of similar words, and that no similar word is missing.

    For each word, the table stores its nearest words (neighbors). Every word that is nearer than the last stored
    neighbor must also be stored: the mechanism would sample a missing word too rarely.
    """
    no_candidate = np.append((table.roles & SANTEXT_OUTPUT_ROLE) == 0, True)
    for rows, squared in metric.iterate_squared_blocks(np.arange(len(table.neighbors))):
        stored = table.neighbors[rows].astype(np.intp)
        wrong = (metric.compute_scores(np.take_along_axis(squared, stored, axis=1)) != table.scores[rows]).any(axis=1)
        if wrong.any():
            raise BundleDamaged(f"table.safetensors: row {rows[wrong.argmax()]} stores a wrong distance")
        np.put_along_axis(squared, stored, _MAX_SQUARED, axis=1)
        squared[:, no_candidate] = _MAX_SQUARED
        nearest = squared.min(axis=1)
        lacks = (metric.compute_scores(np.where(nearest < _MAX_SQUARED, nearest, 0)) < table.scores[rows, -1]) & (
            nearest < _MAX_SQUARED
        )
        if lacks.any():
            raise BundleDamaged(f"table.safetensors: row {rows[lacks.argmax()]} lacks a neighbor")


def _verify_staircase(bundle: TextBundle) -> str:
    """Check the possible outputs and the privacy losses of the staircase mechanism in every protection mode.

    In a mode that leaves function words (such as "the") unchanged, no output may be a function word. No output may be a
    surrogate (replacement of a name or number), or look like one.
    """
    plans = StaircasePlanFactory(bundle)
    assert bundle.staircase_table is not None
    inputs = np.unique(_draw_below(bundle.symbol_count + 1, _STAIRCASE_INPUTS))
    for protect in STAIRCASE_MODES:
        rule = plans.make_rule(protect=protect)
        for lower in (False, True):
            for symbol in np.flatnonzero(plans.get_output_mask(protect=protect, lower=lower)).tolist():
                if not rule.is_output_allowed(bundle.vocabulary[symbol], lower=lower):
                    raise BundleDamaged(f"staircase.safetensors: word {symbol} is an output that its mode forbids")
        for level in bundle.staircase_levels:
            slots = plans.make_slot_staircase(level, protect=protect)
            for staircase in {slots.any_case, slots.lower_case}:
                if (
                    compute_largest_losses(make_staircase_randomizer(staircase), inputs).max()
                    > float(level.epsilon) + _MARGIN
                ):
                    raise BundleDamaged(
                        f"level {level.epsilon.normalize():f}: the privacy loss of the staircase exceeds the stated "
                        "epsilon"
                    )
    rows, k = bundle.staircase_table.neighbors.shape
    levels = ", ".join(format_epsilon(float(level.epsilon)) for level in bundle.staircase_levels)
    its_levels = format_count(len(bundle.staircase_levels), "level")
    return (
        f"staircase: {rows:,} words, each with at most {format_count(k, 'neighbor')}; privacy loss per word at most "
        f"{levels} at the {its_levels}, in both modes"
    )


def _draw_below(limit: int, count: int) -> NDArray[np.intp]:
    # The modulo causes a bias of limit / 2**64, which does not matter for the choice of pairs to check.
    return (entropy.random_uint64(count) % np.uint64(limit)).astype(np.intp)
