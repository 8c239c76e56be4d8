"""Describe the staircase mechanism (which randomizes words) of a bundle, as text or JSON."""

import textwrap
from dataclasses import asdict
from typing import Any

from textveil.bundle import TextBundle
from textveil.text import NOTION, format_epsilon

from textveil_cli.reports.staircase_levels import StaircaseSummary, summarize_staircase

_COLUMN_EXPLANATION = (
    "epsilon: per randomized word. odds: maximum ratio of the probabilities of an output for two words, even against a "
    "reader who knows all other words. guess: maximum factor by which the probability of guessing one word grows on "
    "average (C). near: probability that a word is sampled from its neighborhood. same: probability that a word is "
    "replaced by itself: 5 % quantile over words, median, 95 % quantile, maximum. Where lower-case and capitalized "
    "positions differ, the larger figure is given."
)


def describe_staircase(bundle: TextBundle) -> dict[str, Any]:
    """Return the properties of a bundle's staircase mechanism as a dictionary for JSON.

    The keys are ``guarantee``, ``default_mode``, ``entity_types`` (their names) and ``epsilons``, a list with the
    fields of ``StaircaseSummary`` for each epsilon.
    """
    assert bundle.template is not None
    return {
        "guarantee": NOTION,
        "default_mode": bundle.default_mode,
        "entity_types": [kind.name for kind in bundle.template.entity_types],
        "epsilons": [asdict(level) for level in summarize_staircase(bundle)],
    }


def format_staircase_table(bundle: TextBundle) -> list[str]:
    """Return the lines of a table with one row per epsilon of the staircase mechanism, and an explanation below it."""
    assert bundle.template is not None
    entity_types = ", ".join(kind.name for kind in bundle.template.entity_types)
    default = " (the default)" if bundle.default_mechanism == "staircase" else ""
    return [
        f"staircase{default}, for the modes words and all",
        f"{'epsilon':<8}{'odds':>9}{'guess':>9}{'near':>6}{'same 5 %':>9}{'median':>7}{'95 %':>6}{'max':>6}",
        *map(_format_level, summarize_staircase(bundle)),
        "",
        *_wrap_text(_COLUMN_EXPLANATION),
        *_wrap_text(f"Names and numbers reveal only their type, one of: {entity_types}."),
        *_wrap_text(f"{NOTION[0].upper()}{NOTION[1:]}. The text as a whole is not protected."),
    ]


def _wrap_text(sentence: str) -> list[str]:
    return textwrap.wrap(sentence, 78, break_long_words=False, break_on_hyphens=False)


def _format_level(summary: StaircaseSummary) -> str:
    return (
        f"{format_epsilon(summary.epsilon):<8}{summary.largest_odds:>9,}{summary.guess_gain:>9,.1f}"
        f"{summary.near:>6.2f}{summary.unchanged_low:>9.1%}{summary.unchanged_median:>7.1%}{summary.unchanged_high:>6.1%}"
        f"{summary.unchanged_most:>6.1%}{'  default' if summary.default else ''}"
    )
