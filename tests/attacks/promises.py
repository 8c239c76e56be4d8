"""What a bundle that opens must keep: it is described, draws, and states no less than what it loaded may lose."""

import warnings
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal, localcontext
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from textveil import Encoder, Sanitizer, TextLabelEncoder
from textveil.bundle import LabelBundle, TextBundle, VectorBundle, open_bundle
from textveil.mechanisms.staircase.staircase import Staircase
from textveil_cli.aggregation import LabelServer
from textveil_cli.reports import encoder as show_encoder
from textveil_cli.reports import label as show_label
from textveil_cli.reports import text as show_text

#: Rows of a large channel that are compared; all of them up to this number.
_ROWS = 40
_TEXT = "The doctor said that Mary, 42, was not in Boston on Monday; mail her: m@example.org."


def use(folder: Path) -> None:
    """Open a bundle, describe it, sample from it, and compare its promises with the loaded integers."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        match open_bundle(folder):
            case TextBundle() as bundle:
                _use_text(bundle)
            case LabelBundle() as bundle:
                _use_index(bundle)
            case VectorBundle() as bundle:
                _use_vectors(bundle)


def _use_text(bundle: TextBundle) -> None:
    sanitizer = Sanitizer(bundle)
    check_printable(show_text.describe_text_bundle(bundle))
    for mechanism in bundle.mechanisms:
        check_printable(sanitizer.sanitize(_TEXT, mechanism=mechanism).statement.summary())
    if bundle.staircase_table is not None:
        terms = sanitizer.terms(mechanism="staircase")
        level = next(level for level in bundle.staircase_levels if level.epsilon == terms.epsilon)
        check_staircase(
            Staircase.from_table(bundle.staircase_table, level, bundle.staircase_table.base > 0), Decimal(terms.epsilon)
        )


def _use_index(bundle: LabelBundle) -> None:
    check_printable(show_label.describe_label_bundle(bundle))
    LabelServer(bundle)
    check_printable(TextLabelEncoder(replace(bundle, is_expected=True)).encode(_TEXT).line)
    for levels in bundle.randomizers.values():
        for staircase in levels:
            check_staircase(staircase, staircase.level.epsilon)


def _use_vectors(bundle: VectorBundle) -> None:
    check_printable(show_encoder.describe_encoder_bundle(bundle))
    Encoder(replace(bundle, is_expected=True)).encode(_TEXT)  # as if its user had named this very bundle


def check_staircase(staircase: Any, promised: Decimal) -> None:
    """Compare the largest ratio of two probabilities, in exact rationals, with ``exp`` of the promised epsilon."""
    symbols = len(staircase.base)
    inputs = range(symbols) if symbols <= _ROWS else [*range(0, symbols, symbols // _ROWS), symbols - 1]
    rows = [staircase.compute_exact_row(row) for row in inputs]
    totals = [sum(row) for row in rows]
    worst = Fraction(0)
    for column in zip(*rows, strict=True) if symbols <= _ROWS else _some(rows):
        shares = [Fraction(weight, total) for weight, total in zip(column, totals, strict=True)]
        if max(shares):
            if not min(shares):
                raise AssertionError("an output is possible for one input alone")
            worst = max(worst, max(shares) / min(shares))
    with localcontext(prec=60):
        if Decimal(worst.numerator) > promised.exp() * (1 + Decimal(10) ** -50) * worst.denominator:
            raise AssertionError("loses more than is promised")


def _some(rows: list[list[int]]) -> Iterator[tuple[int, ...]]:
    """Columns in which some row is much larger than another one: those of its likeliest outputs."""
    array = np.array([np.array(row, dtype=object) / sum(row) for row in rows], dtype=np.float64)
    for column in np.argsort(array.max(axis=0) / np.maximum(array.min(axis=0), 1e-300))[-20:]:
        yield tuple(row[int(column)] for row in rows)


def check_printable(text: str) -> None:
    """Refuses control characters, which a terminal would take as commands."""
    if any((ord(mark) < 32 and mark != "\n" and mark != "\t") or 127 <= ord(mark) < 160 for mark in text):
        raise AssertionError("control characters would reach a terminal")
