"""Descriptions of the staircase mechanism of a bundle, for the command line."""

import textwrap
from dataclasses import asdict
from typing import Any

from textveil.bundle import TextBundle
from textveil.text import NOTION, format_epsilon

from textveil_cli.reports.staircase_levels import StaircaseSummary, summarize_staircase

_COLUMN_EXPLANATION = (
    "nats: per drawn word. odds: no output is more than so many times as likely for one word as for another, even for "
    "someone who knows all other words. guess: the most by which the chance of a right guess of one word grows on "
    "average (C). near: how often a word is drawn from its neighborhood. kept: how often a word comes out as itself: "
    "the 5 % quantile of words, the median, the 95 % quantile, and the most of any word. Where words in lower case and "
    "with a capital differ, the larger figure is given."
)


def describe_staircase(bundle: TextBundle) -> dict[str, Any]:
    """Return the JSON description of the staircase mechanism."""
    assert bundle.template is not None
    return {
        "notion": NOTION,
        "default_protect": bundle.default_mode,
        "kinds": [kind.name for kind in bundle.template.entity_types],
        "levels": [asdict(level) for level in summarize_staircase(bundle)],
    }


def format_staircase_table(bundle: TextBundle) -> list[str]:
    """Return the epsilons of the staircase mechanism as a table, with its columns explained."""
    assert bundle.template is not None
    entity_types = ", ".join(kind.name for kind in bundle.template.entity_types)
    default = " (the default)" if bundle.default_mechanism == "staircase" else ""
    return [
        f"staircase{default}; protect: {bundle.default_mode}",
        f"{'nats':<5}{'odds':>9}{'guess':>9}{'near':>6}{'kept 5 %':>9}{'median':>7}{'95 %':>6}{'most':>6}",
        *map(_format_level, summarize_staircase(bundle)),
        "",
        *_wrap_text(_COLUMN_EXPLANATION),
        *_wrap_text(f"Of names and numbers only the kind is told, one of these: {entity_types}."),
        *_wrap_text(f"{NOTION[0].upper()}{NOTION[1:]}. No protection of the text as a whole."),
    ]


def _wrap_text(sentence: str) -> list[str]:
    return textwrap.wrap(sentence, 78, break_long_words=False, break_on_hyphens=False)


def _format_level(summary: StaircaseSummary) -> str:
    return (
        f"{format_epsilon(summary.epsilon):<5}{summary.largest_odds:>9,}{summary.guess_gain:>9,.1f}"
        f"{summary.near:>6.2f}{summary.kept_low:>9.1%}{summary.kept_median:>7.1%}{summary.kept_high:>6.1%}"
        f"{summary.kept_most:>6.1%}{'  default' if summary.default else ''}"
    )
