"""Descriptions of bundles, words and releases for the command line, as text or JSON."""

import json
from dataclasses import asdict
from typing import Any

from textveil.bundle import TextBundle
from textveil.bundle.layout import TABLE_MECHANISMS
from textveil.release import round_up
from textveil.text import LevelSummary, Options, Sanitizer, epsilon_text, summaries

from textveil_cli.show.names import names_facts, names_lines
from textveil_cli.show.staircase import staircase_facts, staircase_lines

_BAR_CELLS = 24
_COLUMNS = (
    "kept: probability that a word comes out as itself: the 5 % quantile of words, the median, the 95 % quantile, and",
    "the most of any word. entropy: min-entropy in nats of what a word may become, median. 1 release, 10 releases: how",
    "often a sensitive word is guessed from so many independent releases, by someone who knows this bundle and how",
    "common words are. A reader of the context guesses more. Of santext+, all this is about sensitive words: no level",
    "moves the coin that keeps common words, and what it keeps reveals itself.",
)


def information(bundle: TextBundle, *, as_json: bool = False) -> str:
    """Describe a text bundle: its properties, guarantees and their limits."""
    manifest = bundle.manifest
    found = {mechanism: summaries(bundle, mechanism) for mechanism in TABLE_MECHANISMS}
    levels = [
        {
            "default": level.name == bundle.default_level,
            **{mechanism: _mechanism(of[number]) for mechanism, of in found.items()},
        }
        for number, level in enumerate(bundle.levels)
    ]
    facts: dict[str, Any] = {
        "name": manifest.get("name"),
        "identity": bundle.identity,
        "licence": manifest.get("licence"),
        "attribution": manifest.get("attribution"),
        "tokens": bundle.tokens,
        "symbols": bundle.symbols,
        "default_mechanism": bundle.default_mechanism or None,
        "staircase": None if bundle.staircase is None else staircase_facts(bundle),
        "names": None if bundle.names is None else names_facts(bundle),
        "neighbours": bundle.table.neighbors.shape[1] if bundle.levels else None,
        "default_table_mechanism": bundle.default_table_mechanism,
        "replacement_probability": bundle.default_replacement_probability,
        "levels": levels,
    }
    if as_json:
        return json.dumps(facts, ensure_ascii=False)
    tables = f"{facts['symbols']:,} {facts['tokens']}s; {', '.join(bundle.mechanisms)}"
    lines = [
        f"{facts['name']}: {tables if bundle.mechanisms else 'lists of the rung names'}",
        f"identity   {facts['identity']}",
        f"license    {facts['licence']}. {facts['attribution']}",
    ]
    if bundle.mechanisms:
        lines += ["", levels_table(bundle)]
    if bundle.names is not None:
        lines += ["", *names_lines(bundle)]
    if not bundle.levels:
        return "\n".join(lines)
    probability = float(bundle.default_replacement_probability)
    lines += [
        "",
        "SanText: two sensitive words at distance d make any output likelier by a factor of at most exp(epsilon d),",
        "and, whatever their distance, exp(pure LDP). Distance 1 is the median of two words. With santext+ a common",
        f"word is kept with probability {1 - probability:g} and then reveals itself: no bound. Against a common one",
        f"the factor is {round_up(1 / probability, 2):g} times larger.",
        "Not protected: number and order of words, punctuation, case patterns. Names of the vocabulary are drawn like",
        "other words. Each further release of a word gives more away, within a text too. There is no protection of the",
        "text as a whole.",
    ]
    return "\n".join(lines)


def levels_table(bundle: TextBundle, *, as_json: bool = False) -> str:
    """Return all epsilons for each mechanism, the default first: guarantees and effects."""
    mechanisms = sorted(TABLE_MECHANISMS, key=lambda mechanism: mechanism != bundle.default_table_mechanism)
    if not bundle.levels:
        bundle.require("staircase")
        return json.dumps(staircase_facts(bundle)) if as_json else "\n".join(staircase_lines(bundle))
    tables = [summaries(bundle, mechanism) for mechanism in mechanisms]
    if as_json:
        return json.dumps([asdict(level) for levels in tables for level in levels], ensure_ascii=False)
    lines: list[str] = [] if bundle.staircase is None else [*staircase_lines(bundle), ""]
    for levels in tables:
        does = levels[0].measures
        alone = "" if does is None else f"; guessed without any release: {does.recovery_without_release:.1%}"
        marked = " (the default)" if levels[0].mechanism == bundle.default_mechanism else ""
        lines += [
            f"{levels[0].mechanism}{marked}{alone}",
            f"{'epsilon':<9}{'kind':<9}{'textbook':>9}{'pure LDP':>9}{'kept 5 %':>10}{'median':>8}"
            f"{'95 %':>7}{'most':>7}{'entropy':>9}{'1 release':>11}{'10 releases':>12}",
            *map(_level_line, levels),
            "",
        ]
    if bundle.statistics is None:
        lines += ["This bundle carries no statistics: textveil-export statistics adds them."]
        return "\n".join(lines)
    return "\n".join([*lines, *_COLUMNS])


def inspection(sanitizer: Sanitizer, word: str, options: Options, count: int, *, as_json: bool = False) -> str:
    """List the likeliest replacements of a word, with exact probabilities and distances."""
    found = sanitizer.distribution(word, **options)
    terms = sanitizer.terms(**options)
    rows = [
        {
            "word": output,
            "probability": share,
            "distance": _distance(sanitizer, found.symbol, output),
        }
        for output, share in found.likeliest(count)
    ]
    rest = max(0.0, 1 - sum(row["probability"] for row in rows))
    of_a_kind = terms.protect is not None and found.symbol != "<unk>" and found.symbol not in sanitizer.bundle.ids
    promised = terms.statement(0 if of_a_kind else 1)  # a surrogate of an entity type is not a randomized word
    others = len(found.words) - len(rows)
    if as_json:
        return json.dumps(
            {
                "symbol": found.symbol,
                "statement": promised.to_dict(),
                "replacements": rows,
                "others": {"count": others, "probability": rest},
            },
            ensure_ascii=False,
        )
    header = found.symbol
    if header == "<unk>":
        header += " (this word is not in the vocabulary)"
    elif of_a_kind:
        header += " (drawn from the public list of this kind, whatever the word is)"
    width = max(len(row["word"]) for row in rows)
    lines = [header, promised.line(), "", f"{'becomes':<{width}}  probability  distance"]
    for row in rows:
        distance = "" if row["distance"] is None else f"{row['distance']:8.2f}"
        bar = "█" * round(row["probability"] * _BAR_CELLS)
        lines.append(f"{row['word']:<{width}}  {row['probability']:>11.4%}  {distance}  {bar}".rstrip())
    if others:
        lines.append(f"and {others:,} other words with {rest:.2%} in all")
    return "\n".join(lines)


def _distance(sanitizer: Sanitizer, symbol: str, output: str) -> float | None:
    """Return the distance of two symbols, or ``None`` if it is undefined.

    It is undefined without SanText, and for unknown words and entity types.
    """
    known = sanitizer.bundle.ids
    if not sanitizer.bundle.levels or symbol not in known or output not in known:
        return None
    return sanitizer.distance(symbol, output)


def bound(value: float | None) -> str:
    """Format a bound with two decimals, rounded up."""
    return "-" if value is None else f"{round_up(value, 2):.2f}"


def share(value: float) -> str:
    """Format a rate to a tenth of a percent, with ``>99.9%`` instead of 100 %.

    No guess of a word is ever certain.
    """
    text = f"{value:.1%}"
    return ">99.9%" if text == "100.0%" else text


def _mechanism(found: LevelSummary) -> dict[str, Any]:
    return {
        "epsilon": found.epsilon,
        "epsilon_kind": found.epsilon_kind,
        "epsilon_textbook": found.epsilon_textbook,
        "epsilon_pure_ldp": found.epsilon_pure_ldp,
        "unchanged_median": None if found.measures is None else found.measures.unchanged,
    }


def _level_line(level: LevelSummary) -> str:
    line = (
        f"{epsilon_text(level.epsilon):<9}{level.epsilon_kind.split()[0]:<9}"
        f"{level.epsilon_textbook:>9.4g}{bound(level.epsilon_pure_ldp):>9}"
    )
    does = level.measures
    if does is None:
        line += f"{'-':>10}{'-':>8}{'-':>7}{'-':>7}{'-':>9}{'-':>11}{'-':>12}"
    else:
        line += (
            f"{does.unchanged_low:>10.1%}{does.unchanged:>8.1%}{does.unchanged_high:>7.1%}{does.unchanged_most:>7.1%}"
            f"{does.min_entropy:>9.2f}{share(does.recovery[1].rate):>11}{share(does.recovery[10].rate):>12}"
        )
    return line + ("  default" if level.default else "")
