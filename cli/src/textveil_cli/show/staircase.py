"""Descriptions of the staircase mechanism of a bundle, for the command line."""

import textwrap
from dataclasses import asdict
from typing import Any

from textveil.bundle import TextBundle
from textveil.text import NOTION, epsilon_text

from textveil_cli.show.staircase_levels import StaircaseSummary, staircase_summaries

_EXPLAINED = (
    "nats: per drawn word. odds: no output is more than so many times as likely for one word as for another, even for "
    "someone who knows all other words. guess: the most by which the chance of a right guess of one word grows on "
    "average (C). near: how often a word is drawn from its neighborhood. kept: how often a word comes out as itself: "
    "the 5 % quantile of words, the median, the 95 % quantile, and the most of any word. Where words in lower case and "
    "with a capital differ, the larger figure is given."
)


def staircase_facts(bundle: TextBundle) -> dict[str, Any]:
    """Return the JSON description of the staircase mechanism."""
    assert bundle.skeleton is not None
    return {
        "notion": NOTION,
        "default_protect": bundle.default_protect,
        "kinds": [kind.name for kind in bundle.skeleton.kinds],
        "levels": [asdict(level) for level in staircase_summaries(bundle)],
    }


def staircase_lines(bundle: TextBundle) -> list[str]:
    """Return the epsilons of the staircase mechanism as a table, with its columns explained."""
    assert bundle.skeleton is not None
    kinds = ", ".join(kind.name for kind in bundle.skeleton.kinds)
    default = " (the default)" if bundle.default_mechanism == "staircase" else ""
    return [
        f"staircase{default}; protect: {bundle.default_protect}",
        f"{'nats':<5}{'odds':>9}{'guess':>9}{'near':>6}{'kept 5 %':>9}{'median':>7}{'95 %':>6}{'most':>6}",
        *map(_line, staircase_summaries(bundle)),
        "",
        *_lines(_EXPLAINED),
        *_lines(f"Of names and numbers only the kind is told, one of these: {kinds}."),
        *_lines(f"{NOTION[0].upper()}{NOTION[1:]}. No protection of the text as a whole."),
    ]


def _lines(sentence: str) -> list[str]:
    return textwrap.wrap(sentence, 78, break_long_words=False, break_on_hyphens=False)


def _line(level: StaircaseSummary) -> str:
    return (
        f"{epsilon_text(level.epsilon):<5}{level.largest_odds:>9,}{level.guess_gain:>9,.1f}"
        f"{level.near:>6.2f}{level.kept_low:>9.1%}{level.kept_median:>7.1%}{level.kept_high:>6.1%}"
        f"{level.kept_most:>6.1%}{'  default' if level.default else ''}"
    )
